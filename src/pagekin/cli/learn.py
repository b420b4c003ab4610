"""`pagekin learn`."""

from __future__ import annotations

from typing import Any

import click

import pagekin
from pagekin.cli.options import json_option, options_from
from pagekin.cli.output import counted, print_result, print_table
from pagekin.cli.progress import progress_bar
from pagekin.errors import MisuseError
from pagekin.learning.options import LearnOptions

_TITLES = {
    "error": "Error rate",
    "P@10": "Precision at top 10",
    "break-even": "Break-even point",
    "AP": "Average precision",
}


@click.command(short_help="Learn term weights from links.")
@click.argument("store", required=False, type=click.Path(), metavar="[STORE]")
@click.option(
    "-o", "--output", metavar="FILE", help="The file to write. Default: beside STORE, my.weights.json for my.kin."
)
@options_from(LearnOptions)
@click.option("--figures", metavar="FOLDER", help="Draw figures 2 and 3 of the paper into this folder.")
@click.option("--trec", metavar="FOLDER", help="Write qrels and runs of the test part into this folder.")
@click.option(
    "--transfer",
    metavar="DOCUMENTS",
    help="Learn nothing, but try --weights on another collection with queries: a store, TREC documents (a file or a"
    " folder), or irds:NAME of ir_datasets.",
)
@click.option("--weights", metavar="FILE", help="Learned weights, for --transfer.")
@click.option(
    "--topics", metavar="FILE", help="Queries, for --transfer: in the TREC format, or lines of id, tab and words."
)
@click.option("--qrels", metavar="FILE", help="Relevance judgements, for --transfer.")
@json_option
def learn(
    store: str | None,
    output: str | None,
    figures: str | None,
    trec: str | None,
    transfer: str | None,
    weights: str | None,
    topics: str | None,
    qrels: str | None,
    options: LearnOptions,
    json: bool,
) -> None:
    """Learn term weights from the links of STORE (LinkLearn), and compare them with OKAPI.

    Pages with links are divided into train, valid and test. `related --similarity linklearn --weights FILE` uses the
    result, in this or another collection: the weights, and the share of links beside words. An interrupted run
    continues.
    """
    if transfer and not weights:
        raise MisuseError("name the learned weights with --weights; `pagekin learn STORE` writes them")
    if store is None and not transfer:
        raise MisuseError("name a STORE to learn from, or a collection to try weights on with --transfer")
    with progress_bar(json) as show:

        def progress(stage: str) -> None:
            show(pagekin.Progress(stage))

        if transfer and weights:
            tried = pagekin.transfer_weights(transfer, weights, topics, qrels, progress)
        elif store is not None:
            learned = pagekin.open(store).learn(output, options, figures=figures, trec=trec, progress=progress)
    return print_result(tried, json, print_transfer) if transfer else print_result(learned, json, print_learned)


def print_learned(learned: pagekin.LearnReport) -> None:
    report = learned.results
    parts, okapi, ours = report["parts"], report["okapi"], report["linklearn"]
    click.echo(f"{learned.weights}: a weighting learned from {counted(int(parts['train']['pages']), 'page')}")
    rows = [(key.replace("_", " "), *(_number(part[key]) for part in parts.values())) for key in parts["train"]]
    print_table([("", *parts), *rows])
    units = ",".join(map(str, ours["units"]))
    click.echo("Chosen on valid:")
    print_table(
        [
            ("OKAPI", f"K {okapi['K']:g}, B {okapi['B']:g}"),
            ("LinkLearn", f"from {ours['start']}, units {units}, rate {ours['rate']:g}, {ours['steps']:,} steps"),
            ("Links", f"a share of {report['links']['share']:g} in the similarity"),
        ]
    )
    click.echo(f"On test, {counted(report['test']['pages'], 'page')} as queries:")
    _print_measures(report["test"]["measures"])
    mixed = report["links"]["test"]
    if report["links"]["share"] and mixed["pages"]:
        click.echo(f"Half of the links of test hidden, {counted(mixed['pages'], 'page')} as queries for them:")
        _print_measures(mixed["measures"], {"text": "LinkLearn", "text_and_links": "With links"})
    if "projection" in report:
        _print_projection(report["projection"])


def _print_projection(report: dict[str, Any]) -> None:
    if not report["dimensions"]:
        click.echo("No projection was better on valid than none.")
        return
    size = f"{report['dimensions']} dimensions for {counted(report['terms'], 'term')}"
    click.echo(f"A projection of {size}; on test, {counted(report['test']['pages'], 'page')} as queries:")
    _print_measures(report["test"]["measures"], {"without": "LinkLearn", "with": "Projected"})


def print_transfer(tried: pagekin.TransferReport) -> None:
    report = tried.results
    print_table([(key.replace("_", " "), _number(value)) for key, value in report["collection"].items()])
    for name, beside in report["okapi"].items():
        click.echo(f"Compared with OKAPI of K {beside['K']:g}, B {beside['B']:g} ({name}):")
        _print_measures(beside["measures"])
    left = [(count, reason.replace("_", " ")) for reason, count in report["left_out"].items() if count]
    if left:
        click.echo("Left out:")
        print_table(left)


def _print_measures(measures: dict[str, Any], titles: dict[str, str] | None = None) -> None:
    """Print a table of two systems; `titles` maps their names in the report to titles."""
    (one, before), (other, after) = (titles or {"okapi": "OKAPI", "linklearn": "LinkLearn"}).items()
    rows = [("", before, after, "", "Wilcoxon")]
    for name, of in measures.items():
        change = "" if of["change"] is None else f"{of['change']:+.0%}"
        significance = f"p {of['p']:.2g}{' *' if of['significantly_better'] else ''}"
        rows.append((_TITLES[name], f"{of[one]:.1%}", f"{of[other]:.1%}", change, significance))
    print_table(rows)
    if any(of["significantly_better"] for of in measures.values()):
        click.echo(f"  * {after} is better, with 95 % confidence.")


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
