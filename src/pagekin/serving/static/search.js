// Suggest pages while the user types. `go` opens the chosen page, `fill` writes its URL into the field.
import { fetchPart } from "./parts.js";

const PAUSE = 70;
let fields = 0;

export function suggest(field) {
  const input = field.querySelector("input");
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.id = `suggestions-${++fields}`;
  list.role = "listbox";
  list.ariaLabel = "Pages";
  list.hidden = true;
  field.append(list);
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": list.id, "aria-expanded": "false" })) {
    input.setAttribute(name, value);
  }
  let timer, chosen = -1;

  const show = (open) => {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    if (!open) { chosen = -1; input.removeAttribute("aria-activedescendant"); }
  };

  const choose = (next) => {
    const options = [...list.children];
    if (!options.length) return;
    chosen = (next + options.length) % options.length;
    options.forEach((each, k) => each.setAttribute("aria-selected", String(k === chosen)));
    input.setAttribute("aria-activedescendant", options[chosen].id);
    options[chosen].scrollIntoView({ block: "nearest" });
  };

  const take = (option) => {
    show(false);
    if (field.dataset.suggest === "go") location.href = option.dataset.href;
    else input.value = option.dataset.url;
  };

  const update = async () => {
    if (!input.value.trim()) return show(false);
    const html = await fetchPart(field, `${field.dataset.from}?q=${encodeURIComponent(input.value)}`);
    if (html === null || document.activeElement !== input) return;
    list.innerHTML = html;
    [...list.children].forEach((each, k) => { each.id = `${list.id}-${k}`; });
    chosen = -1;
    input.removeAttribute("aria-activedescendant");
    show(list.querySelector("[role=option]") !== null);
  };

  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, PAUSE); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) return;
      event.preventDefault();
      choose(event.key === "ArrowDown" ? chosen + 1 : chosen < 0 ? -1 : chosen - 1);
    } else if (event.key === "Enter" && !list.hidden && chosen >= 0) {
      event.preventDefault();
      take(list.children[chosen]);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      show(false);
    }
  });
  input.addEventListener("blur", () => setTimeout(() => show(false), 150));
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // keep the focus in the field
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) take(option);
  });
}
