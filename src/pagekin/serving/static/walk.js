// Move through neighbourhoods: a click on a page draws its neighbourhood, and a trail leads back.
import { show } from "./live.js";

export function addWalks() {
  let visited = []; // {id, title, step} of earlier pages
  let current = null;

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
    form.setAttribute("action", step); // choosing words or links stays at this page
    if (current && current.id !== id) {
      const back = visited.findIndex((each) => each.id === id);
      visited = back >= 0 ? visited.slice(0, back) : [...visited, current];
    }
    current = { id, title, step };
    const trail = figure.querySelector(".trail");
    trail.hidden = visited.length === 0;
    trail.replaceChildren(...[...visited, current].map((each) => {
      const item = document.createElement("li");
      const text = document.createElement("bdi");
      text.textContent = each.title.length > 40 ? each.title.slice(0, 39) + "…" : each.title;
      if (each === current) { item.append(text); item.setAttribute("aria-current", "step"); return item; }
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
    go(place, target.dataset.step).then(() => {
      const visible = [...place.querySelectorAll(".node.own, .trail button")].find((each) => each.getClientRects().length);
      visible?.focus({ preventScroll: true });
    });
  });
}
