"""Evaluation: the cost of exact measures with every page as a source, compared with the similarities alone.

`python -m benchmarks.judging` prints the figures and writes `results/judging.json`; with QUICK=1 only the sample web is
judged, which is too small to tell. The hierarchy is `labels.tsv` in the folder of a collection or, where there is none,
the paths of its URLs. Similarities of some sources and their judgement take turns, in one thread; of three rounds the
best counts, since the machine may be busy with other things.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.agreement import collections
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show, timed
from pagekin import sample_web
from pagekin.evaluation.judge import System, judge
from pagekin.evaluation.labelled import BY_PATH, LabelledCollection, open_labelled
from pagekin.evaluation.measures import estimates, ratios
from pagekin.model.arrays import Floats, Int64s
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions

ROUNDS = 1 if QUICK else 3
_PART = 200  # sources that are asked for at a time


class _Known:
    """A system whose scores are there already."""

    name, longest = "known", None

    def __init__(self, rows: Floats) -> None:
        self.rows = rows

    def scores(self, sources: Int64s) -> Floats:
        return self.rows


def main() -> None:
    """Measure every collection at hand."""
    figures = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sources = {name: (each, each / "labels.tsv") for name, each in collections().items() if each.is_dir()}
        if QUICK:
            sources = {"sample web": (sample_web.copy_to(folder), folder / "labels.tsv")}
        for number, (name, (source, labels)) in enumerate(sources.items()):
            print(f"judging {name}")
            build([source], folder / f"{number}.kin")
            hierarchy = str(labels) if labels.exists() else BY_PATH
            case = open_labelled(hierarchy, IndexedStore.open(folder / f"{number}.kin"))
            measured = list(measure(name, case))
            show(measured)
            figures += measured
    keep("judging", {"machine": facts(), "figures": kept(figures)})


def measure(name: str, case: LabelledCollection) -> Iterator[Figure]:
    """The figures of one collection."""
    assert case.indexed is not None
    count = len(case.population)
    whole = judge(case.index_system(case.indexed), case.population)  # and so everything is compiled
    yield Figure(f"{name}: pages", count)
    yield Figure(f"{name}: triples of a source and two pages", int(whole.pairs[:, 0].sum()))
    for similarity in ("jaccard", "cosine"):
        system = case.index_system(case.indexed, RelatedOptions(similarity=similarity))
        comparing, judging = best(system, case)
        yield Figure(f"{name}: {similarity} of all pages with all pages", round(comparing, 3), "s")
        yield Figure(f"{name}: their judgement", round(judging, 3), "s")
        yield Figure(f"{name}: judgement / {similarity}", round(judging / comparing, 3), at_most=1.0)
    indexed = case.indexed
    both = min(timed(lambda: judge(case.index_system(indexed), case.population, threads=2)) for _ in range(ROUNDS))
    yield Figure(f"{name}: all of it for jaccard, with inverting, 2 threads", round(both, 3), "s")
    drawing = timed(lambda: estimates(ratios(whole, case.population.regions)))
    yield Figure(f"{name}: intervals of all measures, 1,000 resamples", round(drawing, 3), "s")


def best(system: System, case: LabelledCollection) -> tuple[float, float]:
    """Seconds for the similarities, and for their judgement."""
    rounds = []
    for _ in range(ROUNDS):
        comparing = judging = 0.0
        for begin in range(0, len(case.population), _PART):
            sources = np.arange(begin, min(begin + _PART, len(case.population)))
            start = time.perf_counter()
            known = _Known(system.scores(sources))
            middle = time.perf_counter()
            judge(known, case.population, sources)
            comparing, judging = comparing + middle - start, judging + time.perf_counter() - middle
        rounds.append((comparing, judging))
    return min(each[0] for each in rounds), min(each[1] for each in rounds)


if __name__ == "__main__":
    main()
