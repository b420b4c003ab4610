// Switch between light and dark colours; by default the system decides.
const root = document.documentElement;
const darkSystem = matchMedia("(prefers-color-scheme: dark)");

const current = () => root.dataset.theme ?? (darkSystem.matches ? "dark" : "light");

export function addThemeSwitch() {
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    const setLabel = () => button.setAttribute("aria-label", current() === "dark" ? "Use light colours" : "Use dark colours");
    button.hidden = false;
    setLabel();
    button.addEventListener("click", () => {
      root.dataset.theme = current() === "dark" ? "light" : "dark";
      try { localStorage.setItem("pagekin-theme", root.dataset.theme); } catch { /* storage may be forbidden: only for this page */ }
      setLabel();
    });
  }
}
