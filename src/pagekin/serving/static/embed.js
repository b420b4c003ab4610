// Related links for any page:  <div data-pagekin-url="https://example.org/page.html"></div>
//                              <script src="https://SERVER/embed.js" async></script>
// An empty data-pagekin-url means the current page; data-pagekin-limit is the number of links. Titles are inserted as
// text, never as HTML. With data-static, the script takes the JSON files that `pagekin site` has written beside it:
//                              <script src="/pagekin/embed.js" data-static async></script>
(() => {
  "use strict";
  const TITLE_LENGTH = 140;
  const server = new URL(".", document.currentScript.src);
  const isStatic = "static" in document.currentScript.dataset;

  // One line, without control characters and characters that change the direction of the text around it.
  const cleanLine = (text) => {
    const line = text.slice(0, 1000).replace(/[\p{Cc}\p{Cn}\p{Co}\p{Cs}\u202a-\u202e\u2066-\u2069\s]+/gu, " ").trim();
    const letters = [...line];
    return letters.length <= TITLE_LENGTH ? line : `${letters.slice(0, TITLE_LENGTH - 1).join("")}…`;
  };

  const link = (page) => {
    const item = document.createElement("li");
    const isLink = /^https?:\/\//i.test(page.url);
    const name = document.createElement(isLink ? "a" : "span");
    if (isLink) name.href = page.url;
    name.dir = "auto";
    name.textContent = cleanLine(page.title || page.url || "");
    item.append(name);
    return item;
  };

  // The related pages of a page by a server; none if it does not know the page.
  const ask = async (url, limit) => {
    const address = new URL("api/related", server);
    address.searchParams.set("url", url);
    address.searchParams.set("limit", limit);
    const response = await fetch(address, { credentials: "omit" });
    return response.ok ? (await response.json()).related : [];
  };

  // The related pages of a page of the site in whose folder `pagekin` this script is. Paths in the files begin at the
  // root of the site, which may be a folder of its host.
  const read = async (url, limit) => {
    const root = new URL("..", server);
    const page = new URL(url, location.href);
    if (!page.href.startsWith(root.href)) return [];
    const path = page.pathname.slice(root.pathname.length);
    const names = path === "" || path.endsWith("/") ? [`${path}index.html`] : [path];
    if (!/\.[^/]+$/.test(names[0])) names.splice(0, 1, `${path}.html`, `${path}/index.html`);
    for (const name of names) {
      const response = await fetch(new URL(`pages/${name}.json`, server), { credentials: "omit" });
      if (!response.ok) continue;
      const { related } = await response.json();
      return related.slice(0, limit).map((each) => ({ ...each, url: new URL(`.${each.url}`, root).href }));
    }
    return [];
  };

  const fill = async (place) => {
    const url = place.dataset.pagekinUrl || location.href.split("#")[0];
    const related = await (isStatic ? read : ask)(url, place.dataset.pagekinLimit || "5");
    if (!related.length) return;
    const list = document.createElement("ul");
    list.className = "pagekin";
    list.append(...related.map(link));
    place.replaceChildren(list);
  };

  const fillAll = () => {
    for (const place of document.querySelectorAll("[data-pagekin-url]")) {
      fill(place).catch((error) => console.warn("pagekin:", error));
    }
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", fillAll);
  else fillAll();
})();
