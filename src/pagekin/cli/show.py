"""`pagekin show`."""

from __future__ import annotations

import textwrap
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.speaking import clean, json_option, say_json, say_table, store_argument

if TYPE_CHECKING:
    from pagekin.kin import Kin

_SHOWN = 10
_EXCERPT = 400


@click.command("show")
@store_argument
@click.argument("page")
@click.option("--text", is_flag=True, help="Print the whole visible text.")
@json_option
def command(store: str, page: str, text: bool, json: bool) -> None:
    """What a store knows of PAGE: a URL, a file, or words of its title."""
    from pagekin.kin import Kin

    opened = Kin.open(store)
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


def describe(store: Kin, row: int) -> dict[str, Any]:
    """All that `show` tells."""
    page = store.page(row)
    node = page["node"]
    return {
        "id": page["id"],
        "url": page["url"],
        "title": page["title"],
        "host": page["host"],
        "language": page["language"],
        "charset": page["charset"],
        "captured": _moment(page["captured"]),
        "source": page["source"],
        "words": page["tokens"],
        "html_bytes": page["html_bytes"],
        "sha256": page["digest"],
        "in_degree": page["in_degree"],
        "out_degree": page["out_degree"],
        "aliases": [{"url": url, "kind": kind} for url, kind in store.catalog.aliases(node)],
        "top_terms": [{"term": term, "weight": round(weight, 6)} for term, weight in store.top_terms(node)],
        "excerpt": _excerpt(store.text(row)),
        "anchor_texts": [{"text": text, "count": count} for text, count in store.anchor_texts(node)],
        "linked_from": store.linked_from(node, _SHOWN),
        "links_to": store.links_to(row, _SHOWN),
    }


def _moment(seconds: int) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z") if seconds else None


def _excerpt(text: str) -> str:
    flat = " ".join(text[: 4 * _EXCERPT].split())
    return flat if len(flat) <= _EXCERPT else flat[:_EXCERPT].rpartition(" ")[0] + " …"


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
    say_table([(text["count"], text["text"] or "(no words)") for text in facts["anchor_texts"][:_SHOWN]])
    if facts["linked_from"]:
        click.echo("Linked from:")
        say_table([(page["url"], page["title"]) for page in facts["linked_from"]])
    click.echo(f"Links to {facts['out_degree']:,} pages" + (":" if facts["links_to"] else ""))
    say_table([(page["url"], page["title"]) for page in facts["links_to"]])
