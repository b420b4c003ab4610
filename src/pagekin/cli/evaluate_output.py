"""The tables of `pagekin evaluate`."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import click

from pagekin.cli.output import clean, counted, say_table

if TYPE_CHECKING:
    from pagekin.evaluation.measures import Estimate
    from pagekin.evaluation.report import Comparison, Evaluation, InLinkBand, SystemEvaluation


def say(evaluation: Evaluation) -> None:
    """Print an evaluation for people."""
    pages, hierarchy = counted(evaluation.pages, "page"), clean(evaluation.hierarchy)
    click.echo(f"{pages} in {evaluation.classes:,} classes of {hierarchy}; in brackets 95 % intervals")
    for each in evaluation.systems:
        _say_system(each)
    if evaluation.comparison is not None:
        _say_comparison(evaluation.comparison)
    if evaluation.left_out:
        click.echo("Left out, or to be borne in mind:")
        say_table([(row.count, row.reason, row.example and "e.g. " + row.example) for row in evaluation.left_out])


def _say_system(system: SystemEvaluation) -> None:
    click.echo(f"\n{clean(system.system)}, asked for {counted(system.sources, 'source')}:")
    rows: list[tuple[str, ...]] = [("region", "Gamma", "Somers' D", "tied", "pairs")]
    for region, of in system.regions.items():
        rows.append((region, _shown(of.gamma), _shown(of.somers_d), _shown(of.tied), f"{of.pairs:,}"))
    say_table(rows)
    say_table([("P@10", _shown(system.precision)), ("nDCG@10", _shown(system.ndcg))])
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
        say_table([("in-links", "sources", *system.regions), *bands], indent="    ")


def _say_comparison(comparison: Comparison) -> None:
    first, second = (clean(name) for name in comparison.systems)
    click.echo(f"\n{first} less {second} (p by permutation of the systems within sources):")
    rows = [("", "difference", "p", "")]
    for name, of in comparison.differences.items():
        doubt = "" if of.comparable else "not comparable: not all pages are listed"
        rows.append((name, _shown(of, "+.3f"), "" if isnan(of.p) else f"{of.p:.3g}", doubt))
    say_table(rows)


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
