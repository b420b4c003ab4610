"""`pagekin evaluate` and `pagekin sweep`: one ranking, or many strategies, compared with a hierarchy of classes."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import click

import pagekin
from pagekin.cli.options import Command, click_option, json_option, options_from
from pagekin.cli.output import clean, counted, print_result, print_table
from pagekin.cli.progress import progress_bar
from pagekin.errors import MisuseError
from pagekin.evaluation.options import EvaluationOptions, HierarchyOptions, RelatedEvaluationOptions, SystemOptions
from pagekin.model.options import options_of

if TYPE_CHECKING:
    from pagekin.evaluation.evaluate import InLinkBand
    from pagekin.evaluation.measures import Estimate


_JUDGEMENTS = (
    click.option(
        "--hierarchy",
        metavar="FILE|FOLDER|path",
        help="The classes of pages: lines of a URL, a tab and Top/Middle/Leaf; content.rdf.u8 of the Open Directory; a"
        " folder of Markdown, whose tags are classes; a MediaWiki dump, whose categories are; or `path`, the"
        " folders of URLs.",
    ),
    click.option(
        "--related",
        type=click.Path(dir_okay=False),
        help="Pairs of related pages, in place of a hierarchy: lines of a page, a tab and a page, by URL or file.",
    ),
    click.option(
        "--see-also",
        is_flag=True,
        help='The links in "See also" sections as related pairs; the sections are hidden from the ranking.',
    ),
)


def judgement_options(command: Command) -> Command:
    """Add --hierarchy, --related and --see-also. A command needs exactly one of them."""
    for add in reversed(_JUDGEMENTS):
        command = add(command)
    return command


@click.command(short_help="Measure a ranking against judgements.")
@click.argument("store", required=False, type=click.Path(), metavar="[STORE]")
@judgement_options
@click_option(next(each for each in options_of(RelatedEvaluationOptions) if each.field == "unlinked"))
@options_from(EvaluationOptions)
@json_option
def evaluate(
    store: str | None,
    hierarchy: str | None,
    related: str | None,
    see_also: bool,
    unlinked: bool,
    options: EvaluationOptions,
    json: bool,
) -> None:
    """Measure how well a ranking agrees with a hierarchy of classes, or with pairs of related pages.

    With --hierarchy: Gamma, Somers' D, P@10, nDCG@10. With --related or --see-also: R@10, MRR, AP, nDCG@10. The ranking
    is that of the index in STORE or, with --run, of another system; without STORE, over all pages that the hierarchy
    names, or the pairs and the run.
    """
    from pagekin.evaluation.evaluate import evaluate as evaluate_ranking
    from pagekin.evaluation.evaluate_related import evaluate_related

    check_judgements(hierarchy, related, see_also, unlinked, options)
    indexed = pagekin.open(store).indexed if store is not None else None
    if hierarchy is None:
        chosen = _related_options(options, unlinked)
        with progress_bar(json) as progress:
            found = evaluate_related(indexed, related, chosen, progress)
        return print_result(found, json, print_related_evaluation)
    with progress_bar(json) as progress:
        result = evaluate_ranking(indexed, hierarchy, options, progress)
    return print_result(result, json, print_evaluation)


def check_judgements(
    hierarchy: str | None, related: str | None, see_also: bool, unlinked: bool, options: HierarchyOptions
) -> None:
    """Raise MisuseError unless there is one kind of judgements, and for options of another kind."""
    if (hierarchy is not None) + (related is not None) + see_also != 1:
        raise MisuseError("give one of --hierarchy, --related and --see-also")
    if hierarchy is not None and unlinked:
        raise MisuseError("--unlinked is for related pairs; leave it out with --hierarchy")
    for each in options_of(HierarchyOptions):
        if hierarchy is None and each.field != "seed" and getattr(options, each.field) != each.default:
            raise MisuseError(f"--{each.name.replace('_', '-')} is for a hierarchy; leave it out with related pairs")


def _related_options(options: EvaluationOptions, unlinked: bool) -> RelatedEvaluationOptions:
    shared = {each.field: getattr(options, each.field) for each in options_of(SystemOptions)}
    return RelatedEvaluationOptions(unlinked=unlinked, seed=options.seed, **shared)


def print_left_out(left_out: list[pagekin.LeftOutReason]) -> None:
    if left_out:
        click.echo("Left out, or to keep in mind:")
        print_table([(row.count, row.reason, row.example and "e.g. " + row.example) for row in left_out])


def print_evaluation(evaluation: pagekin.Evaluation) -> None:
    pages, hierarchy = counted(evaluation.pages, "page"), clean(evaluation.hierarchy)
    click.echo(f"{pages} in {evaluation.classes:,} classes of {hierarchy}; in brackets 95 % intervals")
    for each in evaluation.systems:
        _print_system(each)
    _print_comparison(evaluation.comparison)
    print_left_out(evaluation.left_out)


def print_related_evaluation(evaluation: pagekin.RelatedEvaluation) -> None:
    pairs, pages = counted(evaluation.pairs, "related pair"), counted(evaluation.pages, "page")
    unlinked = " without links between the pages" if evaluation.unlinked else ""
    click.echo(f"{pairs}{unlinked} of {clean(evaluation.related)}, among {pages}; in brackets 95 % intervals")
    if evaluation.headings:
        click.echo("Sections: " + ", ".join(f"{count:,} {name}" for name, count in evaluation.headings.items()))
    for each in evaluation.systems:
        click.echo(f"\n{clean(each.system)}, {counted(each.sources, 'source')}:")
        measures = {"R@10": each.recall, "MRR": each.mrr, "AP": each.average_precision, "nDCG@10": each.ndcg}
        print_table([(name, shown(of)) for name, of in measures.items()])
        _print_limits(each, "not MRR, not AP")
    _print_comparison(evaluation.comparison)
    print_left_out(evaluation.left_out)


def _print_limits(system: pagekin.RelatedMeasures | pagekin.SystemEvaluation, others: str) -> None:
    if system.longest_list is not None:
        most, measures = counted(system.longest_list, "page"), " and ".join(system.comparable) or "nothing"
        click.echo(f"  It lists {most} a source at most; what it does not list is tied at the end. Beside systems that")
        click.echo(f"  order all pages, compare {measures}: {others}.")
    if system.unanswered:
        click.echo(f"  {counted(system.unanswered, 'source')} without any answer: all pages tie")


def _print_system(system: pagekin.SystemEvaluation) -> None:
    click.echo(f"\n{clean(system.system)}, {counted(system.sources, 'source')}:")
    rows: list[tuple[str, ...]] = [("region", "Gamma", "Somers' D", "tied", "pairs")]
    for region, of in system.regions.items():
        rows.append((region, shown(of.gamma), shown(of.somers_d), shown(of.tied), f"{of.pairs:,}"))
    print_table(rows)
    print_table([("P@10", shown(system.precision)), ("nDCG@10", shown(system.ndcg))])
    if system.longest_list is None:
        click.echo(f"  orthogonal inside classes (nothing in common): {shown(system.orthogonal)} of pairs")
    _print_limits(system, "not Gamma, not Somers' D, not ties")
    if system.in_link_bands:
        click.echo("  Gamma by in-links of the source:")
        bands = [(_span(band), band.sources, *map(shown, band.gamma.values())) for band in system.in_link_bands]
        print_table([("in-links", "sources", *system.regions), *bands], indent="    ")


def _print_comparison(comparison: pagekin.Comparison | None) -> None:
    if comparison is None:
        return
    first, second = (clean(name) for name in comparison.systems)
    click.echo(f"\n{first} minus {second} (p by permutation of the systems within sources):")
    rows = [("", "difference", "p", "")]
    for name, of in comparison.differences.items():
        doubt = "" if of.comparable else "not comparable: not all pages are listed"
        rows.append((name, shown(of, "+.3f"), "" if isnan(of.p) else f"{of.p:.3g}", doubt))
    print_table(rows)


def _span(band: InLinkBand) -> str:
    if band.last is None:
        return f"{band.first} or more"
    return str(band.first) if band.first == band.last else f"{band.first} to {band.last}"


def shown(of: Estimate, form: str = ".3f") -> str:
    """A value and its interval, rounded from the six places of the JSON output."""
    if isnan(of.value):
        return "-"
    value, low, high = (f"{round(each, 6):{form}}" for each in (of.value, of.low, of.high))
    return f"{value} [{low}, {high}]"


@click.command(short_help="Evaluate many strategies side by side.")
@click.argument("plan", required=False, type=click.Path(), metavar="[SWEEP.toml|STORE]")
@click.option(
    "--hierarchy",
    metavar="FILE|path",
    help="The classes of pages: lines of a URL, a tab, Top/Leaf; or `path`, their folders. Default: the sweep file's.",
)
@click.option(
    "--references", help="Systems to compare with, separated by commas: tf-idf, more-like-this, co-citation, lsa."
)
@click.option("-o", "--output", type=click.Path(), help="The folder for results. Default: SWEEP.sweep.")
@click.option("--threads", type=click.IntRange(1), help="Number of threads. Default: one per processor.")
@click.option("--print", "printing", is_flag=True, help="Print the sweep of the paper's figures, to start a file from.")
@json_option
def sweep(
    plan: str | None,
    hierarchy: str | None,
    references: str | None,
    output: str | None,
    threads: int | None,
    printing: bool,
    json: bool,
) -> None:
    """Evaluate many strategies by a hierarchy, side by side.

    They are those of SWEEP.toml or, given a STORE, those of the paper's figures. Writes a table (results.csv,
    results.json and, if pyarrow is installed, results.parquet) and report.html. A sweep that was stopped continues.
    """
    from pagekin.evaluation.sweep_plan import paper_text

    if printing:
        return click.echo(paper_text(), nl=False)
    if plan is None:
        raise MisuseError("name a sweep file, or a STORE to sweep by the figures of the paper")
    names = None if references is None else [name.strip() for name in references.split(",") if name.strip()]
    with progress_bar(json) as progress:
        report = pagekin.sweep(plan, output, hierarchy=hierarchy, references=names, threads=threads, progress=progress)
    return print_result(report, json, print_sweep)


def print_sweep(report: pagekin.SweepReport) -> None:
    rows = report.rows
    click.echo(
        f"{counted(rows[0]['pages'], 'page')} in {rows[0]['classes']:,} classes of {clean(rows[0]['hierarchy'])}"
    )
    region = "sibling" if any(row.get("gamma sibling") is not None for row in rows) else "all"
    shown = (f"gamma {region}", f"somers_d {region}", "P@10", "nDCG@10", "orthogonal")
    for figure in dict.fromkeys(row["figure"] for row in rows):
        click.echo(f"\n{clean(figure)}")
        some = [row for row in rows if row["figure"] == figure]
        numbers = (["-" if row[name] is None else f"{row[name]:.3f}" for name in shown] for row in some)
        print_table([("", *shown), *((row["name"], *each) for row, each in zip(some, numbers, strict=True))])
    if report.left_out:
        click.echo()
    print_left_out(report.left_out)
    files = ", ".join(report.files)
    click.echo(f"\n{report.judged:,} evaluated, {report.reused:,} known from before; {report.output}: {files}")
