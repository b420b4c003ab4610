// Recently viewed pages, stored only in this browser.
const LIMIT = 10;
const key = () => `pagekin-recent:${document.body.dataset.collection}`;

function read() {
  try {
    const stored = JSON.parse(localStorage.getItem(key()) ?? "[]");
    return Array.isArray(stored) ? stored.filter((each) => /^[0-9a-f]{16}$/.test(each?.id) && typeof each.title === "string") : [];
  } catch { return []; }
}

function write(pages) {
  try { localStorage.setItem(key(), JSON.stringify(pages.slice(0, LIMIT))); } catch { /* storage may be forbidden */ }
}

function fill(list, pages) {
  list.replaceChildren(...pages.map(({ id, title }) => {
    const link = document.createElement("a");
    const text = document.createElement("bdi");
    link.href = new URL(`page/${id}`, document.querySelector(".brand").href).href;
    text.textContent = title;
    link.append(text);
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
}

export function addRecent() {
  const before = read();
  const { seen, seenTitle } = document.body.dataset;
  if (seen) write([{ id: seen, title: seenTitle }, ...before.filter((each) => each.id !== seen)]);
  const others = before.filter((each) => each.id !== seen);
  for (const place of document.querySelectorAll("[data-recent], [data-recent-list]")) {
    fill(place.querySelector("ul"), others);
    place.hidden = others.length === 0;
  }
  const menu = document.querySelector("[data-recent]");
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) { menu.open = false; menu.querySelector("summary").focus(); }
  });
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  document.querySelector("[data-forget]")?.addEventListener("click", () => {
    write([]);
    for (const place of document.querySelectorAll("[data-recent], [data-recent-list]")) place.hidden = true;
  });
}
