"""`pagekin evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.evaluate_output import say
from pagekin.cli.output import clean, json_option, progress_bar, say_json
from pagekin.cli.similarity_options import links_option, measured, share_of, similarity_option, weights_option
from pagekin.model.files import write_lines

if TYPE_CHECKING:
    from pagekin.evaluation.evaluate import JudgedSystems

_FILE = click.Path(dir_okay=False)


@click.command("evaluate")
@click.argument("store", required=False, type=click.Path(), metavar="[STORE]")
@click.option(
    "--hierarchy",
    required=True,
    metavar="FILE|path",
    help="Which class pages are in: lines of a URL, a tab and Top/Middle/Leaf; content.rdf.u8 of the Open Directory;"
    " or `path`, the folders of URLs.",
)
@click.option("--tree", type=_FILE, help="Lines of a class, a tab and its parent, if labels name classes alone.")
@click.option("--depth", default=3, show_default=True, type=click.IntRange(1, 32), help="Cut classes below it.")
@click.option("--strict-depth", is_flag=True, help="Leave out pages above the depth.")
@click.option(
    "--multi",
    default="deepest",
    show_default=True,
    type=click.Choice(["deepest", "min"]),
    help="Of several classes of a page the deepest counts, or the nearest.",
)
@click.option(
    "--distance",
    default="family",
    show_default=True,
    type=click.Choice(["family", "tree"]),
    help="Same, sibling, cousin, unrelated; or steps up the tree.",
)
@click.option("--sample", type=click.IntRange(1), help="Only so many pairs of sibling classes (the paper has 300).")
@click.option(
    "--seed", default=2002, show_default=True, type=click.IntRange(0), help="For all that is drawn at random."
)
@click.option("--min-in-links", type=click.IntRange(0), help="Only pages with so many; by default 0, in a sample 1.")
@click.option("--queries", type=_FILE, help="A file of URLs, one a line: only these are sources; else all pages.")
@click.option("--run", type=_FILE, help="Judge this run file (tsv or TREC) instead of the index.")
@click.option("--strategy", help="Judge the store under another strategy: a preset or a TOML file.")
@similarity_option
@weights_option
@links_option
@click.option("--against", metavar="OTHER", help="Compare with a store, a run file, a strategy or a similarity.")
@click.option("--resamples", default=1000, show_default=True, type=click.IntRange(1), help="For intervals and tests.")
@click.option("--threads", type=click.IntRange(1), help="By default as many as there are processors.")
@click.option("--per-source", type=_FILE, help="Write the measures of each source alone, as TSV.")
@click.option("--write-qrels", type=_FILE, help="Write the kin of every source in the format of TREC.")
@click.option("--write-run", type=_FILE, help="Write the order that was judged in the format of TREC.")
@click.option("--run-depth", default=100, show_default=True, type=click.IntRange(1), help="Results a source in it.")
@json_option
def command(store: str | None, json: bool, **options: Any) -> None:
    """Compare an order by similarity with a hierarchy of classes: Gamma, Somers' D, P@10, nDCG@10.

    The order is that of the index in STORE or, with --run, of another system; without STORE, over all pages that the
    hierarchy names.
    """
    from dataclasses import fields, replace

    from pagekin.engines.local import cpu_count
    from pagekin.evaluation.evaluate import EvaluationOptions, judge_systems
    from pagekin.evaluation.report import as_json
    from pagekin.search.indexed_store import IndexedStore

    options["similarity"] = measured(options["similarity"], options["weights"])
    options["link_share"] = share_of(options["share"])
    evaluation_options = EvaluationOptions(**{each.name: options[each.name] for each in fields(EvaluationOptions)})
    indexed = IndexedStore.open(store) if store is not None else None
    with progress_bar(json) as show:
        judged = judge_systems(
            indexed,
            options["hierarchy"],
            evaluation_options,
            threads=options["threads"] or cpu_count(),
            progress=lambda progress: show(replace(progress, stage=clean(progress.stage))),
        )
    evaluation = judged.evaluation()
    _write(judged, options)
    if json:
        say_json(as_json(evaluation))
    else:
        say(evaluation)


def _write(judged: JudgedSystems, options: dict[str, Any]) -> None:
    """Write the files that the options name."""
    from pagekin.evaluation.report import per_source_lines
    from pagekin.evaluation.runs import qrel_lines, qrels_of, rankings_of, run_lines, untie

    population, system, judgement = judged.labelled.population, judged.systems[0], judged.judgements[0]
    sources = judgement.sources
    if options["per_source"]:
        write_lines(Path(options["per_source"]), per_source_lines(judgement, population))
    if options["write_qrels"]:
        write_lines(Path(options["write_qrels"]), qrel_lines(qrels_of(population, sources)))
    if options["write_run"]:
        rankings = rankings_of(system, population, sources, options["run_depth"])
        write_lines(Path(options["write_run"]), run_lines(untie(rankings)))
