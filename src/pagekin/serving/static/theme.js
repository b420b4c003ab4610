// Runs before the first paint, so that the page never appears in the wrong colours.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  let stored = null;
  try { stored = localStorage.getItem("pagekin-theme"); } catch { /* storage may be forbidden */ }
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;
})();
