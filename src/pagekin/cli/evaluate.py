"""`pagekin evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.options import options_from
from pagekin.cli.output import clean, counted, json_option, opened, print_result, print_table, progress_bar
from pagekin.collection.options import EvaluateOptions
from pagekin.model.options import from_values

if TYPE_CHECKING:
    from pagekin.collection.evaluate import Evaluation

_TITLES = {"gamma": "Gamma", "somers_d": "Somers' D", "tied": "tied"}


@click.command("evaluate")
@click.argument("store", required=False, type=click.Path(), metavar="[STORE]")
@click.option(
    "--hierarchy",
    required=True,
    metavar="FILE|path",
    help="The classes of pages: lines of a URL, a tab and Top/Middle/Leaf; content.rdf.u8 of the Open Directory;"
    " or `path`, the folders of URLs.",
)
@options_from(EvaluateOptions)
@json_option
def command(store: str | None, hierarchy: str, json: bool, **values: Any) -> None:
    """Compare a ranking with a hierarchy of classes: Gamma, Somers' D, P@10, nDCG@10.

    The ranking is that of the index in STORE or, with --run, of another system; without STORE, over all pages that the
    hierarchy names.
    """
    options = from_values(EvaluateOptions, values)
    from pagekin.collection.evaluate import evaluate

    indexed = opened(store).indexed if store is not None else None
    with progress_bar(json) as progress:
        result = evaluate(indexed, hierarchy, options, progress)
    print_result(result, json, print_evaluation)


def print_left_out(left_out: list[tuple[str, int, str]]) -> None:
    """Print what was left out of an evaluation, with examples."""
    if left_out:
        click.echo("Left out, or to be borne in mind:")
        print_table([(count, reason, example and "e.g. " + example) for reason, count, example in left_out])


def print_evaluation(result: Evaluation) -> None:
    """Print the measures of each system, and their differences."""
    pages = counted(result.pages, "page")
    click.echo(f"{pages} in {result.classes:,} classes of {clean(result.hierarchy)}; in brackets 95 % intervals")
    for each in result.systems:
        _print_system(each)
    if result.comparison:
        _print_comparison(result.comparison)
    print_left_out(result.left_out)


def _print_system(facts: dict[str, Any]) -> None:
    click.echo(f"\n{clean(facts['system'])}, {counted(facts['sources'], 'source')}:")
    rows: list[tuple[str, ...]] = [("region", *_TITLES.values(), "pairs")]
    for region, of in facts["regions"].items():
        rows.append((region, *(_shown(of[measure]) for measure in _TITLES), f"{of['pairs']:,}"))
    print_table(rows)
    print_table([(name, _shown(facts[name])) for name in ("P@10", "nDCG@10")])
    if facts["longest_list"] is not None:
        most, comparable = counted(facts["longest_list"], "page"), " and ".join(facts["comparable"]) or "nothing"
        click.echo(f"  It lists {most} a source at most; what it does not list is tied at the end. Beside systems that")
        click.echo(f"  order all pages, compare {comparable}: not Gamma, not Somers' D, not ties.")
    else:
        click.echo(f"  orthogonal inside classes (nothing in common): {_shown(facts['orthogonal'])} of pairs")
    if facts["unanswered"]:
        click.echo(f"  {counted(facts['unanswered'], 'source')} without any answer: all pages tie")
    if facts["in_link_bands"]:
        click.echo("  Gamma by in-links of the source:")
        regions = list(facts["regions"])
        bands = [(_span(band), band["sources"], *(_shown(band[r]) for r in regions)) for band in facts["in_link_bands"]]
        print_table([("in-links", "sources", *regions), *bands], indent="    ")


def _print_comparison(facts: dict[str, Any]) -> None:
    first, second = (clean(name) for name in facts["systems"])
    click.echo(f"\n{first} minus {second} (p by permutation of the systems within sources):")
    rows = [("", "difference", "p", "")]
    for name, of in facts["differences"].items():
        doubt = "" if of["comparable"] else "not comparable: not all pages are listed"
        rows.append((name, _shown(of, "+.3f"), "" if of["p"] is None else f"{of['p']:.3g}", doubt))
    print_table(rows)


def _span(band: dict[str, Any]) -> str:
    if band["to"] is None:
        return f"{band['from']} or more"
    return str(band["from"]) if band["from"] == band["to"] else f"{band['from']} to {band['to']}"


def _shown(of: dict[str, Any], form: str = ".3f") -> str:
    """A value and its interval."""
    if of["value"] is None:
        return "-"
    return f"{of['value']:{form}} [{of['low']:{form}}, {of['high']:{form}}]"
