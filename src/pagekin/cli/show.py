"""`pagekin show`."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from pagekin.cli.output import clean, json_option, opened, print_result, print_table, store_argument

if TYPE_CHECKING:
    from pagekin.collection.pages import PageDetails

_ANCHORS = 10  # anchor texts that are shown


@click.command("show")
@store_argument
@click.argument("page")
@click.option("--text", is_flag=True, help="Print the whole visible text.")
@json_option
def command(store: str, page: str, text: bool, json: bool) -> None:
    """What a store knows of PAGE: a URL, a file, or words of its title."""
    print_result(opened(store).page(page, text=text), json, print_page)


def print_page(page: PageDetails) -> None:
    """Print the text of a page if it was asked for, else what is known of the page."""
    if page.text is not None:
        return click.echo(clean(page.text))
    click.echo(clean(page.title or "(no title)"))
    click.echo(clean(page.url))
    details = [page.language or "language unknown", page.charset, f"{page.words:,} words"]
    if page.captured:
        details.append(f"captured {page.captured[:10]}")
    click.echo("  " + ", ".join(details) + f", from {clean(page.source)}")
    for url, kind in page.aliases:
        click.echo(f"  also {clean(url)} ({kind})")
    click.echo("  about " + clean(", ".join(term for term, _ in page.top_terms)))
    click.echo()
    click.echo(textwrap.fill(clean(page.excerpt), 100))
    click.echo(f"\n{page.in_degree:,} pages link here" + (", saying:" if page.anchor_texts else ""))
    print_table([(count, text or "(no words)") for text, count in page.anchor_texts[:_ANCHORS]])
    if page.linked_from:
        click.echo("Linked from:")
        print_table([(each.url, each.title) for each in page.linked_from])
    click.echo(f"Links to {page.out_degree:,} pages" + (":" if page.links_to else ""))
    return print_table([(each.url, each.title) for each in page.links_to])
