"""`pagekin build`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pagekin.cli.output import bytes_of, counted, json_option, progress_bar, say_json, say_table

if TYPE_CHECKING:
    from pagekin.pipeline import Built

_STRAY = 0.95  # share of links that lead out of the collection, from which on a base URL looks wrong
_SOME = 20  # links below which that says nothing


@click.command("build")
@click.argument("sources", nargs=-1, required=True, type=click.Path(), metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(), help="The store to write, such as my.kin.")
@click.option(
    "--base-url",
    multiple=True,
    help="URL of a folder's top; once for all folders, or once each in order. `http://` if each top folder is a host.",
)
@click.option("--strategy", default="default", show_default=True, help="A preset (default, paper) or a TOML file.")
@click.option("--language", help="Of pages that do not name theirs, such as de; instead of the strategy's.")
@click.option("--processes", type=int, help="Workers, on a processor each; by default as many as there are processors.")
@click.option("--memory", default="4GiB", show_default=True, help="No more workers than fit into it.")
@click.option("--max-page-size", default=16, show_default=True, type=click.IntRange(1, 1024), help="In MiB.")
@click.option("--max-links", default=50_000, show_default=True, type=click.IntRange(1), help="Links kept of one page.")
@click.option("--max-url-length", default=4_096, show_default=True, type=click.IntRange(1), help="In bytes.")
@click.option("--obey-noindex", is_flag=True, help="Leave out pages that ask not to be indexed.")
@click.option("--obey-nofollow", is_flag=True, help="Do not count links that ask not to be followed.")
@click.option("--chop-host", is_flag=True, help="Treat all pages of a host as one.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar and no report.")
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
    max_links: int,
    max_url_length: int,
    obey_noindex: bool,
    obey_nofollow: bool,
    chop_host: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Read SOURCEs into a store.

    A SOURCE is a folder of HTML, an .html file, a .warc, .warc.gz or .wacz archive, or a .jsonl file of pages. What
    has not changed since the last build is not read again; what is gone disappears.
    """
    from pagekin.model.settings import MiB, ReadingSettings
    from pagekin.model.strategy import strategy_named
    from pagekin.pipeline import build

    settings = ReadingSettings(
        max_page_bytes=max_page_size * MiB,
        max_links=max_links,
        max_url_bytes=max_url_length,
        obey_noindex=obey_noindex,
        obey_nofollow=obey_nofollow,
        chop_host=chop_host,
    )
    chosen = strategy_named(strategy)
    with progress_bar(quiet or json) as progress:
        built = build(
            sources,
            output,
            base_urls=base_url,
            settings=settings,
            strategy=replace(chosen, language=language) if language else chosen,
            processes=processes,
            memory=bytes_of(memory),
            progress=progress,
        )
    if json:
        say_json(report(built))
    elif not quiet:
        say(built, output)


def report(built: Built) -> dict[str, object]:
    """What a build did, as JSON."""
    manifest = built.store.manifest
    return {
        "store": str(built.store.root),
        "generation": manifest.generation,
        "changed": built.changed,
        "read": built.read,
        "reused": built.reused,
        "counts": manifest.counts,
        "skipped": manifest.skipped,
    }


def say(built: Built, output: str) -> None:
    """Tell people what a build did."""
    counts = built.store.manifest.counts
    if not built.changed:
        click.echo(f"Nothing has changed; {output} holds {counted(counts['pages'], 'page')}.")
        return
    between = int(built.store.links.offsets[len(built.store.nodes) - 1])
    pages, hosts = (counted(counts[f"{noun}s"], noun) for noun in ("page", "host"))
    click.echo(f"{output}: {pages} of {hosts}, {counted(between, 'link')} between them")
    click.echo(f"  {counted(built.read, 'page')} read, {built.reused:,} taken over from before")
    skipped = built.store.manifest.skipped
    if skipped:
        click.echo("Skipped or cut:")
        say_table([(count, reason) for reason, count in sorted(skipped.items(), key=lambda item: (-item[1], item[0]))])
    if counts["links"] >= _SOME and counts["links"] - between > _STRAY * counts["links"]:
        click.echo(f"Of {counted(counts['links'], 'link')} nearly all lead to pages that are not in the collection.")
        click.echo("Is the root of the site the folder that you named, and its address that of --base-url?")
    if counts["pages"]:
        click.echo("Try next:  " + shlex.join(["pagekin", "related", output, built.store.reading.pages.url[0]]))
