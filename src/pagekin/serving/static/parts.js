// Fetch a part of a page from the server. A newer request cancels an older one for the same element.
const requests = new WeakMap();
const BUSY = 503, TRIES = 40, PAUSE = 1500;

const pause = (signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, PAUSE);
  signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
});

/** Return the HTML of a part, or null if a newer request has cancelled this one. */
export async function fetchPart(element, address) {
  requests.get(element)?.abort();
  const control = new AbortController();
  requests.set(element, control);
  const url = new URL(address, location.href);
  url.searchParams.set("part", "1");
  try {
    let response = await fetch(url, { signal: control.signal });
    for (let k = 0; response.status === BUSY && k < TRIES; k++) { // the server is still computing it, and will cache it
      await pause(control.signal);
      response = await fetch(url, { signal: control.signal });
    }
    const html = await response.text();
    if (!response.headers.get("content-type")?.startsWith("text/html")) throw new Error(`${response.status}`);
    return requests.get(element) === control ? html : null;
  } catch (error) {
    if (control.signal.aborted) return null;
    return `<p class="none" role="alert">The server does not answer. Is it still running?</p>`;
  }
}
