"""The web page: time from a click to the first paint, in an open window and in a new one; frames of a map.

`python -m benchmarks.painting` serves the sample web, opens pages of it in Debian's chromium, one after the other in
one window, as a person walks through them, and each in a fresh window with an empty cache; it writes
`results/painting.json`. What is measured is the browser's own first contentful paint, counted from the moment of
asking; the server is on the same machine. The related pages with their reasons are part of that paint; clusters and
neighbourhood are fetched after it. Every page is opened three times and the best time counts, since the machine may be
busy with other things. The empty search of the same server, opened in turns with the pages, tells what the browser
itself needs.

The map is that of 10,000 generated points with titles, moved and zoomed without a pause. Its time is that of a frame,
from one to the next.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin import sample_web
from pagekin.model.arrays import Floats
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.workers import listen, url_of

PAGES = 5 if QUICK else 20
ROUNDS = 1 if QUICK else 3
_BAR = 200  # milliseconds
_POINTS, _FRAMES, _SMOOTH = (
    10_000,
    20 if QUICK else 120,
    33.4,
)  # two frames of a screen with 60 a second, in milliseconds
_MOVE = """([keys, frames]) => new Promise((done) => {
  const canvas = document.querySelector(".map canvas"), times = [];
  const step = (now) => {
    times.push(now);
    if (times.length > frames) return done(times.slice(1).map((time, k) => time - times[k]));
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key: keys[times.length % keys.length] }));
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""
_WARM = 3  # pages that do not count: the browser and the server have just started


def main() -> None:
    """Measure the sample web."""
    program = shutil.which("chromium")
    if program is None:
        print("painting: needs chromium (sh tests/browser.sh)")
        return
    print("painting")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        store = Path(place) / "sample_web.kin"
        build([sample_web.copy_to(Path(place))], store)
        figures = [*_measured(store, browser)]
        browser.close()
    show(figures)
    keep("painting", {"machine": facts("playwright", "starlette", "uvicorn"), "figures": kept(figures)})


def _measured(store: Path, browser: Browser) -> Iterator[Figure]:
    current = CurrentGeneration(store)
    with _served(current) as address:
        urls = [f"{address}page/{id}" for id in _ids(current.generation.indexed, PAGES)]
        window = _window(browser)
        for url in urls[:_WARM]:
            _first_paint(window, url)
        walked, fresh, empty = (np.full(len(urls), np.inf) for _ in range(3))
        for k, url in [*enumerate(urls)] * ROUNDS:
            walked[k] = min(walked[k], _first_paint(window, url))
            fresh[k] = min(fresh[k], _in_fresh_window(browser, url))
            empty[k] = min(empty[k], _in_fresh_window(browser, f"{address}search"))
        window.context.close()
        frames = _frames_of_a_map(browser, f"{address}collection/map")
    for times, where in ((walked, "an open window"), (fresh, "a fresh window")):
        what = f"first paint of a page's view in {where}"
        yield Figure(f"{what}, median", float(np.median(times)), "ms", at_most=_BAR)
        yield Figure(f"{what}, slowest in twenty", float(np.quantile(times, 0.95)), "ms", at_most=_BAR)
    yield Figure("of an empty search in a fresh window, median", float(np.median(empty)), "ms")
    what = f"frame of a map with {_POINTS:,} pages"
    yield Figure(f"{what}, median", float(np.median(frames)), "ms", at_most=_SMOOTH)
    yield Figure(f"{what}, slowest in twenty", float(np.quantile(frames, 0.95)), "ms", at_most=_SMOOTH)


def _frames_of_a_map(browser: Browser, url: str) -> Floats:
    """The times between frames while the map is moved and zoomed; for each frame the best of all rounds."""
    random = np.random.default_rng(2002)
    places = np.clip(random.normal(0.5, 0.18, (_POINTS, 2)), 0.0, 1.0)
    points = {
        **{axis: np.rint(column * 65_535).astype(int).tolist() for axis, column in zip("xy", places.T, strict=True)},
        "id": [f"{k:016x}" for k in range(_POINTS)],
        "title": [f"A page with the number {k}" for k in range(_POINTS)],
        "group": random.integers(0, 9, _POINTS).tolist(),
        "groups": [f"host{k}.example" for k in range(8)],
        "side": 65_535,
    }
    window = _window(browser)
    window.route("**/collection/map/points*", lambda route: route.fulfill(json=points))
    best = np.full(_FRAMES, np.inf)
    for _ in range(ROUNDS):
        window.goto(url)
        window.get_by_text(re.compile(f"30 of {_POINTS:,}")).wait_for()
        keys = ["+", "ArrowLeft", "ArrowUp", "-", "ArrowRight", "ArrowDown"]
        best = np.minimum(best, np.array(window.evaluate(_MOVE, [keys, _FRAMES])))
    window.context.close()
    return best


def _ids(indexed: IndexedStore, most: int) -> list[str]:
    """Pages spread over the collection."""
    rows = np.linspace(0, len(indexed) - 1, most).astype(int).tolist()
    return [str(indexed.page(row)["id"]) for row in rows]


def _window(browser: Browser) -> Page:
    return browser.new_context(viewport={"width": 1200, "height": 900}).new_page()


def _in_fresh_window(browser: Browser, url: str) -> float:
    window = _window(browser)
    time = _first_paint(window, url)
    window.context.close()
    return time


def _first_paint(window: Page, url: str) -> float:
    window.goto(url)
    window.locator("main h1").wait_for()
    painted = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
    time = window.evaluate(painted)
    while time is None:
        window.wait_for_timeout(10)
        time = window.evaluate(painted)
    return float(time)


@contextmanager
def _served(current: CurrentGeneration) -> Iterator[str]:
    with listen("127.0.0.1", 0) as listener:
        server = uvicorn.Server(uvicorn.Config(make_app(current), log_level="warning", access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield url_of(listener)
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
