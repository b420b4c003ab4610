// Related links for any page:  <div data-pagekin-url="https://example.org/page.html"></div>
//                              <script src="https://SERVER/embed.js" async></script>
// An empty data-pagekin-url is the page itself; data-pagekin-limit says how many. What comes from the collection is put
// in as text, never as HTML.
(() => {
  "use strict";
  const server = new URL(".", document.currentScript.src);

  const link = (page) => {
    const item = document.createElement("li");
    const name = document.createTextNode(page.title || page.url);
    if (!/^https?:\/\//i.test(page.url)) {
      item.append(name);
      return item;
    }
    const anchor = document.createElement("a");
    anchor.href = page.url;
    anchor.append(name);
    item.append(anchor);
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
