"""`pagekin demo`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pagekin.cli.output import progress_bar
from pagekin.errors import MisuseError

_SHOWN = ("http://treeroom.example/oak.html", "http://worldpages.example/ja/aizome.html")
_QUERIES = (
    "http://treeroom.example/oak.html",
    "http://slowoven.example/starter.html",
    "http://mirror.example/",
    "http://worldpages.example/ja/aizome.html",
)


@click.command("demo")
@click.option("--output", default="pagekin-demo", show_default=True, type=click.Path(), help="The folder to work in.")
@click.option("--serve/--no-serve", default=None, help="End on a page to explore it; by default on a terminal.")
def command(output: str, serve: bool | None) -> None:
    """Read the sample web, a small web of 22 hosts that comes with pagekin, and look at some of its pages.

    On a terminal it ends on a page to explore it, which Ctrl-C stops.
    """
    from pagekin import sample_web
    from pagekin.cli import serve as serving
    from pagekin.cli.build import print_build
    from pagekin.cli.info import print_info
    from pagekin.cli.related import print_related
    from pagekin.cli.show import print_page
    from pagekin.collection.collection import build

    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise MisuseError(f"{folder} is a file; name a folder to work in")
    folder.mkdir(parents=True, exist_ok=True)
    archive, store = folder / sample_web.ARCHIVE, folder / "sample_web.kin"
    if not archive.exists():
        sample_web.copy_to(folder)
    click.secho(f"$ pagekin build {archive} -o {store}", bold=True)
    with progress_bar(quiet=False) as progress:
        collection = build(archive, store, progress=progress)
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
        serving.command.main([str(store), "--port", "0"], standalone_mode=False)
    else:
        click.echo("serves a page to explore it, and an API for programs; needs pagekin[serve].")
