"""`pagekin export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pagekin.cli.options import options_from
from pagekin.cli.output import counted, json_option, opened, print_result, store_argument, watched
from pagekin.model.options import from_values
from pagekin.search.options import RelatedOptions

_UNUSED = ("explain", "group_duplicates")


@click.command("export")
@store_argument
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False),
    help="The file to write, such as answers.tsv; answers.parquet needs pagekin[parquet].",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["tsv", "trec", "csv", "jsonl", "parquet"]),
    help="The format. Default: the suffix of the output.",
)
@click.option(
    "--queries",
    type=click.Path(exists=True, dir_okay=False),
    help="A file of page names, one a line. Default: all pages.",
)
@options_from(RelatedOptions, leave_out=_UNUSED, min_similarity=0.0)
@json_option
def command(store: str, output: str, kind: str | None, queries: str | None, json: bool, **values: Any) -> None:
    """Write the related pages of every page into a file for other programs."""
    options = from_values(RelatedOptions, values)
    names = None
    if queries is not None:
        lines = Path(queries).read_text("utf-8", "replace").splitlines()
        names = [line.strip() for line in lines if line.strip()]
    report = opened(store).export(
        output, options, format=kind, queries=names, progress=lambda names: watched(names, "ranking")
    )
    print_result(
        report,
        json,
        lambda it: click.echo(f"{output}: {counted(it.answers, 'answer')} for {counted(it.pages, 'page')}"),
    )
