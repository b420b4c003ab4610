// Forms that answer while they are changed, and parts of a page that are fetched when somebody comes near them.
import { part } from "./asking.js";
import { zooms } from "./zoom.js";

const PAUSE = { range: 40, text: 250, number: 250 };

const query = (form) => new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));

export async function show(place, address) {
  place.setAttribute("aria-busy", "true");
  place.classList.add("busy");
  const html = await part(place, address);
  if (html === null) return;
  moving(place, () => { place.innerHTML = html; });
  place.removeAttribute("aria-busy");
  place.classList.remove("busy");
  dress(place);
}

/** What becomes possible with what has just been shown. */
function dress(place) {
  for (const figure of place.querySelectorAll("[data-zoom]")) zooms(figure);
  for (const middle of place.querySelectorAll(".scroll.middle")) middle.scrollLeft = (middle.scrollWidth - middle.clientWidth) / 2;
  place.dispatchEvent(new CustomEvent("shown", { bubbles: true }));
}

/** Pages that change their place in a list are seen to move there. */
function moving(place, change) {
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

function follow(form) {
  const place = document.getElementById(form.dataset.live);
  let timer;
  const ask = () => {
    const address = `${form.getAttribute("action")}?${query(form)}`;
    if ("address" in form.dataset) history.replaceState(null, "", address);
    place.removeAttribute("data-lazy");
    show(place, address);
  };
  form.addEventListener("input", (event) => {
    const output = form.querySelector(`output[data-of="${CSS.escape(event.target.name)}"]`);
    if (output) output.textContent = Number(event.target.value).toFixed(2);
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE[event.target.type] ?? 0);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); ask(); });
}

function fetchWhenNear(places) {
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      if (!target.dataset.lazy) continue;
      const waiting = document.createElement("p");
      waiting.className = "none waiting";
      waiting.textContent = "One moment …";
      target.replaceChildren(waiting);
      show(target, target.dataset.lazy);
    }
  }, { rootMargin: "400px" });
  for (const place of places) seen.observe(place);
}

export function live() {
  for (const form of document.querySelectorAll("form[data-live]")) follow(form);
  fetchWhenNear(document.querySelectorAll("[data-lazy]"));
  dress(document.body);
}
