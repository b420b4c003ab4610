// What a page in a picture is, when somebody points at it or comes to it by key.
export function cards() {
  const card = document.createElement("div");
  card.className = "card";
  card.role = "tooltip";
  card.id = "card";
  card.hidden = true;
  document.body.append(card);

  let current = null;

  const put = () => {
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
    put();
  };
  const hide = () => { card.hidden = true; current = null; };

  const over = (event) => {
    const target = event.target.closest?.("[data-card]");
    if (target) show(target);
    else if (current !== document.activeElement) hide(); // what a key has come to stays, wherever the pointer rests
  };
  document.addEventListener("pointerover", over);
  document.addEventListener("focusin", (event) => { if (event.target.matches?.("[data-card]:focus-visible")) show(event.target); else hide(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", () => { if (current) put(); }, { passive: true, capture: true });
  document.addEventListener("shown", hide);
}
