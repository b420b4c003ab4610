"""What the blend costs: the time of a build and the size of an index, against text alone.

`python -m benchmarks.blend_cost` prints the figures and writes `results/blend_cost.json`. Each collection is built with
the presets `text-only` and `default` in turns; the best time of each counts. PAGEKIN_BENCH_DATA may name one more
folder of pages.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks.agreement import collections
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.model.strategy import PRESETS
from pagekin.pipeline import build

ROUNDS = 1 if QUICK else 3
_WAYS = ("text-only", "default")


def main() -> None:
    """Measure every collection at hand."""
    figures = [figure for name, source in collections().items() if source.is_dir() for figure in measure(name, source)]
    keep("blend_cost", {"machine": facts(), "figures": kept(figures)})


def measure(name: str, source: Path) -> list[Figure]:
    """The figures of one collection."""
    seconds: dict[str, list[float]] = {way: [] for way in _WAYS}
    sizes, pages = dict.fromkeys(_WAYS, 0), 0
    for _ in range(ROUNDS):
        for way in _WAYS:
            with tempfile.TemporaryDirectory() as place:
                begin = time.perf_counter()
                pages = build([source], Path(place) / "bench.kin", strategy=PRESETS[way]).read
                seconds[way].append(time.perf_counter() - begin)
                sizes[way] = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
    text, blend = (min(seconds[way]) for way in _WAYS)
    more = round((sizes["default"] - sizes["text-only"]) / pages)
    figures = [
        Figure(f"{name}: pages", pages),
        Figure(f"{name}: build with text alone", round(text, 2), "s"),
        Figure(f"{name}: build with the blend", round(blend, 2), "s"),
        Figure(f"{name}: build, blend / text alone", round(blend / text, 2), at_most=1.8),
        Figure(f"{name}: more in the index", more, "bytes a page", at_most=400),
    ]
    show(figures)
    return figures


if __name__ == "__main__":
    main()
