"""How a judgement is told to people."""

from __future__ import annotations

from typing import Any

import click

from pagekin.cli.output import clean, counted, say_table

_TITLES = {"gamma": "Gamma", "somers_d": "Somers' D", "tied": "tied"}


def say(report: dict[str, Any]) -> None:
    """Tell people what was found."""
    pages, classes = counted(report["pages"], "page"), report["classes"]
    click.echo(f"{pages} in {classes:,} classes of {clean(report['hierarchy'])}; in brackets 95 % intervals")
    for each in report["systems"]:
        _say_system(each)
    if report["comparison"]:
        _say_comparison(report["comparison"])
    if report["left_out"]:
        click.echo("Left out, or to be borne in mind:")
        say_table(
            [(row["count"], row["reason"], row["example"] and "e.g. " + row["example"]) for row in report["left_out"]]
        )


def _say_system(facts: dict[str, Any]) -> None:
    click.echo(f"\n{clean(facts['system'])}, asked for {counted(facts['sources'], 'source')}:")
    rows: list[tuple[str, ...]] = [("region", *_TITLES.values(), "pairs")]
    for region, of in facts["regions"].items():
        rows.append((region, *(_shown(of[measure]) for measure in _TITLES), f"{of['pairs']:,}"))
    say_table(rows)
    say_table([(name, _shown(facts[name])) for name in ("P@10", "nDCG@10")])
    if facts["longest_list"] is not None:
        most, told = counted(facts["longest_list"], "page"), " and ".join(facts["comparable"]) or "nothing"
        click.echo(f"  It lists {most} a source at most; what it does not list is tied at the end. Beside systems that")
        click.echo(f"  order all pages, compare {told}: not Gamma, not Somers' D, not ties.")
    else:
        click.echo(f"  orthogonal inside classes (nothing in common): {_shown(facts['orthogonal'])} of pairs")
    if facts["unanswered"]:
        click.echo(f"  {counted(facts['unanswered'], 'source')} without any answer: all pages tie")
    if facts["in_link_bands"]:
        click.echo("  Gamma by in-links of the source:")
        regions = list(facts["regions"])
        bands = [(_span(band), band["sources"], *(_shown(band[r]) for r in regions)) for band in facts["in_link_bands"]]
        say_table([("in-links", "sources", *regions), *bands], indent="    ")


def _say_comparison(facts: dict[str, Any]) -> None:
    first, second = (clean(name) for name in facts["systems"])
    click.echo(f"\n{first} less {second} (p by permutation of the systems within sources):")
    rows = [("", "difference", "p", "")]
    for name, of in facts["differences"].items():
        doubt = "" if of["comparable"] else "not comparable: not all pages are listed"
        rows.append((name, _shown(of, "+.3f"), "" if of["p"] is None else f"{of['p']:.3g}", doubt))
    say_table(rows)


def _span(band: dict[str, Any]) -> str:
    if band["to"] is None:
        return f"{band['from']} or more"
    return str(band["from"]) if band["from"] == band["to"] else f"{band['from']} to {band['to']}"


def _shown(of: dict[str, Any], form: str = ".3f") -> str:
    """A value and its interval."""
    if of["value"] is None:
        return "-"
    return f"{of['value']:{form}} [{of['low']:{form}}, {of['high']:{form}}]"
