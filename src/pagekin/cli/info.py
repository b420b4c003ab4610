"""`pagekin info`."""

from __future__ import annotations

from typing import Any

import click

from pagekin.cli.output import bytes_in_words, json_option, say_json, say_table, store_argument
from pagekin.shapes.info import describe


@click.command("info")
@store_argument
@json_option
def command(store: str, json: bool) -> None:
    """What a store holds, how it was read, and what was skipped and why."""
    from pagekin.store.store import Store

    facts = describe(Store.open(store))
    if json:
        say_json(facts)
    else:
        say(store, facts)


def say(store: str, facts: dict[str, Any]) -> None:
    """Tell people what a store holds."""
    counts = facts["counts"]
    click.echo(f"{store}: format {facts['format']}, generation {facts['generation']}, {bytes_in_words(facts['bytes'])}")
    say_table(
        [
            (counts["pages"], "pages"),
            (counts["hosts"], "hosts"),
            (counts["outside"], "pages known only from links"),
            (counts["aliases"], "aliases (redirects and canonical links)"),
            (counts["links"], "links to pages, known or not"),
            (counts["tokens"], "words"),
            (counts["words"], "different words"),
        ]
    )
    click.echo(f"  from {bytes_in_words(counts['html_bytes'])} of HTML, {bytes_in_words(counts['text_bytes'])} of text")
    changed = {key: value for key, value in facts["settings"].items() if value is True}
    if changed:
        click.echo("Settings: " + ", ".join(changed))
    if facts["strategy"]:
        told = {**facts["strategy"], **({"weights": "learned"} if "weights" in facts["strategy"] else {})}  # not 2 KB
        click.echo("Strategy: " + ", ".join(f"{key} {value}" for key, value in told.items()))
    if facts["duplicates"]:
        click.echo("Near-duplicates: " + _compared(facts["duplicates"]))
    click.echo("Largest hosts:")
    say_table([(host["pages"], host["host"]) for host in facts["hosts"]])
    click.echo("Languages:  " + ", ".join(f"{name} {count:,}" for name, count in facts["languages"].items()))
    if facts["skipped"]:
        click.echo("Skipped or cut:")
        say_table([(skip["count"], skip["reason"], "e.g. " + skip["example"]) for skip in facts["skipped"]])


def _compared(facts: dict[str, Any]) -> str:
    """How pages are compared, and which are not."""
    settings = facts["settings"]
    words = [
        f"filters of {settings['filter_bits']:,} bits, {settings['hashes']} a chunk of {settings['chunk_bytes']} bytes",
        f"{facts['larger_filters']:,} pages with larger ones",
    ]
    words += [f"{facts['without_text']:,} pages without text"] if facts["without_text"] else []
    words += [f"{facts['too_large']:,} pages too large to be compared"] if facts["too_large"] else []
    return ", ".join(words)
