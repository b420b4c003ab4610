"""`pagekin related`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pagekin.cli.duplicates_output import how
from pagekin.cli.output import clean, counted, json_option, say_json, store_argument
from pagekin.cli.similarity_options import (
    links_option,
    measured,
    share_of,
    similarity_option,
    weighting_of,
    weights_option,
)
from pagekin.errors import MisuseError
from pagekin.shapes.related import report

if TYPE_CHECKING:
    from pagekin.search.results import RelatedPage


@click.command("related")
@store_argument
@click.argument("pages", nargs=-1, metavar="[PAGE...]")
@click.option(
    "--html", type=str, metavar="FILE", help="Ask for an HTML file that is not in the collection; - reads it here."
)
@click.option("--text", type=str, metavar="FILE", help="Ask for a text; - is the standard input.")
@click.option(
    "--limit", default=10, show_default=True, type=click.IntRange(1), help="At most so many pages, or groups of them."
)
@click.option(
    "--min-similarity", default=0.05, show_default=True, type=click.FloatRange(0, 1), help="Rather fewer than worse."
)
@similarity_option
@weights_option
@click.option("--exclude-host", is_flag=True, help="No pages of the same host.")
@click.option("--exclude-linked", is_flag=True, help="No pages that PAGE links to already.")
@click.option("--include", multiple=True, help="Only URLs that match this regular expression; may be repeated.")
@click.option("--exclude", multiple=True, help="No URLs that match this regular expression; may be repeated.")
@click.option("--pin", multiple=True, help="This page comes first; may be repeated.")
@click.option("--never", multiple=True, help="This page does not appear; may be repeated.")
@click.option("--outside", is_flag=True, help="Also pages that are known only from links.")
@links_option
@click.option(
    "--group-duplicates/--no-group-duplicates",
    default=True,
    show_default=True,
    help="Put pages that say the same under the best of them.",
)
@click.option("--expand", is_flag=True, help="Show who stands under whom.")
@click.option("--explain/--no-explain", default=True, show_default=True, help="Say why.")
@json_option
def command(
    store: str,
    pages: tuple[str, ...],
    html: str | None,
    text: str | None,
    limit: int,
    min_similarity: float,
    similarity: str | None,
    weights: str | None,
    exclude_host: bool,
    exclude_linked: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    pin: tuple[str, ...],
    never: tuple[str, ...],
    outside: bool,
    share: str | None,
    group_duplicates: bool,
    expand: bool,
    explain: bool,
    json: bool,
) -> None:
    """The pages that are kin to PAGE: a URL, a file of the collection, or words of a title.

    Several PAGEs are asked for as one.
    """
    from pagekin.search.indexed_store import IndexedStore
    from pagekin.search.options import RelatedOptions

    indexed = IndexedStore.open(store)
    options = RelatedOptions(
        limit=limit,
        min_similarity=min_similarity,
        similarity=measured(similarity, weights),
        weighting=weighting_of(weights),
        exclude_host=exclude_host,
        exclude_linked=exclude_linked,
        include=include,
        exclude=exclude,
        pin=pin,
        never=never,
        outside=outside,
        link_share=share_of(share),
        group_duplicates=group_duplicates,
        explain=explain,
    )
    file = html or text
    if bool(pages) + bool(html) + bool(text) != 1:
        raise MisuseError("ask for PAGEs, or with --html, or with --text")
    if file is not None:
        neighbors = indexed.related_to(_read(file, indexed.settings.max_page_bytes), options, plain=text is not None)
    else:
        neighbors = indexed.related(pages, options)
    if json:
        say_json(report(pages, neighbors, options.similarity or indexed.index.strategy.similarity))
    else:
        say(neighbors, expand)


def _read(name: str, limit: int) -> bytes:
    """A file, or the standard input for "-"; one byte more than a page may have, so that a larger one shows."""
    try:
        with click.open_file(name, "rb") as file:
            data: bytes = file.read(limit + 1)
    except OSError as error:
        raise MisuseError(f"{name} cannot be read: {error.strerror or error}") from error
    return data


def say(neighbors: list[RelatedPage], expand: bool = False) -> None:
    """Tell people an answer; if `expand`, with those that stand under others."""
    if not neighbors:
        click.echo("No page is similar enough; --min-similarity 0 shows the nearest.")
    for each in neighbors:
        click.echo(f"{each.similarity:.3f}  {clean(each.title or '(no title)')}{_remarks(each)}")
        click.echo(f"       {clean(each.url)}")
        if each.why.terms:
            words = ", ".join(f"{term} {share:.0%}" for term, share in each.why.terms)
            click.echo(f"       shares {clean(words)}")
        if len(each.why.parts) > 1:
            parts = " + ".join(f"{part.share:.2f} x {part.similarity:.3f} by {part.name}" for part in each.why.parts)
            click.echo(f"       = {parts}")
        if each.why.cited_by:
            places = zip(each.why.cited_by[:2], each.why.apart, strict=False)
            told = ", ".join(f"{clean(url)} ({counted(apart, 'word')} apart)" for url, apart in places)
            click.echo(f"       cited together by {told}")
        for duplicate in each.duplicates if expand else ():
            click.echo(f"       = {clean(duplicate.url)}{how(duplicate.overlap)}")


def _remarks(neighbor: RelatedPage) -> str:
    count = len(neighbor.duplicates)
    remarks = ["pinned"] if neighbor.pinned else []
    remarks += ["near-duplicate of the page asked for"] if neighbor.is_duplicate else []
    remarks += [f"and {counted(count, 'near-duplicate')}"] if count else []
    return f"  ({', '.join(remarks)})" if remarks else ""
