// Copy buttons: <button data-copy="text">. Clipboards of pages from a file are not open to scripts in all browsers.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = button.dataset.copy;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    button.after(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  const label = button.dataset.label ?? (button.dataset.label = button.textContent);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
});
