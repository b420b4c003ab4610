"""`pagekin related`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.options import options_from
from pagekin.cli.output import clean, containment, counted, json_option, opened, print_result, store_argument
from pagekin.errors import MisuseError
from pagekin.model.options import from_values
from pagekin.search.options import RelatedOptions

if TYPE_CHECKING:
    from pagekin.search.results import RelatedPage, RelatedPages


@click.command("related")
@store_argument
@click.argument("pages", nargs=-1, metavar="[PAGE...]")
@click.option("--html", metavar="FILE", help="Query with an HTML file outside the collection; - is the standard input.")
@click.option("--text", metavar="FILE", help="Query with a text; - is the standard input.")
@options_from(RelatedOptions)
@click.option("--expand", is_flag=True, help="List the near-duplicates in each group.")
@json_option
def command(
    store: str, pages: tuple[str, ...], html: str | None, text: str | None, expand: bool, json: bool, **values: Any
) -> None:
    """The pages that are related to PAGE: a URL, a file of the collection, or words of a title.

    Several PAGEs are one query.
    """
    options = from_values(RelatedOptions, values)
    if bool(pages) + bool(html) + bool(text) != 1:
        raise MisuseError("name PAGEs, or a file with --html, or a file with --text")
    collection = opened(store)
    if file := html or text:
        body = _read(file, collection.indexed.settings.max_page_bytes)
        answer = collection.related_to(**{"html" if html else "text": body}, options=options)
    else:
        answer = collection.related(pages, options)
    print_result(answer, json, lambda answer: print_related(answer, expand))


def _read(name: str, limit: int) -> bytes:
    """A file, or the standard input for "-"; one byte more than a page may have, so that a larger one is noticed."""
    try:
        with click.open_file(name, "rb") as file:
            data: bytes = file.read(limit + 1)
    except OSError as error:
        raise MisuseError(f"{name} cannot be read: {error.strerror or error}") from error
    return data


def print_related(answer: RelatedPages, expand: bool = False) -> None:
    """Print related pages; if `expand`, with their near-duplicates."""
    if not answer:
        click.echo("No page is similar enough; --min-similarity 0 shows the nearest.")
    for each in answer:
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
            pages = ", ".join(f"{clean(url)} ({counted(apart, 'word')} apart)" for url, apart in places)
            click.echo(f"       cited together by {pages}")
        for duplicate in each.duplicates if expand else ():
            click.echo(f"       = {clean(duplicate.url)}{containment(duplicate.overlap)}")


def _remarks(page: RelatedPage) -> str:
    count = len(page.duplicates)
    remarks = ["pinned"] if page.pinned else []
    remarks += ["near-duplicate of the query page"] if page.is_duplicate else []
    remarks += [f"and {counted(count, 'near-duplicate')}"] if count else []
    return f"  ({', '.join(remarks)})" if remarks else ""
