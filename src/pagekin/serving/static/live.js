// Forms that update their results on every change, and parts of a page that load when they scroll into view.
import { fetchPart } from "./parts.js";
import { addZoom } from "./zoom.js";

const PAUSE = { range: 40, text: 250, number: 250 };

const query = (form) => new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));

export async function show(place, address) {
  place.setAttribute("aria-busy", "true");
  place.classList.add("busy");
  const html = await fetchPart(place, address, (waiting) => { place.innerHTML = waiting; });
  if (html === null) return;
  animateMoves(place, () => { place.innerHTML = html; });
  place.removeAttribute("aria-busy");
  place.classList.remove("busy");
  enhance(place);
}

/** Add behaviour to HTML that was just inserted. */
function enhance(place) {
  for (const figure of place.querySelectorAll("[data-zoom]")) addZoom(figure);
  for (const middle of place.querySelectorAll(".scroll.middle")) middle.scrollLeft = (middle.scrollWidth - middle.clientWidth) / 2;
  place.dispatchEvent(new CustomEvent("shown", { bubbles: true }));
}

/** Animate list items from their old position to the new one. */
function animateMoves(place, change) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const tops = new Map([...place.querySelectorAll("[data-key]")].map((each) => [each.dataset.key, each.getBoundingClientRect().top]));
  change();
  if (still) return;
  for (const each of place.querySelectorAll("[data-key]")) {
    const from = tops.get(each.dataset.key);
    if (from === undefined) {
      if (tops.size) each.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 220 });
    } else {
      const by = from - each.getBoundingClientRect().top;
      if (Math.abs(by) > 1) each.animate([{ transform: `translateY(${by}px)` }, { transform: "none" }], { duration: 220, easing: "ease-out" });
    }
  }
}

function updateLive(form) {
  const place = document.getElementById(form.dataset.live);
  let timer;
  const update = () => {
    const address = `${form.getAttribute("action")}?${query(form)}`;
    if ("address" in form.dataset) history.replaceState(null, "", address);
    place.removeAttribute("data-lazy");
    show(place, address);
  };
  form.addEventListener("input", (event) => {
    const output = form.querySelector(`output[data-of="${CSS.escape(event.target.name)}"]`);
    if (output) output.textContent = Number(event.target.value).toFixed(2);
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE[event.target.type] ?? 0);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); update(); });
}

function loadWhenVisible(places) {
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      if (!target.dataset.lazy) continue;
      const waiting = document.createElement("p");
      waiting.className = "none waiting";
      waiting.textContent = "Loading …";
      target.replaceChildren(waiting);
      show(target, target.dataset.lazy);
    }
  }, { rootMargin: "400px" });
  for (const place of places) seen.observe(place);
}

export function addLiveParts() {
  for (const form of document.querySelectorAll("form[data-live]")) updateLive(form);
  loadWhenVisible(document.querySelectorAll("[data-lazy]"));
  enhance(document.body);
}
