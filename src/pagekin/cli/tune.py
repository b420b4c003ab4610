"""`pagekin tune`."""

from __future__ import annotations

import click

import pagekin
from pagekin.cli.evaluate import check_judgements, judgement_options, print_left_out, shown
from pagekin.cli.options import json_option, options_from, store_argument
from pagekin.cli.output import clean, counted, print_result, print_table
from pagekin.cli.progress import progress_bar
from pagekin.evaluation.options import TuneOptions
from pagekin.model.strategy import parse_blend


@click.command(short_help="Fit the weights of the ranking.")
@store_argument
@judgement_options
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write a strategy file.")
@options_from(TuneOptions)
@json_option
def tune(
    store: str,
    hierarchy: str | None,
    related: str | None,
    see_also: bool,
    output: str | None,
    options: TuneOptions,
    json: bool,
) -> None:
    """Fit the weights of the blend to judgements about the pages of STORE.

    With --hierarchy they are fitted to P@10, with --related or --see-also to R@10. Cross-validation measures the gain
    on pages that took no part in the fit. `pagekin build --strategy FILE` uses the strategy file.
    """
    check_judgements(hierarchy, related, see_also, options.unlinked, options)
    collection = pagekin.open(store)
    with progress_bar(json) as progress:
        report = collection.tune(hierarchy, options, related=related, output=output, progress=progress)
    return print_result(report, json, print_tuned)


def print_tuned(report: pagekin.TuneReport) -> None:
    sources, folds = counted(report.sources, "source"), len(report.folds)
    click.echo(
        f"{report.measure} by {clean(report.judgements)}: {sources} among {counted(report.pages, 'page')},"
        f" {folds} folds; in brackets 95 % intervals"
    )
    click.echo("On held-out pages:")
    print_table(
        [
            ("weights of the index", shown(report.before)),
            ("tuned weights", shown(report.after)),
            ("gain", f"{shown(report.gain, '+.3f')}, p {report.gain.p:.3g}"),
        ]
    )
    if report.significant:
        click.echo("The gain is significant.")
    elif report.gain.high < 0.0:
        click.echo("Tuning makes the ranking worse on held-out pages. Keep the weights of the index.")
    else:
        click.echo("The gain is not significant: nothing shows that tuned weights are better than those of the index.")
    click.echo("Fitted on all sources:")
    before, after = parse_blend(report.index_blend), parse_blend(report.blend)
    rows = [(name, f"{weight:g}", f"{after.get(name, 0.0):g}") for name, weight in before.items()]
    damping = ("damping", f"{report.index_damping:g}", f"{report.damping:g}")
    print_table([("", "index", "tuned"), *rows, damping])
    print_left_out(report.left_out)
    if report.output is not None:
        click.echo(f"{clean(report.output)} is written; `pagekin build` and `pagekin evaluate` take it with --strategy")
