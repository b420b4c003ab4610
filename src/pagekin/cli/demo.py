"""`pagekin demo`: what pagekin finds in the sample web."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import pagekin
from pagekin.cli.output import clean, counted
from pagekin.cli.progress import progress_bar
from pagekin.errors import MisuseError

_PAGE = "http://treeroom.example/oak.html"
_LOOSE, _TIGHT = 0.3, 0.9  # alphas


@click.command(short_help="Try pagekin on the sample web.")
@click.option("--output", default="pagekin-demo", type=click.Path(), help="The folder to work in.")
@click.option("--serve/--no-serve", default=None, help="Serve the sample web at the end; by default on a terminal.")
def demo(output: str, serve: bool | None) -> None:
    """Build the sample web, a small web of 22 hosts that comes with pagekin, and show what pagekin finds in it.

    On a terminal it then serves a web page to explore it, until Ctrl-C.
    """
    from pagekin import sample_web
    from pagekin.cli import serve as serving

    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise MisuseError(f"{folder} is a file; name a folder to work in")
    folder.mkdir(parents=True, exist_ok=True)
    archive, store = folder / sample_web.ARCHIVE, folder / "sample_web.kin"
    if not (archive.exists() and (folder / sample_web.LABELS).exists()):
        sample_web.copy_to(folder)
    _say("A crawl of small hosts that comes with pagekin is read and indexed:", f"build {archive} -o {store}")
    with progress_bar(quiet=False) as progress:
        collection = pagekin.build(archive, store, progress=progress)
    info = collection.info().counts
    click.echo(f"{counted(info['pages'], 'page')} of {counted(info['hosts'], 'host')}")
    for show in (_show_related, _show_duplicates, _show_clusters, _show_quality):
        click.echo()
        show(collection, store)
    click.echo()
    watched = sys.stdin.isatty() and sys.stdout.isatty()
    if watched if serve is None else serve:
        serving.serve.main([str(store), "--port", "0"], standalone_mode=False)
    else:
        _say("A web page to explore it, and an API for programs (needs pagekin[serve]):", f"serve {store}")


def _say(sentence: str, command: str) -> None:
    click.echo(sentence)
    click.secho(f"$ pagekin {command}", bold=True)


def _show_related(collection: pagekin.Collection, store: Path) -> None:
    from pagekin.cli.related import print_related

    _say(
        "Which pages are related to a page, and why, apart from those that it links to?",
        f"related {store} {_PAGE} --exclude-linked --limit 2",
    )
    print_related(collection.related(_PAGE, exclude_linked=True, limit=2))


def _show_duplicates(collection: pagekin.Collection, store: Path) -> None:
    found = collection.duplicates(chunk_bytes=64)
    groups = counted(len(found.groups), "group")
    _say(f"Which pages are nearly the same? The first of {groups}:", f"duplicates {store} --chunk-size 64")
    for group in found.groups[:1]:
        click.echo(f"{clean(group.anchor.url)}  {clean(group.anchor.title)}")
        for member in group.members:
            click.echo(f"  {member.overlap.similarity:.3f}  {clean(member.page.url)}  {clean(member.page.title)}")


def _show_clusters(collection: pagekin.Collection, store: Path) -> None:
    alphas = f"--alpha {_LOOSE} --alpha {_TIGHT}"
    _say("Which pages are next to it by links alone? Loose and tight clusters:", f"cluster {store} {_PAGE} {alphas}")
    for alpha in (_LOOSE, _TIGHT):
        titles = [clean(each.title) for each in collection.clusters(_PAGE, alpha=(alpha,), limit=4).related]
        click.echo(f"alpha {alpha}: {' | '.join(titles)}")


def _show_quality(collection: pagekin.Collection, store: Path) -> None:
    from pagekin.sample_web import LABELS

    labels = store.parent / LABELS
    _say("How good is the ranking, by the topics that people gave the pages?", f"evaluate {store} --hierarchy {labels}")
    measured = collection.evaluate(labels).systems[0]
    gamma = measured.regions["unrelated"].gamma.value
    click.echo(
        f"{(1 + gamma) / 2:.0%} of the time a page of the same topic is ranked before an unrelated one;"
        f" nDCG@10 is {measured.ndcg.value:.2f}"
    )
