"""`pagekin evaluate`."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.options import options_from
from pagekin.cli.output import clean, counted, json_option, opened, print_result, print_table, progress_bar
from pagekin.evaluation.options import EvaluationOptions
from pagekin.model.options import from_values

if TYPE_CHECKING:
    from pagekin.evaluation.evaluate import Comparison, Evaluation, InLinkBand, SystemEvaluation
    from pagekin.evaluation.labels import LeftOutReason
    from pagekin.evaluation.measures import Estimate


@click.command("evaluate")
@click.argument("store", required=False, type=click.Path(), metavar="[STORE]")
@click.option(
    "--hierarchy",
    required=True,
    metavar="FILE|path",
    help="The classes of pages: lines of a URL, a tab and Top/Middle/Leaf; content.rdf.u8 of the Open Directory;"
    " or `path`, the folders of URLs.",
)
@options_from(EvaluationOptions)
@json_option
def command(store: str | None, hierarchy: str, json: bool, **values: Any) -> None:
    """Compare a ranking with a hierarchy of classes: Gamma, Somers' D, P@10, nDCG@10.

    The ranking is that of the index in STORE or, with --run, of another system; without STORE, over all pages that the
    hierarchy names.
    """
    options = from_values(EvaluationOptions, values)
    from pagekin.evaluation.evaluate import evaluate

    indexed = opened(store).indexed if store is not None else None
    with progress_bar(json) as progress:
        result = evaluate(indexed, hierarchy, options, lambda each: progress(replace(each, stage=clean(each.stage))))
    print_result(result, json, print_evaluation)


def print_left_out(left_out: list[LeftOutReason]) -> None:
    """Print what was left out of an evaluation, with examples."""
    if left_out:
        click.echo("Left out, or to keep in mind:")
        print_table([(row.count, row.reason, row.example and "e.g. " + row.example) for row in left_out])


def print_evaluation(evaluation: Evaluation) -> None:
    """Print the measures of each system, and their differences."""
    pages, hierarchy = counted(evaluation.pages, "page"), clean(evaluation.hierarchy)
    click.echo(f"{pages} in {evaluation.classes:,} classes of {hierarchy}; in brackets 95 % intervals")
    for each in evaluation.systems:
        _print_system(each)
    if evaluation.comparison is not None:
        _print_comparison(evaluation.comparison)
    print_left_out(evaluation.left_out)


def _print_system(system: SystemEvaluation) -> None:
    click.echo(f"\n{clean(system.system)}, {counted(system.sources, 'source')}:")
    rows: list[tuple[str, ...]] = [("region", "Gamma", "Somers' D", "tied", "pairs")]
    for region, of in system.regions.items():
        rows.append((region, _shown(of.gamma), _shown(of.somers_d), _shown(of.tied), f"{of.pairs:,}"))
    print_table(rows)
    print_table([("P@10", _shown(system.precision)), ("nDCG@10", _shown(system.ndcg))])
    if system.longest_list is not None:
        most, measures = counted(system.longest_list, "page"), " and ".join(system.comparable) or "nothing"
        click.echo(f"  It lists {most} a source at most; what it does not list is tied at the end. Beside systems that")
        click.echo(f"  order all pages, compare {measures}: not Gamma, not Somers' D, not ties.")
    else:
        click.echo(f"  orthogonal inside classes (nothing in common): {_shown(system.orthogonal)} of pairs")
    if system.unanswered:
        click.echo(f"  {counted(system.unanswered, 'source')} without any answer: all pages tie")
    if system.in_link_bands:
        click.echo("  Gamma by in-links of the source:")
        bands = [(_span(band), band.sources, *map(_shown, band.gamma.values())) for band in system.in_link_bands]
        print_table([("in-links", "sources", *system.regions), *bands], indent="    ")


def _print_comparison(comparison: Comparison) -> None:
    first, second = (clean(name) for name in comparison.systems)
    click.echo(f"\n{first} minus {second} (p by permutation of the systems within sources):")
    rows = [("", "difference", "p", "")]
    for name, of in comparison.differences.items():
        doubt = "" if of.comparable else "not comparable: not all pages are listed"
        rows.append((name, _shown(of, "+.3f"), "" if isnan(of.p) else f"{of.p:.3g}", doubt))
    print_table(rows)


def _span(band: InLinkBand) -> str:
    if band.last is None:
        return f"{band.first} or more"
    return str(band.first) if band.first == band.last else f"{band.first} to {band.last}"


def _shown(of: Estimate, form: str = ".3f") -> str:
    """A value and its interval, rounded from the six places of the JSON output."""
    if isnan(of.value):
        return "-"
    value, low, high = (f"{round(each, 6):{form}}" for each in (of.value, of.low, of.high))
    return f"{value} [{low}, {high}]"
