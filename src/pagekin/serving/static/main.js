// What the page does beyond links and forms. Everything that comes from a crawl arrives as HTML that the server has
// escaped, or is written as text.
import { offer } from "./search.js";
import { keepRecent } from "./recent.js";
import { live } from "./live.js";
import { switchTheme } from "./switch.js";
import { cards } from "./cards.js";
import { walks } from "./walk.js";

switchTheme();
keepRecent();
cards();
walks();
live();
for (const field of document.querySelectorAll("[data-suggest]")) offer(field);

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.getElementById("q").focus();
  }
});
