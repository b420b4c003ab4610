// Light, dark, or as the system has it.
const root = document.documentElement;
const night = matchMedia("(prefers-color-scheme: dark)");

const shown = () => root.dataset.theme ?? (night.matches ? "dark" : "light");

export function switchTheme() {
  for (const button of document.querySelectorAll("[data-theme-switch]")) {
    const say = () => button.setAttribute("aria-label", shown() === "dark" ? "Use light colours" : "Use dark colours");
    button.hidden = false;
    say();
    button.addEventListener("click", () => {
      root.dataset.theme = shown() === "dark" ? "light" : "dark";
      try { localStorage.setItem("pagekin-theme", root.dataset.theme); } catch { /* then only for this page */ }
      say();
    });
  }
}
