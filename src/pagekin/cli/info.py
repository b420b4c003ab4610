"""`pagekin info`, `check` and `show`: what a store holds, whether its files are intact, and one of its pages."""

from __future__ import annotations

import textwrap
from typing import Any

import click

import pagekin
from pagekin.cli.options import json_option, store_argument
from pagekin.cli.output import bytes_in_words, clean, counted, print_result, print_table, vectors_in_words
from pagekin.model.strategy import PRESETS

_ANCHORS = 10  # anchor texts that are shown
_COUNTS = {
    "pages": "pages",
    "hosts": "hosts",
    "outside": "pages known only from links",
    "aliases": "aliases (redirects and canonical links)",
    "links": "links to pages, known or not",
    "tokens": "words",
    "words": "different words",
}


@click.command(short_help="Show what a store holds and what it skipped.")
@store_argument
@json_option
def info(store: str, json: bool) -> None:
    """Show what a store holds, how it was read, and what was skipped and why."""
    print_result(pagekin.open(store).info(), json, print_info)


def print_info(info: pagekin.CollectionInfo) -> None:
    counts = info.counts
    shards = f" in {info.shards} shards" if info.shards > 1 else ""
    size = bytes_in_words(info.bytes) + shards
    click.echo(f"{info.store}: format {info.format}, generation {info.generation}, {size}")
    print_table([(counts[key], noun) for key, noun in _COUNTS.items()])
    click.echo(f"  from {bytes_in_words(counts['html_bytes'])} of HTML, {bytes_in_words(counts['text_bytes'])} of text")
    if changed := [key for key, value in info.settings.items() if value is True]:
        click.echo("Settings: " + ", ".join(changed))
    if info.strategy:
        click.echo("Strategy: " + strategy_in_words(info.strategy))
    if info.duplicates:
        click.echo("Near-duplicates: " + _fingerprints(info.duplicates))
    if info.vectors:
        click.echo("Vectors: " + vectors_in_words(info.vectors))
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


def strategy_in_words(settings: dict[str, Any]) -> str:
    """The preset with these settings, or else what differs from the default.

    >>> from pagekin.model.strategy import Strategy
    >>> strategy_in_words(Strategy(lead=20.0).as_dict())
    'default, but lead 20.0'
    """
    for name, preset in PRESETS.items():
        if preset.as_dict() == settings:
            return name
    default = PRESETS["default"].as_dict()
    changed = {key: value for key, value in settings.items() if value != default.get(key)}
    shown = changed | ({"weights": "learned"} if "weights" in changed else {})  # not 2 KB
    return "default, but " + ", ".join(f"{key} {value}" for key, value in shown.items())


@click.command(short_help="Compare the files with their checksums.")
@store_argument
@json_option
def check(store: str, json: bool) -> None:
    """Compare every file of a store with its checksum. The exit code is 1 if a file is damaged."""

    def print_report(report: pagekin.CheckReport) -> None:
        if report.damaged:
            click.echo(f"{store} is damaged; build it again:")
            print_table(report.damaged)
        else:
            click.echo(f"{store}: all {report.files} files are as they were written.")

    report = pagekin.open(store).check()
    print_result(report, json, print_report)
    if report.damaged:
        raise SystemExit(1)


@click.command(short_help="Find pages by words or URL.")
@store_argument
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", default=10, type=click.IntRange(1), help="Print at most this number of pages.")
@json_option
def search(store: str, words: tuple[str, ...], limit: int, json: bool) -> None:
    """Find pages by WORDS of their titles, then by words of their texts, or by a URL or part of one."""
    print_result(pagekin.open(store).search(" ".join(words), limit), json, print_found)


def print_found(found: pagekin.SearchResults) -> None:
    if not found:
        click.echo("No page has these words, or this text in its URL.")
    for page in found:
        click.echo(clean(page.title or "(no title)"))
        click.echo(f"       {clean(page.url)}")


@click.command(short_help="Show one page: metadata, text and links.")
@store_argument
@click.argument("page")
@click.option("--text", is_flag=True, help="Print the whole visible text.")
@json_option
def show(store: str, page: str, text: bool, json: bool) -> None:
    """Show what a store knows about PAGE: a URL, a file name, or words of its title."""
    print_result(pagekin.open(store).page(page, text=text), json, print_page)


def print_page(page: pagekin.PageDetails) -> None:
    if page.text is not None:
        return click.echo(clean(page.text))
    click.echo(clean(page.title or "(no title)"))
    click.echo(clean(page.url))
    details = [page.language or "language unknown", page.charset, f"{page.words:,} words"]
    if page.captured:
        details.append(f"captured {page.captured[:10]}")
    click.echo("  " + ", ".join(details) + f", from {clean(page.source)}")
    if page.other_captures:
        dates = sorted(captured[:10] for captured, _ in page.other_captures if captured)
        between = f", of {dates[0]} to {dates[-1]}" if dates else ""
        click.echo(f"  {counted(len(page.other_captures), 'other capture')}{between}")
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
