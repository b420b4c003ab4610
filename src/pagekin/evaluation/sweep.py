"""A sweep: many strategies and baselines, evaluated over one reading of a collection.

Each result is in a file of its own while the sweep runs, and all are in one table at the end.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any
from zipfile import BadZipFile

import numpy as np

from pagekin import __version__
from pagekin.engines.local import WorkerPool, run
from pagekin.evaluation.baselines import LSA, need_lsa
from pagekin.evaluation.evaluate import evaluate_system
from pagekin.evaluation.judge import System, judge
from pagekin.evaluation.labelled import LabelledCollection, open_labelled
from pagekin.evaluation.measures import LIST_MEASURES, ORTHOGONAL, PAIR_MEASURES, Ratios, measure_name, ratios
from pagekin.evaluation.sweep_plan import BASELINE, RUN, PlanEntry, SweepPlan
from pagekin.model.arrays import Int64s
from pagekin.model.files import csv_line, replacing
from pagekin.model.jsons import to_json
from pagekin.model.progress import Progress
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.columns import checksum, reporting_errors
from pagekin.store.store import report_damage

DONE = "done"  # the folder of finished results
VERSION = 1  # of stored results; those of another version are computed again
_KEY_LENGTH = 24


@dataclass(frozen=True)
class SweepResult:
    """The evaluation of a system as JSON, and its measures for each source."""

    facts: dict[str, Any]
    sources: Int64s
    table: Ratios


def result_key(facts: Mapping[str, Any]) -> str:
    text = json.dumps({"sweeper": VERSION, **facts}, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:_KEY_LENGTH]


class ResultStore:
    """A folder of results by key. An incomplete result counts as missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, key: str, result: SweepResult) -> None:
        """Write a result; the JSON file comes last and makes it complete."""
        self.folder.mkdir(parents=True, exist_ok=True)
        top, bottom = result.table.numerator, result.table.denominator
        with replacing(self.folder / f"{key}.npz") as path, path.open("wb") as file:
            np.savez_compressed(file, names=result.table.names, sources=result.sources, top=top, bottom=bottom)
        with replacing(self.folder / f"{key}.json") as path:
            path.write_text(json.dumps(result.facts, ensure_ascii=False) + "\n", "utf-8")

    def load(self, key: str) -> SweepResult | None:
        try:
            facts = json.loads((self.folder / f"{key}.json").read_text("utf-8"))
            with (self.folder / f"{key}.npz").open("rb") as file, np.load(file, allow_pickle=False) as kept:
                table = Ratios(kept["names"].tolist(), kept["top"], kept["bottom"])
                return SweepResult(facts, kept["sources"], table)
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            return None


def flat_columns(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluation of a system as columns: `gamma sibling`, `gamma sibling low` and so on."""
    columns: dict[str, Any] = {key: facts[key] for key in ("sources", "unanswered", "longest_list")}
    measured = {measure_name(m, region): of[m] for region, of in facts["regions"].items() for m in PAIR_MEASURES}
    measured |= {measure: facts[measure] for measure in (*LIST_MEASURES, ORTHOGONAL)}
    for name, of in measured.items():
        columns |= {name: of["value"], f"{name} low": of["low"], f"{name} high": of["high"]}
    return columns


@dataclass(frozen=True)
class SweepOutcome:
    """The results of a sweep."""

    plan: SweepPlan
    labelled: LabelledCollection
    results: dict[str, SweepResult]  # by the keys of entries
    key: Callable[[PlanEntry], str]
    judged: int  # in this run; the others were known

    def of(self, entry: PlanEntry) -> SweepResult:
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
    plan: SweepPlan, output: Path, *, threads: int = 1, progress: Callable[[Progress], None] = lambda _: None
) -> SweepOutcome:
    """Evaluate every entry of a plan; finished results are kept in `output` and not computed again."""
    if any(entry.source == LSA for entry in plan.baselines):
        need_lsa()
    plan.hierarchy_options()  # raises before anything is opened
    progress(Progress("opening"))
    return _sweep(IndexedStore.open(plan.store), plan, output, threads, progress)


@report_damage
def _sweep(
    indexed: IndexedStore, plan: SweepPlan, output: Path, threads: int, progress: Callable[[Progress], None]
) -> SweepOutcome:
    hierarchy, options = plan.hierarchy_options()
    labelled = open_labelled(hierarchy, indexed, options)
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
            result = SweepResult(to_json(evaluation), judgement.sources, table)
            store.save(each, result)
            return each, result

        results.update(run(evaluate, missing, WorkerPool(workers)))
        return SweepOutcome(plan, labelled, results, key, len(missing))


def system_of(entry: PlanEntry, labelled: LabelledCollection) -> System:
    if entry.kind == RUN:
        return labelled.run(entry.source)
    if entry.kind == BASELINE:
        return labelled.baseline(entry.source)
    assert entry.strategy is not None
    return labelled.under(entry.strategy, entry.name)


def _fingerprint(plan: SweepPlan, labelled: LabelledCollection) -> dict[str, Any]:
    """What all results of a sweep depend on: the collection, its classes, and the resampling."""
    assert labelled.indexed is not None
    manifest, population = labelled.indexed.manifest, labelled.population
    digest = sha256()
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


def _header(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def csv_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    header = _header(rows)
    yield csv_line(header)
    yield from (csv_line(row.get(key) for key in header) for row in rows)


def write_parquet(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    import pyarrow
    from pyarrow.parquet import write_table

    with path.open("wb") as file:
        write_table(pyarrow.table({key: [row.get(key) for row in rows] for key in _header(rows)}), file)
