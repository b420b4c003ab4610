// A tooltip for the pages in a drawing, on hover and on keyboard focus.
export function addCards() {
  const card = document.createElement("div");
  card.className = "card";
  card.role = "tooltip";
  card.id = "card";
  card.hidden = true;
  document.body.append(card);

  let current = null;

  const position = () => {
    const at = current.getBoundingClientRect(), own = card.getBoundingClientRect();
    const below = at.bottom + own.height + 12 < innerHeight;
    card.style.left = `${Math.max(8, Math.min(at.left, innerWidth - own.width - 8))}px`;
    card.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - own.height - 6)}px`;
  };

  const show = (target) => {
    const { title, place, terms } = target.dataset;
    card.replaceChildren(...[["b", title], ["span", place], ["span", terms]].filter(([, text]) => text).map(([tag, text], k) => {
      const line = document.createElement(tag);
      const inner = document.createElement("bdi");
      if (k) line.className = "where";
      inner.textContent = text;
      line.append(inner);
      return line;
    }));
    card.hidden = false;
    current = target;
    position();
  };
  const hide = () => { card.hidden = true; current = null; };

  const over = (event) => {
    const target = event.target.closest?.("[data-card]");
    if (target) show(target);
    else if (current !== document.activeElement) hide(); // keyboard focus wins over the pointer
  };
  document.addEventListener("pointerover", over);
  document.addEventListener("focusin", (event) => { if (event.target.matches?.("[data-card]:focus-visible")) show(event.target); else hide(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", () => { if (current) position(); }, { passive: true, capture: true });
  document.addEventListener("shown", hide);
}
