"""Many strategies, judged side by side over one reading of a collection."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from pagekin import __version__
from pagekin.engines.local import WorkerPool, run
from pagekin.errors import MisuseError
from pagekin.evaluation import baselines as references
from pagekin.evaluation.baselines import CountMatrix
from pagekin.evaluation.judge import judge
from pagekin.evaluation.labelled import LabelledCollection, PopulationSettings, open_labelled
from pagekin.evaluation.measures import SEED, ratios
from pagekin.evaluation.population import Shape
from pagekin.evaluation.report import of_system
from pagekin.evaluation.sweep_plan import REFERENCE, RUN, PlanEntry, SweepPlan
from pagekin.evaluation.sweep_results import ResultStore, SweepResult, flat, key_of
from pagekin.evaluation.systems import System
from pagekin.model.arrays import Int64s
from pagekin.pipeline import Progress
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.columns import checksum, reporting_errors

_SHAPE = {"depth": "depth", "strict_depth": "strict", "multi": "multi", "distance": "distance"}
DONE = "done"  # the folder of results that are finished


@dataclass(frozen=True)
class SweepOutcome:
    """What a sweep found."""

    plan: SweepPlan
    case: LabelledCollection
    results: dict[str, SweepResult]  # by the keys of entries
    key: Callable[[PlanEntry], str]
    judged: int  # in this run; the others were there

    def of(self, entry: PlanEntry) -> SweepResult:
        """The result of an entry."""
        return self.results[self.key(entry)]

    def entries(self) -> Iterator[tuple[str, PlanEntry]]:
        """Every entry with the title of its figure, in the order of the plan."""
        for figure in self.plan.figures:
            yield from ((figure.title, entry) for entry in figure.entries)
        yield from (("references", entry) for entry in self.plan.references)

    def rows(self) -> list[dict[str, Any]]:
        """The table: for each entry what it is, its settings, its measures, and all that these depend on."""
        bench = self.plan.bench
        common = {
            "pagekin": __version__,
            "store": self.plan.store,
            "hierarchy": bench["hierarchy"],
            "pages": len(self.case.population),
            "classes": len(self.case.population.names),
            "seed": bench.get("seed", SEED),
            "resamples": self.plan.resamples,
        }
        return [
            {"figure": title, "name": entry.name, "kind": entry.kind}
            | flat(self.of(entry).facts)
            | common
            | {name: " ".join(value) if isinstance(value, list) else value for name, value in entry.settings().items()}
            for title, entry in self.entries()
        ]


def bench_of(plan: SweepPlan) -> PopulationSettings:
    """How a plan wants to judge."""
    if not plan.store:
        raise MisuseError('the sweep names no store; add a line such as store = "my.kin"')
    if "hierarchy" not in plan.bench:
        raise MisuseError('the sweep names no hierarchy; add hierarchy = "labels.tsv", or give --hierarchy')
    shape = Shape(**{ours: plan.bench[key] for key, ours in _SHAPE.items() if key in plan.bench})
    others = {key: value for key, value in plan.bench.items() if key not in _SHAPE}
    return PopulationSettings(shape=shape, **others)


def sweep(
    plan: SweepPlan,
    output: Path,
    *,
    threads: int = 1,
    progress: Callable[[Progress], None] = lambda _: None,
) -> SweepOutcome:
    """Judge every entry of a plan, so many at a time; what is finished is kept in `output` and not done again."""
    if any(entry.source == references.LSA for entry in plan.references):
        references.need_lsa()
    progress(Progress("opening"))
    case = open_labelled(bench_of(plan), IndexedStore.open(plan.store))
    sweeper = _Sweeper(plan, case, ResultStore(output / DONE), progress)
    with reporting_errors(output):
        return sweeper.sweep(threads)


class _Sweeper:
    """A sweep under way."""

    def __init__(
        self, plan: SweepPlan, case: LabelledCollection, shelf: ResultStore, progress: Callable[[Progress], None]
    ) -> None:
        self._plan, self._case, self._shelf, self._progress = plan, case, shelf, progress
        self._common = _fingerprint(plan, case)
        self._lock = Lock()
        self._total = self._done = 0

    def key(self, entry: PlanEntry) -> str:
        """The name of an entry's result."""
        settings = entry.settings()
        if entry.kind == RUN:
            settings = {"sha256": checksum(Path(entry.source))}
        return key_of({**self._common, "kind": entry.kind, "settings": settings})

    def sweep(self, threads: int) -> SweepOutcome:
        """Judge what is not judged yet."""
        keys: dict[str, PlanEntry] = {}
        swept = SweepOutcome(self._plan, self._case, {}, self.key, 0)
        for _, entry in swept.entries():
            keys.setdefault(self.key(entry), entry)
        results = {key: found for key in keys if (found := self._shelf.find(key)) is not None}
        missing = [(key, entry) for key, entry in keys.items() if key not in results]
        self._total, self._done = len(keys), len(results)
        workers = min(threads, max(1, len(missing)))
        each = max(1, threads // workers)
        _ = self._case.collection, self._degrees  # opened here, not by two threads at once
        for key, result in run(lambda job: (job[0], self._judged(*job, each)), missing, WorkerPool(workers)):
            results[key] = result
            self._done += 1
        return SweepOutcome(self._plan, self._case, results, self.key, len(missing))

    def _judged(self, key: str, entry: PlanEntry, threads: int) -> SweepResult:
        self._say(f"bags of {entry.name}")
        system = self._system(entry)
        self._say(f"judging {entry.name}")
        judgement = judge(system, self._case.population, threads=threads)
        drawn = {"resamples": self._plan.resamples, "seed": self._plan.bench.get("seed", SEED)}
        facts = of_system(system, judgement, self._case.population, self._degrees, **drawn)
        table = ratios(judgement, self._case.population.regions)
        self._say(f"keeping {entry.name}")
        result = SweepResult(facts, judgement.sources, table)
        self._shelf.keep(key, result)
        return result

    def _say(self, stage: str) -> None:
        with self._lock:
            self._progress(Progress(stage, self._done, self._total))

    @cached_property
    def _degrees(self) -> Int64s | None:
        return self._case.in_degrees()

    def _system(self, entry: PlanEntry) -> System:
        return system_of(entry, self._case)


def system_of(entry: PlanEntry, case: LabelledCollection) -> System:
    """What an entry means, for a collection."""
    if entry.kind == RUN:
        return case.run(entry.source)
    if entry.kind == REFERENCE:
        return reference(entry.source, case)
    assert entry.strategy is not None
    return case.under(entry.strategy, entry.name)


def reference(name: str, case: LabelledCollection) -> System:
    """A system of others, over the words of the pages of a collection, or over the pages that cite them."""
    strategy = references.CITING if name == references.CO_CITATION else references.CONTENTS
    counts: CountMatrix = references.counted(case.bags(strategy), case.population.nodes)
    makers: dict[str, Callable[[CountMatrix], System]] = {
        references.TF_IDF: references.tf_idf,
        references.MORE_LIKE_THIS: references.more_like_this,
        references.CO_CITATION: references.co_citation,
        references.LSA: references.lsa,
    }
    return makers[name](counts)


def _fingerprint(plan: SweepPlan, case: LabelledCollection) -> dict[str, Any]:
    """What all results of a sweep depend on: the collection, its classes, and how is judged."""
    assert case.indexed is not None
    manifest, population = case.indexed.manifest, case.population
    digest = hashlib.sha256()
    for url in population.urls:
        digest.update(url.encode() + b"\n")
    digest.update("\n".join("\t".join(path) for path in population.names).encode())
    for array in (population.offsets, population.classes):
        digest.update(np.ascontiguousarray(array).tobytes())
    return {
        "pagekin": __version__,
        "reader": manifest.reader,
        "files": manifest.files,
        "population": digest.hexdigest(),
        "whole_tree": population.whole_tree,
        "resamples": plan.resamples,
        "seed": plan.bench.get("seed", SEED),
    }
