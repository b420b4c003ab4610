// Drag and zoom a drawing, with the pointer or the keyboard.
const STEP = 1.25, SMALLEST = 0.15;

export function addZoom(figure) {
  const svg = figure.querySelector("svg");
  const whole = svg.viewBox.baseVal;
  const all = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
  let box = { ...all };

  const set = () => svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.width} ${box.height}`);
  const within = () => {
    box.x = Math.min(Math.max(box.x, all.x - all.width / 2), all.x + all.width / 2 + all.width - box.width);
    box.y = Math.min(Math.max(box.y, all.y - all.height / 2), all.y + all.height / 2 + all.height - box.height);
  };
  const zoom = (factor, fx = 0.5, fy = 0.5) => {
    const width = Math.min(Math.max(box.width * factor, all.width * SMALLEST), all.width);
    const height = width * all.height / all.width;
    box = { x: box.x + (box.width - width) * fx, y: box.y + (box.height - height) * fy, width, height };
    if (width === all.width) box = { ...all };
    within();
    set();
  };
  const move = (dx, dy) => { box.x += dx; box.y += dy; within(); set(); };
  const reset = () => { box = { ...all }; set(); };

  figure.classList.add("zooms");
  const tools = figure.querySelector(".tools");
  tools.hidden = false;
  tools.addEventListener("click", (event) => {
    const what = event.target.dataset.do;
    if (what === "in") zoom(1 / STEP); else if (what === "out") zoom(STEP); else if (what === "reset") reset();
  });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return; // without a modifier the wheel scrolls the page
    event.preventDefault();
    const place = svg.getBoundingClientRect();
    zoom(event.deltaY + event.deltaX < 0 ? 1 / STEP : STEP, (event.clientX - place.left) / place.width, (event.clientY - place.top) / place.height);
  }, { passive: false });
  drag(svg, (dx, dy) => {
    const scale = box.width / svg.getBoundingClientRect().width;
    move(-dx * scale, -dy * scale);
  });
  figure.querySelector(".scroll").addEventListener("keydown", (event) => {
    if (event.target !== event.currentTarget) return;
    const far = box.width / 12;
    const keys = {
      "+": () => zoom(1 / STEP), "=": () => zoom(1 / STEP), "-": () => zoom(STEP), 0: reset,
      ArrowLeft: () => move(-far, 0), ArrowRight: () => move(far, 0), ArrowUp: () => move(0, -far), ArrowDown: () => move(0, far),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
}

/** Report pointer movements while a button is held; a drag is not a click on the element below. */
function drag(svg, moved) {
  let last = null, far = 0;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return; // touch scrolls
    last = [event.clientX, event.clientY];
    far = 0;
  });
  svg.addEventListener("pointermove", (event) => {
    if (!last) return;
    const by = [event.clientX - last[0], event.clientY - last[1]];
    far += Math.abs(by[0]) + Math.abs(by[1]);
    if (far > 3 && !svg.hasPointerCapture(event.pointerId)) { svg.setPointerCapture(event.pointerId); svg.classList.add("held"); }
    moved(...by);
    last = [event.clientX, event.clientY];
  });
  const end = () => { last = null; svg.classList.remove("held"); };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("click", (event) => { if (far > 3) { event.preventDefault(); event.stopPropagation(); } }, true);
}
