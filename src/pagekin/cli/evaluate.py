"""`pagekin evaluate`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pagekin.cli.evaluate_output import say
from pagekin.cli.output import clean, json_option, progress_bar, say_json
from pagekin.cli.similarity_options import (
    links_option,
    measured,
    share_of,
    similarity_option,
    weighting_of,
    weights_option,
)
from pagekin.errors import MisuseError
from pagekin.model.files import write_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from pagekin.evaluation.judge import Judgement
    from pagekin.evaluation.labelled import LabelledCollection
    from pagekin.evaluation.systems import System
    from pagekin.model.arrays import Int64s

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
    share_of(options["share"])  # what is wrong with it is told before work begins
    case = _case(store, options)
    sources = _sources(case, options["queries"])
    systems = _systems(case, options)
    judgements = [_judged(each, case, sources, options["threads"], json) for each in systems]
    _note_others(case, sources, judgements[0])
    report = _report(case, systems, judgements, options)
    _write(case, systems[0], judgements[0], options)
    if json:
        say_json(report)
    else:
        say(report)


def _note_others(case: LabelledCollection, sources: Int64s | None, judgement: Judgement) -> None:
    """Take note of pages that were to be sources, and are none."""
    import numpy as np

    asked = np.arange(len(case.population)) if sources is None else sources
    others = np.setdiff1d(asked, judgement.sources).tolist()
    example = case.population.urls[others[0]] if others else ""
    case.notes.add("pages that are no source, since all others are equally far from them", example, len(others))


def _report(
    case: LabelledCollection, systems: list[System], judgements: list[Judgement], options: dict[str, Any]
) -> dict[str, Any]:
    from pagekin.evaluation.report import of_difference, of_system

    population, degrees = case.population, case.in_degrees()
    drawn = {"resamples": options["resamples"], "seed": options["seed"]}
    judged = zip(systems, judgements, strict=True)
    return {
        "hierarchy": options["hierarchy"],
        "pages": len(population),
        "classes": len(population.names),
        "systems": [of_system(each, judgement, population, degrees, **drawn) for each, judgement in judged],
        "comparison": of_difference(systems, judgements, population, **drawn) if len(systems) == 2 else None,
        "left_out": [{"reason": reason, "count": n, "example": example} for reason, n, example in case.notes.rows()],
    }


def _write(case: LabelledCollection, system: System, judgement: Judgement, options: dict[str, Any]) -> None:
    """Write the files that are wanted."""
    from pagekin.evaluation.report import source_lines
    from pagekin.evaluation.runs import qrel_lines, run_lines

    population, sources = case.population, judgement.sources
    if options["per_source"]:
        write_lines(Path(options["per_source"]), source_lines(judgement, population))
    if options["write_qrels"]:
        write_lines(Path(options["write_qrels"]), qrel_lines(population, sources))
    if options["write_run"]:
        write_lines(Path(options["write_run"]), run_lines(system, population, sources, options["run_depth"]))


def _case(store: str | None, options: dict[str, Any]) -> LabelledCollection:
    from pagekin.evaluation.labelled import PopulationSettings, open_labelled
    from pagekin.evaluation.population import Shape
    from pagekin.search.indexed_store import IndexedStore

    if store is None and not options["run"]:
        raise MisuseError("name a STORE to judge, or a run file with --run")
    if options["run"] and any(options[each] is not None for each in ("strategy", "similarity", "weights", "share")):
        raise MisuseError("a run has neither a strategy nor a similarity; leave out --run, or those")
    shape = Shape(options["depth"], options["strict_depth"], options["multi"], options["distance"])
    chosen = {key: options[key] for key in ("hierarchy", "tree", "sample", "seed", "min_in_links")}
    return open_labelled(
        PopulationSettings(shape=shape, **chosen), IndexedStore.open(store) if store is not None else None
    )


def _systems(case: LabelledCollection, options: dict[str, Any]) -> list[System]:
    """What is judged, and what it is compared with."""
    from dataclasses import replace

    from pagekin.model.strategy import strategy_named
    from pagekin.search.options import RelatedOptions

    weights = options["weights"]
    similarity, share = measured(options["similarity"], weights), share_of(options["share"])
    strategy = strategy_named(options["strategy"]) if options["strategy"] else None
    if options["run"]:
        systems: list[System] = [case.run(options["run"])]
    elif strategy is None:
        assert case.indexed is not None
        wanted = RelatedOptions(similarity=similarity, weighting=weighting_of(weights), link_share=share)
        systems = [case.index_system(case.indexed, wanted)]
        strategy = replace(case.indexed.index.strategy, weights=weights or case.indexed.index.strategy.weights)
    else:
        strategy = replace(strategy, similarity=similarity or strategy.similarity, weights=weights or strategy.weights)
        systems = [case.under(strategy, options["strategy"], RelatedOptions(link_share=share))]
    return [*systems, *([case.named(options["against"], strategy)] if options["against"] else [])]


def _sources(case: LabelledCollection, queries: str | None) -> Int64s | None:
    import numpy as np

    from pagekin.evaluation.notes import lines_of

    if queries is None:
        return None
    pages = {node: page for page, node in enumerate(case.population.nodes.tolist())}
    found: dict[int, None] = {}
    for _, line in lines_of(Path(queries), case.notes):
        node = case.addresses.find(line.strip())
        if node in pages:
            found[pages[node]] = None
        else:
            case.notes.add(f"lines of {queries} that name no page that is compared", line.strip())
    return np.array(sorted(found), np.int64)


@contextmanager
def _bar(name: str, total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    from pagekin.pipeline import Progress

    with progress_bar(quiet) as show:
        done = 0

        def advance(count: int) -> None:
            nonlocal done
            done += count
            show(Progress(f"judging {clean(name)}", done, total))

        yield advance


def _judged(
    system: System, case: LabelledCollection, sources: Int64s | None, threads: int | None, quiet: bool
) -> Judgement:
    from pagekin.engines.local import cpu_count
    from pagekin.evaluation.judge import judge

    asked = len(case.population) if sources is None else len(sources)
    with _bar(system.name, asked, quiet) as advance:
        return judge(system, case.population, sources, threads=threads or cpu_count(), progress=advance)
