"""Sweeps: many strategies evaluated side by side, with a table and a report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError, need
from pagekin.evaluation.labels import LeftOutReason
from pagekin.evaluation.sweep import SweepOutcome, csv_lines, write_parquet
from pagekin.evaluation.sweep import sweep as run_sweep
from pagekin.evaluation.sweep_plan import BASELINE, SweepPlan, baselines_named, paper_plan, read_plan
from pagekin.evaluation.sweep_report import report
from pagekin.model.files import write_lines, written_whole
from pagekin.model.jsons import to_json
from pagekin.pipeline import Progress


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
    rows, left_out = swept.rows(), swept.labelled.notes.reasons()
    files = _write(swept, {"rows": rows, "left_out": to_json(left_out)}, folder)
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
    others = (entry for entry in plan.baselines if entry.kind != BASELINE)
    return replace(plan, baselines=(*baselines_named(references, "--references", ""), *others))


def _write(swept: SweepOutcome, results: dict[str, Any], folder: Path) -> list[str]:
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
