"""`pagekin build`: read sources into a store."""

from __future__ import annotations

import shlex
from dataclasses import replace

import click

import pagekin
from pagekin.cli.options import json_option, options_from
from pagekin.cli.output import bytes_of, counted, print_result, print_table, vectors_in_words
from pagekin.cli.progress import progress_bar
from pagekin.model.capture import MiB, ReadingSettings
from pagekin.search.options import MOST_ANSWERS

_STRAY = 0.95  # share of links that leave the collection, above which a base URL looks wrong
_FEW = 20  # links below which that share says nothing


@click.command(short_help="Read pages into a store and index them.")
@click.argument("sources", nargs=-1, required=True, type=click.Path(), metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(), help="The store to write, such as my.kin.")
@click.option(
    "--base-url",
    multiple=True,
    help="The URL of a folder: once for all folders, or once for each in order. `http://` if each subfolder is a host.",
)
@click.option(
    "--strategy",
    default="default",
    help="How pages are compared: a preset (default, text-only, fast, paper) or a TOML file.",
)
@click.option(
    "--vectors",
    type=click.Path(),
    metavar="FILE",
    help="Vectors of the pages from any encoder: NAME.npy beside NAME.urls, or a Parquet file with url and vector.",
)
@click.option("--language", help="The language of pages that do not declare one, such as de. Default: the strategy's.")
@click.option("--processes", type=int, help="Number of worker processes. Default: one per processor.")
@click.option("--engine", type=click.Choice(["local", "spark"]), default="local", help="Where the build runs.")
@click.option("--master", metavar="URL", help="The Spark cluster, such as spark://HOST:7077. Default: this machine.")
@click.option(
    "--answers",
    type=click.IntRange(0, MOST_ANSWERS),
    metavar="K",
    help="Find the K best related pages of every page in advance. Default: as many as the store has kept so far.",
)
@click.option(
    "--shards",
    type=click.IntRange(1),
    metavar="N",
    help="Divide the files into N shards, each a range of pages. Default: as many as the store has, or 1.",
)
@click.option("--memory", default="4GiB", help="Start no more workers than fit into this memory.")
@click.option("--max-page-size", default=16, type=click.IntRange(1, 1024), help="Skip pages larger than this; in MiB.")
@options_from(ReadingSettings)
@click.option("--allow-shrink", is_flag=True, help="Accept that the store loses more than half of its pages.")
@click.option("-q", "--quiet", is_flag=True, help="Print no progress bar and no report.")
@json_option
def build(
    sources: tuple[str, ...],
    output: str,
    base_url: tuple[str, ...],
    strategy: str,
    vectors: str | None,
    language: str | None,
    processes: int | None,
    engine: str,
    master: str | None,
    answers: int | None,
    shards: int | None,
    memory: str,
    max_page_size: int,
    options: ReadingSettings,
    allow_shrink: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Read SOURCEs into a store.

    A SOURCE is a folder of HTML or Markdown, an .html or .md file, a .warc, .warc.gz or .wacz archive, a MediaWiki
    dump (.xml, .xml.bz2), a .zim file, or a .jsonl file of pages. Sources that have not changed since the last build
    are not read again; pages that are gone disappear. If there are no pages, or fewer than half of those that the store
    has, the build fails and the store stays as it is.
    """
    from pagekin.cli.main import compile_before
    from pagekin.model.strategy import strategy_named

    compile_before("build")  # before workers start, which would all compile
    chosen = strategy_named(strategy)
    with progress_bar(quiet or json) as progress:
        collection = pagekin.build(
            sources,
            output,
            base_urls=base_url,
            settings=replace(options, max_page_bytes=max_page_size * MiB),
            strategy=replace(chosen, language=language) if language else chosen,
            vectors=vectors,
            processes=processes,
            memory=bytes_of(memory),
            allow_shrink=allow_shrink,
            engine=engine,
            master=master,
            answers=answers,
            shards=shards,
            progress=progress,
        )
    if json or not quiet:
        print_result(collection.built, json, lambda _: print_build(collection, output))


def print_build(collection: pagekin.Collection, output: str) -> None:
    built = collection.built
    assert built is not None
    counts = built.counts
    if not built.changed:
        return click.echo(f"Nothing has changed; {output} holds {counted(counts['pages'], 'page')}.")
    pages, hosts = (counted(counts[f"{noun}s"], noun) for noun in ("page", "host"))
    click.echo(f"{output}: {pages} of {hosts}, {counted(built.inner_links, 'link')} between them")
    click.echo(f"  {counted(built.read, 'page')} read, {built.reused:,} unchanged since the last build")
    if built.vectors:
        click.echo(f"  {vectors_in_words(built.vectors)}")
    if built.skipped:
        click.echo("Skipped or cut:")
        print_table([(n, reason) for reason, n in sorted(built.skipped.items(), key=lambda item: (-item[1], item[0]))])
    if counts["links"] >= _FEW and counts["links"] - built.inner_links > _STRAY * counts["links"]:
        click.echo(f"Nearly all of {counted(counts['links'], 'link')} lead to pages that are not in the collection.")
        click.echo("Is the folder that you named the root of the site, and --base-url its address?")
    return click.echo("Try next:  " + shlex.join(["pagekin", "related", output, next(iter(collection)).url]))
