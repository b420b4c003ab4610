"""`pagekin build`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.options import options_from
from pagekin.cli.output import bytes_of, counted, json_option, print_result, print_table, progress_bar
from pagekin.model.options import from_values
from pagekin.model.settings import MiB, ReadingSettings

if TYPE_CHECKING:
    from pagekin.collection.collection import Collection

_STRAY = 0.95  # share of links that leave the collection, above which a base URL looks wrong
_FEW = 20  # links below which that share says nothing


@click.command("build")
@click.argument("sources", nargs=-1, required=True, type=click.Path(), metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(), help="The store to write, such as my.kin.")
@click.option(
    "--base-url",
    multiple=True,
    help="The URL of a folder: once for all folders, or once for each in order. `http://` if each subfolder is a host.",
)
@click.option("--strategy", default="default", show_default=True, help="A preset (default, paper) or a TOML file.")
@click.option("--language", help="The language of pages that do not declare one, such as de. Default: the strategy's.")
@click.option("--processes", type=int, help="Number of worker processes. Default: one per processor.")
@click.option("--memory", default="4GiB", show_default=True, help="Start no more workers than fit into this memory.")
@click.option(
    "--max-page-size", default=16, show_default=True, type=click.IntRange(1, 1024), help="Skip larger pages; in MiB."
)
@options_from(ReadingSettings)
@click.option("-q", "--quiet", is_flag=True, help="Print no progress bar and no report.")
@json_option
def command(
    sources: tuple[str, ...],
    output: str,
    base_url: tuple[str, ...],
    strategy: str,
    language: str | None,
    processes: int | None,
    memory: str,
    max_page_size: int,
    quiet: bool,
    json: bool,
    **values: Any,
) -> None:
    """Read SOURCEs into a store.

    A SOURCE is a folder of HTML, an .html file, a .warc, .warc.gz or .wacz archive, or a .jsonl file of pages. Sources
    that have not changed since the last build are not read again; pages that are gone disappear.
    """
    from pagekin.collection.collection import build
    from pagekin.model.strategy import strategy_named

    chosen = strategy_named(strategy)
    with progress_bar(quiet or json) as progress:
        collection = build(
            sources,
            output,
            base_urls=base_url,
            settings=from_values(ReadingSettings, {**values, "max_page_bytes": max_page_size * MiB}),
            strategy=replace(chosen, language=language) if language else chosen,
            processes=processes,
            memory=bytes_of(memory),
            progress=progress,
        )
    if json or not quiet:
        print_result(collection.built, json, lambda _: print_build(collection, output))


def print_build(collection: Collection, output: str) -> None:
    """Print what a build did."""
    built = collection.built
    assert built is not None
    counts = built.counts
    if not built.changed:
        return click.echo(f"Nothing has changed; {output} holds {counted(counts['pages'], 'page')}.")
    pages, hosts = (counted(counts[f"{noun}s"], noun) for noun in ("page", "host"))
    click.echo(f"{output}: {pages} of {hosts}, {counted(built.inner_links, 'link')} between them")
    click.echo(f"  {counted(built.read, 'page')} read, {built.reused:,} unchanged since the last build")
    if built.skipped:
        click.echo("Skipped or cut:")
        print_table([(n, reason) for reason, n in sorted(built.skipped.items(), key=lambda item: (-item[1], item[0]))])
    if counts["links"] >= _FEW and counts["links"] - built.inner_links > _STRAY * counts["links"]:
        click.echo(f"Nearly all of {counted(counts['links'], 'link')} lead to pages that are not in the collection.")
        click.echo("Is the folder that you named the root of the site, and --base-url its address?")
    if counts["pages"]:
        click.echo("Try next:  " + shlex.join(["pagekin", "related", output, next(iter(collection)).url]))
    return None
