// Related links for any page:  <div data-pagekin-url="https://example.org/page.html"></div>
//                              <script src="https://SERVER/embed.js" async></script>
// An empty data-pagekin-url means the current page; data-pagekin-limit is the number of links. Titles are inserted as
// text, never as HTML.
(() => {
  "use strict";
  const TITLE_LENGTH = 140;
  const server = new URL(".", document.currentScript.src);

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

  const fill = async (place) => {
    const address = new URL("api/related", server);
    address.searchParams.set("url", place.dataset.pagekinUrl || location.href.split("#")[0]);
    address.searchParams.set("limit", place.dataset.pagekinLimit || "5");
    const response = await fetch(address, { credentials: "omit" });
    if (!response.ok) return;
    const { related } = await response.json();
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
