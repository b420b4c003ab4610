"""Evaluation of one ranking, or of many strategies side by side, by a hierarchy of classes; and the files it writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError, need
from pagekin.evaluation.baselines import BASELINES
from pagekin.evaluation.evaluate import judge_systems
from pagekin.evaluation.options import EvaluationOptions
from pagekin.evaluation.report import Evaluation, LeftOutReason, left_out_reasons, per_source_lines
from pagekin.evaluation.runs import qrel_lines, qrels_of, rankings_of, run_lines, untie
from pagekin.evaluation.sweep import SweepOutcome
from pagekin.evaluation.sweep import sweep as run_sweep
from pagekin.evaluation.sweep_plan import BASELINE, PlanEntry, SweepPlan, paper_plan, read_plan
from pagekin.evaluation.sweep_report import report
from pagekin.evaluation.sweep_results import csv_lines, write_parquet
from pagekin.model.files import write_lines, written_whole
from pagekin.model.jsons import to_json
from pagekin.pipeline import Progress
from pagekin.search.indexed_store import IndexedStore


def evaluate_and_write(
    indexed: IndexedStore | None,
    hierarchy: str,
    options: EvaluationOptions,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Evaluation:
    """Evaluate the index of a collection, another strategy or a run file, and write the files that options name."""
    threads = options.threads or cpu_count()
    judged = judge_systems(indexed, hierarchy, options, threads=threads, progress=progress)
    population, judgement = judged.labelled.population, judged.judgements[0]
    evaluation = judged.evaluation()
    if options.per_source:
        write_lines(Path(options.per_source), per_source_lines(judgement, population))
    if options.write_qrels:
        write_lines(Path(options.write_qrels), qrel_lines(qrels_of(population, judgement.sources)))
    if options.write_run:
        rankings = rankings_of(judged.systems[0], population, judgement.sources, options.run_depth)
        write_lines(Path(options.write_run), run_lines(untie(rankings)))
    return evaluation


@dataclass(frozen=True)
class SweepReport:
    """The results of a sweep; docs/json.md describes a row."""

    output: str
    files: list[str]
    judged: int  # in this run
    reused: int  # from an earlier run
    rows: list[dict[str, Any]]
    left_out: list[LeftOutReason]


def sweep(
    plan: str | Path,
    output: str | Path | None = None,
    *,
    hierarchy: str | Path | None = None,
    references: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> SweepReport:
    """Evaluate the strategies of a plan, and write a table and a report into the folder `output`.

    `plan` is a TOML file or, for the strategies of the paper, a store. `references` are systems to compare with:
    tf-idf, more-like-this, co-citation and lsa. A sweep that was stopped continues.

    >>> pagekin.sweep("missing.toml")
    Traceback (most recent call last):
    pagekin.errors.MisuseError: there is no sweep file or store 'missing.toml'; ...
    """
    name = str(plan)
    folder = Path(output or f"{name.rstrip('/').removesuffix('.toml').removesuffix('.kin')}.sweep")
    chosen = _plan(name, None if hierarchy is None else str(hierarchy), references)
    swept = run_sweep(chosen, folder, threads=threads or cpu_count(), progress=progress)
    rows, left_out = swept.rows(), left_out_reasons(swept.labelled.notes)
    files = _write_sweep(swept, {"rows": rows, "left_out": to_json(left_out)}, folder)
    return SweepReport(str(folder), files, swept.judged, len(swept.results) - swept.judged, rows, left_out)


def _plan(name: str, hierarchy: str | None, references: Sequence[str] | None) -> SweepPlan:
    path = Path(name)
    if path.is_dir():
        plan = paper_plan().with_population(name, hierarchy=hierarchy)
    elif path.is_file():
        plan = read_plan(path).with_population(None, hierarchy=hierarchy)
    else:
        raise MisuseError(
            f"there is no sweep file or store {name!r}; `pagekin sweep --print` prints a file to begin with"
        )
    if references is None:
        return plan
    for each in references:
        if each not in BASELINES:
            raise MisuseError(f"--references: there is no {each!r}; there are {', '.join(BASELINES)}")
    others = tuple(entry for entry in plan.baselines if entry.kind != BASELINE)
    return replace(plan, baselines=(*(PlanEntry(each, BASELINE, source=each) for each in references), *others))


def _write_sweep(swept: SweepOutcome, results: dict[str, Any], folder: Path) -> list[str]:
    """Write the table and the report, each completely or not at all; return their names."""
    write_lines(folder / "results.csv", csv_lines(results["rows"]))
    write_lines(folder / "results.json", [json.dumps(results, ensure_ascii=False)])
    write_lines(folder / "report.html", [report(swept)])
    names = ["results.csv", "results.json", "report.html"]
    try:
        need("pyarrow.parquet", what="Parquet", extra="parquet")
    except MisuseError:
        return names
    with written_whole(folder / "results.parquet") as path:
        write_parquet(results["rows"], path)
    return [*names, "results.parquet"]
