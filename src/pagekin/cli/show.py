"""`pagekin show`."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from pagekin.cli.output import clean, json_option, say_json, say_table, store_argument
from pagekin.shapes.page import SHOWN, describe


@click.command("show")
@store_argument
@click.argument("page")
@click.option("--text", is_flag=True, help="Print the whole visible text.")
@json_option
def command(store: str, page: str, text: bool, json: bool) -> None:
    """What a store knows of PAGE: a URL, a file, or words of its title."""
    from pagekin.search.indexed_store import IndexedStore

    opened = IndexedStore.open(store)
    row = opened.find(page)
    if text and not json:
        click.echo(clean(opened.text(row)))
        return
    facts = describe(opened, row)
    if text:
        facts["text"] = opened.text(row)
    if json:
        say_json(facts)
    else:
        say(facts)


def say(facts: dict[str, Any]) -> None:
    """Tell people what is known of a page."""
    click.echo(clean(facts["title"] or "(no title)"))
    click.echo(clean(facts["url"]))
    details = [facts["language"] or "language unknown", facts["charset"], f"{facts['words']:,} words"]
    if facts["captured"]:
        details.append(f"captured {facts['captured'][:10]}")
    click.echo("  " + ", ".join(details) + f", from {clean(facts['source'])}")
    for alias in facts["aliases"]:
        click.echo(f"  also {clean(alias['url'])} ({alias['kind']})")
    click.echo("  about " + clean(", ".join(each["term"] for each in facts["top_terms"])))
    click.echo()
    click.echo(textwrap.fill(clean(facts["excerpt"]), 100))
    click.echo(f"\n{facts['in_degree']:,} pages link here" + (", saying:" if facts["anchor_texts"] else ""))
    say_table([(text["count"], text["text"] or "(no words)") for text in facts["anchor_texts"][:SHOWN]])
    if facts["linked_from"]:
        click.echo("Linked from:")
        say_table([(page["url"], page["title"]) for page in facts["linked_from"]])
    click.echo(f"Links to {facts['out_degree']:,} pages" + (":" if facts["links_to"] else ""))
    say_table([(page["url"], page["title"]) for page in facts["links_to"]])
