// Runs before the page is painted, so that it never shows in the wrong colours.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  let kept = null;
  try { kept = localStorage.getItem("pagekin-theme"); } catch { /* storage may be forbidden */ }
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
})();
