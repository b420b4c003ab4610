"""`pagekin sweep`."""

from __future__ import annotations

import json as jsons
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.output import clean, counted, json_option, progress_bar, say_json, say_table
from pagekin.errors import MisuseError, need
from pagekin.model.files import write_lines, written_whole

if TYPE_CHECKING:
    from pagekin.evaluation.sweep import SweepOutcome
    from pagekin.evaluation.sweep_plan import SweepPlan


@click.command("sweep")
@click.argument("sweep", required=False, type=click.Path(), metavar="[SWEEP.toml|STORE]")
@click.option("--hierarchy", metavar="FILE|path", help="As in `pagekin evaluate`; by default that of the sweep file.")
@click.option("--references", help="Which to judge, too, parted by commas: tf-idf, more-like-this, co-citation, lsa.")
@click.option("-o", "--output", type=click.Path(), help="A folder for results; by default SWEEP.sweep.")
@click.option("--threads", type=click.IntRange(1), help="By default as many as there are processors.")
@click.option("--print", "printing", is_flag=True, help="Print the sweep of the paper's figures, to start a file from.")
@json_option
def command(
    sweep: str | None,
    hierarchy: str | None,
    references: str | None,
    output: str | None,
    threads: int | None,
    printing: bool,
    json: bool,
) -> None:
    """Judge many strategies by a hierarchy, side by side.

    They are those of SWEEP.toml or, given a STORE, those of the paper's figures. Writes a table (results.csv,
    results.json and, if pyarrow is there, results.parquet) and report.html. A sweep that was stopped goes on.
    """
    from pagekin.engines.local import cpu_count
    from pagekin.evaluation.sweep import sweep as run_sweep
    from pagekin.evaluation.sweep_plan import paper_text

    if printing:
        click.echo(paper_text(), nl=False)
        return
    if sweep is None:
        raise MisuseError("name a sweep file, or a STORE to sweep by the figures of the paper")
    plan = _plan(sweep, hierarchy, references)
    folder = Path(output or f"{sweep.rstrip('/').removesuffix('.toml').removesuffix('.kin')}.sweep")
    with progress_bar(json) as show:
        swept = run_sweep(plan, folder, threads=threads or cpu_count(), progress=show)
        files = _write(swept, folder)
    if json:
        say_json(_result(swept, folder, files))
    else:
        _say(swept, folder, files)


def _plan(sweep: str, hierarchy: str | None, references: str | None) -> SweepPlan:
    from dataclasses import replace

    from pagekin.evaluation.baselines import BASELINES
    from pagekin.evaluation.sweep_plan import BASELINE, PlanEntry, paper_plan, read_plan

    path = Path(sweep)
    if path.is_dir():
        plan = paper_plan().with_population(sweep, hierarchy=hierarchy)
    elif path.is_file():
        plan = read_plan(path).with_population(None, hierarchy=hierarchy)
    else:
        raise MisuseError(
            f"there is no sweep file or store {sweep!r}; `pagekin sweep --print` prints a file to begin with"
        )
    if references is None:
        return plan
    names = [name.strip() for name in references.split(",") if name.strip()]
    for name in names:
        if name not in BASELINES:
            raise MisuseError(f"--references: there is no {name!r}; there are {', '.join(BASELINES)}")
    others = tuple(entry for entry in plan.baselines if entry.kind != BASELINE)
    return replace(plan, baselines=(*(PlanEntry(name, BASELINE, source=name) for name in names), *others))


def _write(swept: SweepOutcome, folder: Path) -> list[str]:
    """Write the table and the report, each whole or not at all; their names."""
    from pagekin.evaluation.report import as_json, left_out_reasons
    from pagekin.evaluation.sweep_report import report
    from pagekin.evaluation.sweep_results import csv_lines, write_parquet

    rows = swept.rows()
    write_lines(folder / "results.csv", csv_lines(rows))
    left_out = as_json(left_out_reasons(swept.labelled.notes))
    write_lines(folder / "results.json", [jsons.dumps({"rows": rows, "left_out": left_out}, ensure_ascii=False)])
    write_lines(folder / "report.html", [report(swept)])
    names = ["results.csv", "results.json", "report.html"]
    try:
        need("pyarrow.parquet", what="Parquet", extra="parquet")
    except MisuseError:
        return names
    with written_whole(folder / "results.parquet") as path:
        write_parquet(rows, path)
    return [*names, "results.parquet"]


def _result(swept: SweepOutcome, folder: Path, files: list[str]) -> dict[str, Any]:
    from pagekin.evaluation.report import as_json, left_out_reasons

    return {
        "output": str(folder),
        "files": files,
        "judged": swept.judged,
        "reused": len(swept.results) - swept.judged,
        "rows": swept.rows(),
        "left_out": as_json(left_out_reasons(swept.labelled.notes)),
    }


def _say(swept: SweepOutcome, folder: Path, files: list[str]) -> None:
    rows = swept.rows()
    click.echo(
        f"{counted(rows[0]['pages'], 'page')} in {rows[0]['classes']:,} classes of {clean(rows[0]['hierarchy'])}"
    )
    region = "sibling" if any(row.get("gamma sibling") is not None for row in rows) else "all"
    shown = (f"gamma {region}", f"somers_d {region}", "P@10", "nDCG@10", "orthogonal")
    for figure in dict.fromkeys(row["figure"] for row in rows):
        click.echo(f"\n{clean(figure)}")
        some = [row for row in rows if row["figure"] == figure]
        say_table([("", *shown), *((row["name"], *(_number(row[name]) for name in shown)) for row in some)])
    if swept.labelled.notes.rows():
        click.echo("\nLeft out, or to be borne in mind:")
        say_table([(n, reason, example and "e.g. " + example) for reason, n, example in swept.labelled.notes.rows()])
    again = len(swept.results) - swept.judged
    click.echo(f"\n{swept.judged:,} judged, {again:,} known from before; {folder}: {', '.join(files)}")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
