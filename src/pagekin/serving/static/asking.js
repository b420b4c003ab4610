// Ask the server for a part of a page. A newer question takes the place of an older one.
const asked = new WeakMap();
const BUSY = 503, TRIES = 40, PAUSE = 1500;

const pause = (signal) => new Promise((go, stop) => {
  const timer = setTimeout(go, PAUSE);
  signal.addEventListener("abort", () => { clearTimeout(timer); stop(signal.reason); }, { once: true });
});

/** The HTML of a part, or null if somebody has asked for something newer meanwhile. */
export async function part(place, address) {
  asked.get(place)?.abort();
  const control = new AbortController();
  asked.set(place, control);
  const url = new URL(address, location.href);
  url.searchParams.set("part", "1");
  try {
    let answer = await fetch(url, { signal: control.signal });
    for (let k = 0; answer.status === BUSY && k < TRIES; k++) { // it is being made, and will be kept
      await pause(control.signal);
      answer = await fetch(url, { signal: control.signal });
    }
    const html = await answer.text();
    if (!answer.headers.get("content-type")?.startsWith("text/html")) throw new Error(`${answer.status}`);
    return asked.get(place) === control ? html : null;
  } catch (error) {
    if (control.signal.aborted) return null;
    return `<p class="none" role="alert">The server does not answer. Is it still running?</p>`;
  }
}
