// A neighbourhood that is walked: a click on a page makes it the middle, and the way back stays open.
import { show } from "./live.js";

export function walks() {
  let way = []; // {id, title, step} of the pages before this one
  let here = null;

  const go = (place, step) => {
    const by = document.querySelector("form[data-live=graph] [name=by]:checked")?.value ?? "words";
    return show(place, `${step}?by=${by}`);
  };

  document.addEventListener("shown", (event) => {
    const figure = event.target.querySelector("[data-walk]");
    if (!figure) return;
    const { walk: id, walkTitle: title } = figure.dataset;
    const form = document.querySelector("form[data-live=graph]");
    const step = form.getAttribute("action").replace(/[0-9a-f]{16}/, id);
    form.setAttribute("action", step); // another choice of words or links stays here
    if (here && here.id !== id) {
      const back = way.findIndex((each) => each.id === id);
      way = back >= 0 ? way.slice(0, back) : [...way, here];
    }
    here = { id, title, step };
    const trail = figure.querySelector(".trail");
    trail.hidden = way.length === 0;
    trail.replaceChildren(...[...way, here].map((each) => {
      const item = document.createElement("li");
      const text = document.createElement("bdi");
      text.textContent = each.title.length > 40 ? each.title.slice(0, 39) + "…" : each.title;
      if (each === here) { item.append(text); item.setAttribute("aria-current", "step"); return item; }
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.step = each.step;
      button.append(text);
      item.append(button);
      return item;
    }));
  });

  document.addEventListener("click", (event) => {
    const target = event.target.closest?.("[data-step]");
    if (!target || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    const place = target.closest("[data-result]");
    go(place, target.dataset.step).then(() => place.querySelector(".spot.own, .trail button")?.focus({ preventScroll: true }));
  });
}
