"""`pagekin info`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.output import bytes_in_words, json_option, opened, print_result, print_table, store_argument

if TYPE_CHECKING:
    from pagekin.collection.info import CollectionInfo

_COUNTS = {
    "pages": "pages",
    "hosts": "hosts",
    "outside": "pages known only from links",
    "aliases": "aliases (redirects and canonical links)",
    "links": "links to pages, known or not",
    "tokens": "words",
    "words": "different words",
}


@click.command("info")
@store_argument
@json_option
def command(store: str, json: bool) -> None:
    """What a store holds, how it was read, and what was skipped and why."""
    print_result(opened(store).info(), json, print_info)


def print_info(info: CollectionInfo) -> None:
    """Print what a store holds."""
    counts = info.counts
    click.echo(f"{info.store}: format {info.format}, generation {info.generation}, {bytes_in_words(info.bytes)}")
    print_table([(counts[key], noun) for key, noun in _COUNTS.items()])
    click.echo(f"  from {bytes_in_words(counts['html_bytes'])} of HTML, {bytes_in_words(counts['text_bytes'])} of text")
    if changed := [key for key, value in info.settings.items() if value is True]:
        click.echo("Settings: " + ", ".join(changed))
    if info.strategy:
        shown = {**info.strategy, **({"weights": "learned"} if "weights" in info.strategy else {})}  # not 2 KB
        click.echo("Strategy: " + ", ".join(f"{key} {value}" for key, value in shown.items()))
    if info.duplicates:
        click.echo("Near-duplicates: " + _fingerprints(info.duplicates))
    click.echo("Largest hosts:")
    print_table([(pages, host) for host, pages in info.hosts])
    click.echo("Languages:  " + ", ".join(f"{name} {count:,}" for name, count in info.languages.items()))
    if info.skipped:
        click.echo("Skipped or cut:")
        print_table([(count, reason, "e.g. " + example) for reason, count, example, _ in info.skipped])


def _fingerprints(facts: dict[str, Any]) -> str:
    settings = facts["settings"]
    words = [
        f"filters of {settings['filter_bits']:,} bits, {settings['hashes']} a chunk of {settings['chunk_bytes']} bytes",
        f"{facts['larger_filters']:,} pages with larger ones",
    ]
    words += [f"{facts['without_text']:,} pages without text"] if facts["without_text"] else []
    words += [f"{facts['too_large']:,} pages too large to be compared"] if facts["too_large"] else []
    return ", ".join(words)
