// Behaviour beyond links and forms. Crawled text arrives as HTML that the server has escaped, or is inserted as text.
import { waitForPage } from "./parts.js";
import { suggest } from "./search.js";
import { addRecent } from "./recent.js";
import { addLiveParts } from "./live.js";
import { addThemeSwitch } from "./theme_switch.js";
import { addCards } from "./cards.js";
import { addMaps } from "./map.js";
import { addWalks } from "./walk.js";
import "./copy.js";

waitForPage();
addThemeSwitch();
addRecent();
addCards();
addWalks();
addMaps();
addLiveParts();
for (const field of document.querySelectorAll("[data-suggest]")) suggest(field);

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.getElementById("q").focus();
  }
});
