"""`pagekin demo`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pagekin.cli.output import progress_bar
from pagekin.errors import MisuseError

_PAGES = ("http://treeroom.example/oak.html", "http://worldpages.example/ja/aizome.html")

_ASKED = (
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
    from pagekin.cli import build, info, related, show
    from pagekin.cli import serve as serving
    from pagekin.pipeline import build as read
    from pagekin.search.indexed_store import IndexedStore
    from pagekin.shapes.info import describe as collection
    from pagekin.shapes.page import describe as page_facts

    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise MisuseError(f"{folder} is a file; name a folder to work in")
    folder.mkdir(parents=True, exist_ok=True)
    archive, store = folder / sample_web.ARCHIVE, folder / "sample_web.kin"
    if not archive.exists():
        sample_web.copy_to(folder)
    click.secho(f"$ pagekin build {archive} -o {store}", bold=True)
    with progress_bar(quiet=False) as progress:
        built = read([archive], store, progress=progress)
    build.say(built, str(store))
    click.secho(f"\n$ pagekin info {store}", bold=True)
    opened = IndexedStore.open(store)
    info.say(str(store), collection(opened))
    for page in _PAGES:
        click.secho(f"\n$ pagekin show {store} {page}", bold=True)
        show.say(page_facts(opened, opened.find(page)))
    for page in _ASKED:
        click.secho(f"\n$ pagekin related {store} {page}", bold=True)
        related.say(opened.related(page))
    click.secho(f"\n$ pagekin serve {store}", bold=True)
    watched = sys.stdin.isatty() and sys.stdout.isatty()
    if watched if serve is None else serve:
        serving.command.main([str(store), "--port", "0"], standalone_mode=False)
    else:
        click.echo("serves a page to explore it, and an API for programs; needs pagekin[serve].")
