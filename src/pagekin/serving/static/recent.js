// Recently viewed pages and bookmarks, stored only in this browser.
const LIMITS = { recent: 10, bookmarks: 200 };
const key = (name) => `pagekin-${name}:${document.body.dataset.collection}`;

function read(name) {
  try {
    const stored = JSON.parse(localStorage.getItem(key(name)) ?? "[]");
    return Array.isArray(stored) ? stored.filter((each) => /^[0-9a-f]{16}$/.test(each?.id) && typeof each.title === "string") : [];
  } catch { return []; }
}

function write(name, pages) {
  try { localStorage.setItem(key(name), JSON.stringify(pages.slice(0, LIMITS[name]))); } catch { /* storage may be forbidden */ }
}

function show(name, pages) {
  for (const place of document.querySelectorAll(`[data-pages=${name}]`)) {
    place.hidden = pages.length === 0;
    place.querySelector("ul").replaceChildren(...pages.map(({ id, title }) => {
      const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("bdi");
      link.href = new URL(`page/${id}`, document.querySelector(".brand").href).href;
      text.textContent = title;
      link.append(text);
      item.append(link);
      return item;
    }));
  }
}

function addBookmark(page) {
  const button = document.querySelector("[data-bookmark]");
  if (!button) return;
  const marked = () => read("bookmarks").some((each) => each.id === page.id);
  const update = () => {
    button.setAttribute("aria-pressed", String(marked()));
    button.textContent = marked() ? "Bookmarked" : "Bookmark";
    show("bookmarks", read("bookmarks"));
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const others = read("bookmarks").filter((each) => each.id !== page.id);
    write("bookmarks", marked() ? others : [page, ...others]);
    update();
  });
  update();
}

function addMenu(menu) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) { menu.open = false; menu.querySelector("summary").focus(); }
  });
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
}

export function addRecent() {
  const { seen, seenTitle } = document.body.dataset;
  const others = read("recent").filter((each) => each.id !== seen);
  if (seen) write("recent", [{ id: seen, title: seenTitle }, ...others]);
  show("recent", others);
  show("bookmarks", read("bookmarks"));
  addBookmark({ id: seen, title: seenTitle });
  for (const menu of document.querySelectorAll("details[data-pages]")) addMenu(menu);
  document.querySelector("[data-forget]")?.addEventListener("click", () => { write("recent", []); show("recent", []); });
}
