"""`pagekin build` and `pagekin demo`: read sources into a store, and try it on the sample web."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import click

import pagekin
from pagekin.cli.options import json_option, options_from
from pagekin.cli.output import bytes_of, counted, print_result, print_table, progress_bar, vectors_in_words
from pagekin.errors import MisuseError
from pagekin.model.capture import MiB, ReadingSettings

_STRAY = 0.95  # share of links that leave the collection, above which a base URL looks wrong
_FEW = 20  # links below which that share says nothing
_SHOWN = ("http://treeroom.example/oak.html", "http://worldpages.example/ja/aizome.html")
_QUERIES = (_SHOWN[0], "http://slowoven.example/starter.html", "http://mirror.example/", _SHOWN[1])


@click.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(), metavar="SOURCE...")
@click.option("-o", "--output", required=True, type=click.Path(), help="The store to write, such as my.kin.")
@click.option(
    "--base-url",
    multiple=True,
    help="The URL of a folder: once for all folders, or once for each in order. `http://` if each subfolder is a host.",
)
@click.option("--strategy", default="default", help="A preset (default, paper) or a TOML file.")
@click.option(
    "--vectors",
    type=click.Path(),
    metavar="FILE",
    help="Vectors of the pages from any encoder: NAME.npy beside NAME.urls, or a Parquet file with url and vector.",
)
@click.option("--language", help="The language of pages that do not declare one, such as de. Default: the strategy's.")
@click.option("--processes", type=int, help="Number of worker processes. Default: one per processor.")
@click.option("--memory", default="4GiB", help="Start no more workers than fit into this memory.")
@click.option("--max-page-size", default=16, type=click.IntRange(1, 1024), help="Skip larger pages; in MiB.")
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
    memory: str,
    max_page_size: int,
    options: ReadingSettings,
    allow_shrink: bool,
    quiet: bool,
    json: bool,
) -> None:
    """Read SOURCEs into a store.

    A SOURCE is a folder of HTML, an .html file, a .warc, .warc.gz or .wacz archive, or a .jsonl file of pages. Sources
    that have not changed since the last build are not read again; pages that are gone disappear. If there are no pages,
    or fewer than half of those that the store has, the build fails and the store stays as it is.
    """
    from pagekin.model.strategy import strategy_named

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


@click.command()
@click.option("--output", default="pagekin-demo", type=click.Path(), help="The folder to work in.")
@click.option("--serve/--no-serve", default=None, help="End on a page to explore it; by default on a terminal.")
def demo(output: str, serve: bool | None) -> None:
    """Read the sample web, a small web of 22 hosts that comes with pagekin, and look at some of its pages.

    On a terminal it ends on a page to explore it, which Ctrl-C stops.
    """
    from pagekin import sample_web
    from pagekin.cli import serve as serving
    from pagekin.cli.info import print_info, print_page
    from pagekin.cli.related import print_related

    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise MisuseError(f"{folder} is a file; name a folder to work in")
    folder.mkdir(parents=True, exist_ok=True)
    archive, store = folder / sample_web.ARCHIVE, folder / "sample_web.kin"
    if not archive.exists():
        sample_web.copy_to(folder)
    click.secho(f"$ pagekin build {archive} -o {store}", bold=True)
    with progress_bar(quiet=False) as progress:
        collection = pagekin.build(archive, store, progress=progress)
    print_build(collection, str(store))
    click.secho(f"\n$ pagekin info {store}", bold=True)
    print_info(collection.info())
    for page in _SHOWN:
        click.secho(f"\n$ pagekin show {store} {page}", bold=True)
        print_page(collection.page(page))
    for page in _QUERIES:
        click.secho(f"\n$ pagekin related {store} {page}", bold=True)
        print_related(collection.related(page))
    click.secho(f"\n$ pagekin serve {store}", bold=True)
    watched = sys.stdin.isatty() and sys.stdout.isatty()
    if watched if serve is None else serve:
        serving.serve.main([str(store), "--port", "0"], standalone_mode=False)
    else:
        click.echo("serves a page to explore it, and an API for programs; needs pagekin[serve].")
