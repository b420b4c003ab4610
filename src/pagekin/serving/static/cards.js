// What a page in a picture is, when somebody points at it or comes to it by key.
export function cards() {
  const card = document.createElement("div");
  card.className = "card";
  card.role = "tooltip";
  card.id = "card";
  card.hidden = true;
  document.body.append(card);

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
    const at = target.getBoundingClientRect(), own = card.getBoundingClientRect();
    const below = at.bottom + own.height + 12 < innerHeight;
    card.style.left = `${Math.max(8, Math.min(at.left, innerWidth - own.width - 8))}px`;
    card.style.top = `${below ? at.bottom + 6 : Math.max(8, at.top - own.height - 6)}px`;
  };
  const hide = () => { card.hidden = true; };

  const over = (event) => {
    const target = event.target.closest?.("[data-card]");
    if (target) show(target); else hide();
  };
  document.addEventListener("pointerover", over);
  document.addEventListener("focusin", (event) => { if (event.target.matches?.("[data-card]:focus-visible")) show(event.target); else hide(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("shown", hide);
}
