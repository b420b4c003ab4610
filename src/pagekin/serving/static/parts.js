// Fetch a part of a page from the server. A newer request cancels an older one for the same element.
const requests = new WeakMap();
const COMPUTING = 202, BUSY = [429, 503], TRIES = 40, PAUSE = 700;
const NO_ANSWER = `<p class="none" role="alert">The server does not answer. Is it still running?</p>`;

const pause = (signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, PAUSE);
  signal.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
});

/** Fetch until the server has an answer; `progress` gets the HTML that it sends meanwhile. */
export async function fetchReady(url, signal, progress = () => {}) {
  for (let tries = 0; ; ) {
    const response = await fetch(url, { signal });
    if (response.status === COMPUTING) progress(await response.text());
    else if (!BUSY.includes(response.status) || ++tries > TRIES) return response;
    await pause(signal);
  }
}

/** Return the HTML of a part, or null if a newer request has cancelled this one. */
export async function fetchPart(element, address, progress) {
  requests.get(element)?.abort();
  const control = new AbortController();
  requests.set(element, control);
  const url = new URL(address, location.href);
  url.searchParams.set("part", "1");
  try {
    const response = await fetchReady(url, control.signal, progress);
    const html = await response.text();
    if (!response.headers.get("content-type")?.startsWith("text/html")) throw new Error(`${response.status}`);
    return requests.get(element) === control ? html : null;
  } catch (error) {
    if (control.signal.aborted) return null;
    return NO_ANSWER;
  }
}

/** On a page that is still being computed: show its progress, and load it when it is ready. */
export async function waitForPage() {
  const place = document.querySelector("[data-wait]");
  if (!place) return;
  const url = new URL(location.href);
  url.searchParams.set("wait", "1");
  try {
    await fetchReady(url, new AbortController().signal, (html) => { place.innerHTML = html; });
    location.reload();
  } catch { place.innerHTML = NO_ANSWER; }
}
