"""Shards: what it costs to open and to ask a store of 100 shards, compared with the same store in one.

`python -m benchmarks.shards` builds a generated web twice and compares all answers that it asks for. Opening is timed
from the name of the store to the first answer, in this process, where all modules and kernels are loaded; both stores
are opened and asked in turns. Writes `results/shards.json`.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import generated
from benchmarks.machine import QUICK, Figure, facts, keep, kept, number, show
from benchmarks.querying import ask, in_turns
from pagekin.model.progress import Progress
from pagekin.pipeline import DIVIDING, build
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.generations import open_generation

PAGES = 2_000 if QUICK else 20_000
SHARDS = 100
_QUESTIONS = 200
_OPENINGS = 7


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        source, stores = Path(place) / "web.jsonl", [Path(place) / "one.kin", Path(place) / "shards.kin"]
        generated.write(source, generated.Web(PAGES))
        build([source], stores[0], processes=2)
        stages = _stages(source, stores[1])
        figures = _figures(stores, stages)
    show(figures)
    keep("shards", {"machine": facts(), "figures": kept(figures)})


def _stages(source: Path, store: Path) -> dict[str, float]:
    """The seconds of each stage of a build of shards."""
    seconds, stage, begin = defaultdict[str, float](float), "", time.perf_counter()

    def entered(progress: Progress) -> None:
        nonlocal stage, begin
        seconds[stage] += time.perf_counter() - begin
        stage, begin = progress.stage, time.perf_counter()

    build([source], store, processes=2, shards=SHARDS, progress=entered)
    entered(Progress(""))
    return seconds


def _figures(stores: list[Path], seconds: dict[str, float]) -> list[Figure]:
    name = f"{number(PAGES)} generated pages"
    sizes = [sum(path.stat().st_size for path in store.rglob("*") if path.is_file()) for store in stores]
    opened = np.array([[_opening(store) for store in stores] for _ in range(_OPENINGS + 1)])[1:]
    all_files = np.array([[_all_files(store) for store in stores] for _ in range(_OPENINGS + 1)])[1:]
    indexed = [IndexedStore.open(store) for store in stores]
    nodes = np.linspace(0, len(indexed[0]) - 1, _QUESTIONS).astype(np.int64).tolist()
    same = sum(ask(indexed[0], node) == ask(indexed[1], node) for node in nodes)
    ways: list[Any] = [lambda k, each=each: ask(each, nodes[k]) for each in indexed]
    one, several = np.median(in_turns(ways, len(nodes)), axis=1).tolist()
    return [
        Figure(f"{name}: open {SHARDS} shards and answer, median", round(float(np.median(opened[:, 1])), 3), "s", 1.0),
        Figure(f"{name}: open one shard and answer, median", round(float(np.median(opened[:, 0])), 3), "s"),
        Figure(
            f"{name}: open all files of {SHARDS} shards for serving",
            round(float(np.median(all_files[:, 1])), 3),
            "s",
            1.0,
        ),
        Figure(f"{name}: a question, p50, {SHARDS} shards / one", round(several / one, 2)),
        Figure(f"{name}: share of the same answers", same / len(nodes), at_least=1),
        Figure(f"{name}: disk, {SHARDS} shards / one", round(sizes[1] / sizes[0], 2)),
        Figure(f"{name}: share of the build that divides", round(seconds[DIVIDING] / sum(seconds.values()), 3)),
    ]


def _opening(store: Path) -> float:
    begin = time.perf_counter()
    with closing(IndexedStore.open(store)) as indexed:
        ask(indexed, 0)
        return time.perf_counter() - begin


def _all_files(store: Path) -> float:
    begin = time.perf_counter()
    with closing(open_generation(store).indexed):
        return time.perf_counter() - begin


if __name__ == "__main__":
    main()
