"""`pagekin check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pagekin.cli.output import json_option, opened, print_result, print_table, store_argument

if TYPE_CHECKING:
    from pagekin.collection.info import CheckReport


@click.command("check")
@store_argument
@json_option
def command(store: str, json: bool) -> None:
    """Compare every file of a store with its checksum; exit code 1 if one is damaged."""

    def print_report(report: CheckReport) -> None:
        if report.damaged:
            click.echo(f"{store} is damaged; build it again:")
            print_table(report.damaged)
        else:
            click.echo(f"{store}: all {report.files} files are as they were written.")

    report = opened(store).check()
    print_result(report, json, print_report)
    if report.damaged:
        raise SystemExit(1)
