"""A sweep: many strategies and baselines, evaluated over one reading of a collection."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from pagekin import __version__
from pagekin.engines.local import WorkerPool, run
from pagekin.evaluation.baselines import BASELINES, LSA, count_matrix, need_lsa
from pagekin.evaluation.judge import judge
from pagekin.evaluation.labelled import LabelledCollection, open_labelled
from pagekin.evaluation.measures import ratios
from pagekin.evaluation.report import as_json, evaluate_system
from pagekin.evaluation.sweep_plan import BASELINE, RUN, PlanEntry, SweepPlan
from pagekin.evaluation.sweep_results import ResultStore, SweepResult, flat_columns, result_key
from pagekin.evaluation.systems import System
from pagekin.pipeline import Progress
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.columns import checksum, reporting_errors

DONE = "done"  # the folder of finished results


@dataclass(frozen=True)
class SweepOutcome:
    """The results of a sweep."""

    plan: SweepPlan
    labelled: LabelledCollection
    results: dict[str, SweepResult]  # by the keys of entries
    key: Callable[[PlanEntry], str]
    judged: int  # in this run; the others were known

    def of(self, entry: PlanEntry) -> SweepResult:
        """The result of an entry."""
        return self.results[self.key(entry)]

    def rows(self) -> list[dict[str, Any]]:
        """The table of results: for each entry its name, measures and settings, and what they depend on."""
        population, options = self.labelled.population, self.plan.population
        common = {
            "pagekin": __version__,
            "store": self.plan.store,
            "hierarchy": options["hierarchy"],
            "pages": len(population),
            "classes": len(population.names),
            "seed": self.plan.seed,
            "resamples": self.plan.resamples,
        }
        return [
            {"figure": title, "name": entry.name, "kind": entry.kind}
            | flat_columns(self.of(entry).facts)
            | common
            | {name: " ".join(value) if isinstance(value, list) else value for name, value in entry.settings().items()}
            for title, entry in self.plan.entries()
        ]


def sweep(
    plan: SweepPlan,
    output: Path,
    *,
    threads: int = 1,
    progress: Callable[[Progress], None] = lambda _: None,
) -> SweepOutcome:
    """Evaluate every entry of a plan; finished results are kept in `output` and not computed again."""
    if any(entry.source == LSA for entry in plan.baselines):
        need_lsa()
    progress(Progress("opening"))
    labelled = open_labelled(plan.population_settings(), IndexedStore.open(plan.store))
    common = _fingerprint(plan, labelled)

    def key(entry: PlanEntry) -> str:
        settings = {"sha256": checksum(Path(entry.source))} if entry.kind == RUN else entry.settings()
        return result_key({**common, "kind": entry.kind, "settings": settings})

    store, in_degrees, lock = ResultStore(output / DONE), labelled.in_degrees(), Lock()
    _ = labelled.collection  # opened here, not by two threads at once
    keys: dict[str, PlanEntry] = {}
    for _, entry in plan.entries():
        keys.setdefault(key(entry), entry)
    with reporting_errors(output):
        results = {each: found for each in keys if (found := store.load(each)) is not None}
        missing = [(each, entry) for each, entry in keys.items() if each not in results]
        workers = min(threads, max(1, len(missing)))

        def tell(stage: str) -> None:
            with lock:
                progress(Progress(stage, len(results), len(keys)))

        def evaluate(job: tuple[str, PlanEntry]) -> tuple[str, SweepResult]:
            each, entry = job
            tell(f"bags of {entry.name}")
            system = system_of(entry, labelled)
            tell(f"judging {entry.name}")
            judgement = judge(system, labelled.population, threads=max(1, threads // workers))
            evaluation = evaluate_system(system, judgement, labelled.population, in_degrees, plan.resamples, plan.seed)
            table = ratios(judgement, labelled.population.regions)
            tell(f"keeping {entry.name}")
            result = SweepResult(as_json(evaluation), judgement.sources, table)
            store.save(each, result)
            return each, result

        results.update(run(evaluate, missing, WorkerPool(workers)))
        return SweepOutcome(plan, labelled, results, key, len(missing))


def system_of(entry: PlanEntry, labelled: LabelledCollection) -> System:
    """The system of an entry, for a collection."""
    if entry.kind == RUN:
        return labelled.run(entry.source)
    if entry.kind == BASELINE:
        strategy, system = BASELINES[entry.source]
        return system(count_matrix(labelled.bags(strategy), labelled.population.nodes))
    assert entry.strategy is not None
    return labelled.under(entry.strategy, entry.name)


def _fingerprint(plan: SweepPlan, labelled: LabelledCollection) -> dict[str, Any]:
    """What all results of a sweep depend on: the collection, its classes, and the resampling."""
    assert labelled.indexed is not None
    manifest, population = labelled.indexed.manifest, labelled.population
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
        "seed": plan.seed,
    }
