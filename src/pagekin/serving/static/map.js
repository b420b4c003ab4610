// The map of a collection on a canvas: pages as points, titles where there is room. Titles are drawn as text.
import { fetchReady } from "./parts.js";

const STEP = 1.5, CLOSEST = 400, NEAR = 12, LISTED = 30, FONT = 12;
const grouped = (number) => number.toLocaleString("en");

export function addMaps() {
  document.addEventListener("shown", (event) => {
    for (const figure of event.target.querySelectorAll("[data-map]:not([data-drawn])")) draw(figure);
  });
}

async function draw(figure) {
  figure.dataset.drawn = "";
  const response = await fetchReady(new URL(figure.dataset.map, location.href), new AbortController().signal);
  if (!response.ok) return;
  const points = await response.json();
  showLegend(figure, points);
  addMap(figure, points);
}

function showLegend(figure, points) {
  const counts = new Array(9).fill(0);
  for (const group of points.group) counts[group]++;
  figure.querySelectorAll(".legend li").forEach((item, k) => {
    item.hidden = counts[k] === 0;
    item.querySelector("bdi").textContent = `${points.groups[k] ?? "others"} (${grouped(counts[k])})`;
  });
}

function addMap(figure, { x, y, id, title, group, side }) {
  const canvas = figure.querySelector("canvas"), context = canvas.getContext("2d");
  const swatches = [...figure.querySelectorAll(".legend i")];
  const root = document.querySelector(".brand").href;
  const card = document.createElement("div");
  card.className = "card";
  card.hidden = true;
  document.body.append(card);
  let width, height, view, queued = false, listing, over = -1;

  const fit = () => Math.min(width, height) * 0.92;
  const reset = () => { view = { x: 0.5, y: 0.5, scale: fit() }; };
  const left = (k) => (x[k] / side - view.x) * view.scale + width / 2;
  const top = (k) => (y[k] / side - view.y) * view.scale + height / 2;
  const pageAt = (k) => new URL(`page/${id[k]}`, root).href;

  function paint() {
    queued = false;
    const ratio = devicePixelRatio, style = getComputedStyle(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const radius = Math.min(6, 1.4 * Math.sqrt(view.scale / fit()) + (x.length < 1000 ? 1.6 : 0.4));
    const colours = swatches.map((each) => getComputedStyle(each).backgroundColor);
    const visible = [];
    const paths = colours.map(() => new Path2D());
    for (let k = 0; k < x.length; k++) {
      const a = left(k), b = top(k);
      if (a < -radius || b < -radius || a > width + radius || b > height + radius) continue;
      if (a >= 0 && b >= 0 && a <= width && b <= height) visible.push(k);
      if (radius < 2) paths[group[k]].rect(a - radius, b - radius, 2 * radius, 2 * radius);
      else { paths[group[k]].moveTo(a + radius, b); paths[group[k]].arc(a, b, radius, 0, 7); }
    }
    for (let k = paths.length - 1; k >= 0; k--) { context.fillStyle = colours[k]; context.fill(paths[k]); } // others below
    paintTitles(visible, radius, style);
    clearTimeout(listing);
    listing = setTimeout(() => list(visible), 120);
  }

  function paintTitles(visible, radius, style) {
    const most = Math.min(60, 10 * Math.sqrt(view.scale / fit())), taken = [];
    context.font = `${FONT}px system-ui, sans-serif`;
    context.fillStyle = style.color;
    context.strokeStyle = style.backgroundColor;
    context.lineWidth = 3;
    for (const k of visible.slice(0, 600)) {
      if (taken.length >= most) break;
      const text = title[k].length > 40 ? `${title[k].slice(0, 39)}…` : title[k];
      const box = { left: left(k) + radius + 3, top: top(k) - FONT / 2 };
      box.right = box.left + context.measureText(text).width;
      box.bottom = box.top + FONT * 1.2;
      if (box.right > width || box.left < 0 || box.top < 0 || box.bottom > height) continue;
      if (taken.some((each) => box.left < each.right && each.left < box.right && box.top < each.bottom && each.top < box.bottom)) continue;
      taken.push(box);
      context.strokeText(text, box.left, box.bottom - 3);
      context.fillText(text, box.left, box.bottom - 3);
    }
  }

  /** List the pages in view, for those who do not see the canvas and to click. */
  function list(visible) {
    const place = document.querySelector("[data-in-view]");
    document.querySelector("[data-in-view-count]").textContent = visible.length > LISTED ? `${LISTED} of ${grouped(visible.length)}` : visible.length;
    const edges = { left: -width, top: -height, right: width, bottom: height };
    for (const link of document.querySelectorAll(".exports a[href*='map/pages']")) {
      const url = new URL(link.href);
      for (const [name, pixels] of Object.entries(edges)) {
        const centre = name === "left" || name === "right" ? view.x : view.y;
        url.searchParams.set(name, Math.round((centre + pixels / 2 / view.scale) * side));
      }
      link.href = url;
    }
    place.replaceChildren(...visible.slice(0, LISTED).map((k) => {
      const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("bdi");
      link.href = pageAt(k);
      text.textContent = title[k];
      link.append(text);
      item.append(link);
      return item;
    }));
  }

  const repaint = () => { if (!queued) { queued = true; requestAnimationFrame(paint); } };
  const zoom = (factor, px = width / 2, py = height / 2) => {
    const scale = Math.min(Math.max(view.scale * factor, fit() * 0.8), fit() * CLOSEST);
    view.x += (px - width / 2) * (1 / view.scale - 1 / scale);
    view.y += (py - height / 2) * (1 / view.scale - 1 / scale);
    view.scale = scale;
    repaint();
  };
  const move = (dx, dy) => {
    view.x = Math.min(1.2, Math.max(-0.2, view.x - dx / view.scale));
    view.y = Math.min(1.2, Math.max(-0.2, view.y - dy / view.scale));
    repaint();
  };
  const pointAt = (px, py) => {
    let best = -1, least = NEAR * NEAR;
    for (let k = 0; k < x.length; k++) {
      const far = (left(k) - px) ** 2 + (top(k) - py) ** 2;
      if (far < least) { least = far; best = k; }
    }
    return best;
  };
  const hover = (event) => {
    over = pointAt(event.offsetX, event.offsetY);
    canvas.classList.toggle("over", over >= 0);
    card.hidden = over < 0;
    if (over < 0) return;
    card.textContent = title[over];
    card.style.left = `${Math.min(event.clientX + 12, innerWidth - card.offsetWidth - 8)}px`;
    card.style.top = `${event.clientY + 12}px`;
  };

  const held = new Map(); // pointers that are down: one drags, two zoom
  let far = 0;
  canvas.addEventListener("pointerdown", (event) => {
    held.set(event.pointerId, event);
    if (held.size === 1) far = 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const last = held.get(event.pointerId);
    if (!last) return hover(event);
    card.hidden = true;
    const dx = event.offsetX - last.offsetX, dy = event.offsetY - last.offsetY;
    far += Math.abs(dx) + Math.abs(dy);
    const other = [...held.values()].find((each) => each.pointerId !== event.pointerId);
    held.set(event.pointerId, event);
    if (!other) return move(dx, dy);
    const before = Math.hypot(last.offsetX - other.offsetX, last.offsetY - other.offsetY);
    const after = Math.hypot(event.offsetX - other.offsetX, event.offsetY - other.offsetY);
    return zoom(after / Math.max(before, 1), (event.offsetX + other.offsetX) / 2, (event.offsetY + other.offsetY) / 2);
  });
  const release = (event) => held.delete(event.pointerId);
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { card.hidden = true; });
  canvas.addEventListener("click", (event) => {
    const found = far > 6 ? -1 : pointAt(event.offsetX, event.offsetY);
    if (found >= 0) location.href = pageAt(found);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(STEP ** (-Math.sign(event.deltaY) / 2), event.offsetX, event.offsetY);
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const keys = {
      "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), 0: () => { reset(); repaint(); },
      ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0), ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  figure.querySelector(".tools").addEventListener("click", (event) => {
    const what = event.target.dataset.do;
    if (what === "in") zoom(STEP); else if (what === "out") zoom(1 / STEP); else if (what === "reset") { reset(); repaint(); }
  });
  new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  new ResizeObserver(() => {
    const zoomed = view ? view.scale / fit() : 1;
    width = canvas.clientWidth;
    height = canvas.clientHeight;
    canvas.width = width * devicePixelRatio;
    canvas.height = height * devicePixelRatio;
    if (view) view.scale = zoomed * fit(); else reset();
    repaint();
  }).observe(canvas);
}
