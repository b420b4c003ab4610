"""`pagekin gaps`: links that are missing, and poorly linked pages."""

from __future__ import annotations

from pathlib import Path

import click

import pagekin
from pagekin.cli.options import json_option, options_from, store_argument
from pagekin.cli.output import clean, print_result
from pagekin.cli.progress import watched
from pagekin.gaps.options import GapOptions

_LISTED = 10  # poorly linked pages of each kind that are printed


@click.command(short_help="Find links that are missing.")
@store_argument
@click.argument("pages", nargs=-1, metavar="[PAGE...]")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write a csv, json or html file, such as gaps.csv."
)
@options_from(GapOptions)
@json_option
def gaps(store: str, pages: tuple[str, ...], output: str | None, options: GapOptions, json: bool) -> None:
    """Find links that are missing: pages that are related, or named in a text, though neither links to the other.

    Each comes with the sentence in which the link fits best and the words to link. With PAGEs only links from them are
    looked for. Orphans, dead ends and pages that only menus and other templates link to are listed as well.
    """
    collection = pagekin.open(store)
    names = list(pages) or None
    found = collection.gaps(
        options, pages=names, output=output, progress=lambda nodes: watched(nodes, "looking for links", quiet=json)
    )
    print_result(found, json, lambda found: print_gaps(found, output))


def print_gaps(found: pagekin.Gaps, output: str | None) -> None:
    from pagekin.gaps.report import summary

    if output is not None:
        return click.echo(f"{Path(output)}: {summary(found)}")
    for gap in found:
        click.echo(f"{gap.similarity:.3f}  {clean(gap.source.title or gap.source.url)}")
        click.echo(f"       -> {clean(gap.target.title or gap.target.url)}  {clean(gap.target.url)}")
        if gap.words:
            click.echo(f"       link {clean(gap.words)!r} ({_remarks(gap)})")
            click.echo(f"       {clean(gap.sentence)}")
        for reason in gap.why.reasons[:1]:
            click.echo(f"       {clean(reason)}")
    kinds = (
        ("orphan", found.orphans),
        ("linked from templates only", found.only_from_templates),
        ("dead end", found.dead_ends),
    )
    for kind, pages in kinds:
        for page in pages[:_LISTED]:
            click.echo(f"{kind}: {clean(page.title or '(no title)')}  {clean(page.url)}")
        if len(pages) > _LISTED:
            click.echo(f"{kind}: and {len(pages) - _LISTED:,} more; --json and -o list them")
    for source, target in found.not_done:
        click.echo(f"done, but still not linked: {clean(source)} -> {clean(target)}")
    return click.echo(summary(found))


def _remarks(gap: pagekin.MissingLink) -> str:
    remarks = [f"{gap.words_from}", f"in-links of the target: {gap.in_links:,}"]
    remarks += ["a template links to it"] if gap.in_template else []
    remarks += [f"linked to {clean(gap.linked_elsewhere)} already"] if gap.linked_elsewhere else []
    return "; ".join(remarks)
