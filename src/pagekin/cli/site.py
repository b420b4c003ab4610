"""`pagekin site`: related links in a built static site."""

from __future__ import annotations

import sys

import click
from click.core import ParameterSource

import pagekin
from pagekin.cli.options import json_option, options_from
from pagekin.cli.output import clean, counted, print_result
from pagekin.cli.progress import progress_bar
from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError
from pagekin.site.options import SiteOptions

_DONE = {
    "insert": "list inserted",
    "update": "list updated",
    "remove": "list removed",
    "write": "written",
    "delete": "deleted",
}


@click.command(short_help="Put related links into a built static site.")
@click.argument("folder", type=click.Path())
@click.option("--inject", is_flag=True, help="Insert a list of related pages into each page.")
@click.option("--data", type=click.Path(dir_okay=False), metavar="FILE", help="Also write a data file for templates.")
@click.option("--index", type=click.Path(), help="The index to keep for the next run. Default: FOLDER.kin.")
@click.option("--revert", is_flag=True, help="Remove everything that pagekin has put into the site, byte for byte.")
@click.option("--dry-run", is_flag=True, help="List what would change, and leave the site as it is.")
@click.option("--check", is_flag=True, help="Like --dry-run, and exit with 1 if anything would change.")
@options_from(SiteOptions)
@click.option("--processes", type=int, help="Number of worker processes. Default: one per processor.")
@click.option("-q", "--quiet", is_flag=True, help="Print only problems.")
@json_option
def site(
    folder: str,
    inject: bool,
    data: str | None,
    index: str | None,
    revert: bool,
    dry_run: bool,
    check: bool,
    options: SiteOptions,
    processes: int | None,
    quiet: bool,
    json: bool,
) -> None:
    """Find the related pages of every page in FOLDER, which a generator of static sites has written.

    They are written to FOLDER/pagekin: related.json, and a file for each page. The index is kept, so that pages that
    have not changed cost nothing in the next run.
    """
    looking = dry_run or check
    source = click.get_current_context().get_parameter_source
    if revert and ParameterSource.COMMANDLINE in (source("inject"), source("data")):
        raise MisuseError("--revert takes lists out of the site; it cannot be used with --inject or --data")
    if revert:
        report = pagekin.revert_site(folder, dry_run=looking)
    else:
        with progress_bar(quiet or json) as progress:
            report = pagekin.update_site(
                folder,
                options,
                index=index,
                data=data,
                inject=inject,
                dry_run=looking,
                processes=processes or cpu_count(),
                progress=progress,
            )
    if json or not quiet:
        print_result(report, json, lambda report: print_site(report, looking))
    for path, problem in report.problems:
        click.echo(f"pagekin: {clean(path)} {clean(problem)}; it was left as it is", err=True)
    if report.problems or (check and report.changes):
        sys.exit(1)


def print_site(report: pagekin.SiteReport, listed: bool) -> None:
    lists = f", {counted(report.lists, 'list')} with {counted(report.links, 'link')}" if report.index else ""
    click.echo(f"{report.folder}: {counted(report.pages, 'page')}{lists}")
    if listed:
        for change in report.changes:
            click.echo(f"  would {change.action} {clean(change.path)}")
    else:
        for action, done in _DONE.items():
            if count := sum(change.action == action for change in report.changes):
                noun = "file" if action in ("write", "delete") else "page"
                click.echo(f"  {counted(count, noun)}: {done}")
    if not report.changes:
        click.echo("  nothing would change" if listed else "  nothing has changed")
    for reason, count, example in report.left_out:
        click.echo(f"  {counted(count, 'page')} left out: {clean(example)} {clean(reason)}")
