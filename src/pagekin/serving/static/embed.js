// Related links for any page:  <div data-pagekin-url="https://example.org/page.html"></div>
//                              <script src="https://SERVER/embed.js" async></script>
// An empty data-pagekin-url is the page itself; data-pagekin-limit says how many. What comes from the collection is put
// in as text, never as HTML.
(() => {
  "use strict";
  const LONGEST = 140; // letters of a title
  const server = new URL(".", document.currentScript.src);

  // One line, without control characters and those that would turn the direction of the text around it.
  const shown = (text) => {
    const line = text.slice(0, 1000).replace(/[\p{Cc}\p{Cn}\p{Co}\p{Cs}\u202a-\u202e\u2066-\u2069\s]+/gu, " ").trim();
    const letters = [...line];
    return letters.length <= LONGEST ? line : `${letters.slice(0, LONGEST - 1).join("")}…`;
  };

  const link = (page) => {
    const item = document.createElement("li");
    const isLink = /^https?:\/\//i.test(page.url);
    const name = document.createElement(isLink ? "a" : "span");
    if (isLink) name.href = page.url;
    name.dir = "auto";
    name.textContent = shown(page.title || page.url || "");
    item.append(name);
    return item;
  };

  const fill = async (place) => {
    const asked = new URL("api/related", server);
    asked.searchParams.set("url", place.dataset.pagekinUrl || location.href.split("#")[0]);
    asked.searchParams.set("limit", place.dataset.pagekinLimit || "5");
    const response = await fetch(asked, { credentials: "omit" });
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
