"""`pagekin sweep`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pagekin.cli.evaluate import print_left_out
from pagekin.cli.output import clean, counted, json_option, print_result, print_table, progress_bar
from pagekin.errors import MisuseError

if TYPE_CHECKING:
    from pagekin.collection.sweep import SweepReport


@click.command("sweep")
@click.argument("plan", required=False, type=click.Path(), metavar="[SWEEP.toml|STORE]")
@click.option("--hierarchy", metavar="FILE|path", help="As in `pagekin evaluate`. Default: that of the sweep file.")
@click.option(
    "--references", help="Systems to compare with, separated by commas: tf-idf, more-like-this, co-citation, lsa."
)
@click.option("-o", "--output", type=click.Path(), help="The folder for results. Default: SWEEP.sweep.")
@click.option("--threads", type=click.IntRange(1), help="Number of threads. Default: one per processor.")
@click.option("--print", "printing", is_flag=True, help="Print the sweep of the paper's figures, to start a file from.")
@json_option
def command(
    plan: str | None,
    hierarchy: str | None,
    references: str | None,
    output: str | None,
    threads: int | None,
    printing: bool,
    json: bool,
) -> None:
    """Evaluate many strategies by a hierarchy, side by side.

    They are those of SWEEP.toml or, given a STORE, those of the paper's figures. Writes a table (results.csv,
    results.json and, if pyarrow is installed, results.parquet) and report.html. A sweep that was stopped continues.
    """
    from pagekin.collection.sweep import sweep
    from pagekin.evaluation.sweep_plan import paper_text

    if printing:
        return click.echo(paper_text(), nl=False)
    if plan is None:
        raise MisuseError("name a sweep file, or a STORE to sweep by the figures of the paper")
    names = None if references is None else [name.strip() for name in references.split(",") if name.strip()]
    with progress_bar(json) as progress:
        report = sweep(plan, output, hierarchy=hierarchy, references=names, threads=threads, progress=progress)
    return print_result(report, json, print_sweep)


def print_sweep(report: SweepReport) -> None:
    """Print a table of measures for each figure."""
    rows = report.rows
    click.echo(
        f"{counted(rows[0]['pages'], 'page')} in {rows[0]['classes']:,} classes of {clean(rows[0]['hierarchy'])}"
    )
    region = "sibling" if any(row.get("gamma sibling") is not None for row in rows) else "all"
    shown = (f"gamma {region}", f"somers_d {region}", "P@10", "nDCG@10", "orthogonal")
    for figure in dict.fromkeys(row["figure"] for row in rows):
        click.echo(f"\n{clean(figure)}")
        some = [row for row in rows if row["figure"] == figure]
        numbers = (["-" if row[name] is None else f"{row[name]:.3f}" for name in shown] for row in some)
        print_table([("", *shown), *((row["name"], *each) for row, each in zip(some, numbers, strict=True))])
    if report.left_out:
        click.echo()
    print_left_out(report.left_out)
    files = ", ".join(report.files)
    click.echo(f"\n{report.judged:,} evaluated, {report.reused:,} known from before; {report.output}: {files}")
