"""Evaluation of a collection, or of a run file, against a hierarchy of classes, and the files that it writes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError
from pagekin.evaluation.judge import Judgement, System, judge
from pagekin.evaluation.labelled import LabelledCollection, open_labelled
from pagekin.evaluation.labels import lines_of
from pagekin.evaluation.options import EvaluationOptions
from pagekin.evaluation.report import Evaluation, compare_systems, evaluate_system, per_source_lines
from pagekin.evaluation.runs import qrel_lines, qrels_of, rankings_of, run_lines, untie
from pagekin.model.arrays import Int64s
from pagekin.model.files import write_lines
from pagekin.model.strategy import strategy_named
from pagekin.model.weights import load_weights
from pagekin.pipeline import Progress
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions


def evaluate(
    indexed: IndexedStore | None,
    hierarchy: str,
    options: EvaluationOptions,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Evaluation:
    """Evaluate the ranking of an index, another strategy or a run file, and write the files that the options name.

    `hierarchy` is a file of labels, or `path`, the folders of URLs. Without a store, the population is all pages that
    it names.
    """
    if indexed is None and options.run is None:
        raise MisuseError("name a STORE to evaluate, or a run file with --run")
    labelled, threads = open_labelled(hierarchy, indexed, options), options.threads or cpu_count()
    population, degrees = labelled.population, labelled.in_degrees()
    sources = _sources(labelled, options.queries)

    def judged(system: System) -> Judgement:
        stage = f"judging {system.name}"
        return judge(system, population, sources, threads, lambda done: progress(Progress(stage, done, len(sources))))

    systems = _systems(labelled, options)
    judgements = [judged(system) for system in systems]
    unused = [population.urls[page] for page in np.setdiff1d(sources, judgements[0].sources).tolist()]
    labelled.notes.add_all("pages that are no source, since all others are equally far from them", unused)
    drawn = {"resamples": options.resamples, "seed": options.seed}
    pairs = zip(systems, judgements, strict=True)
    evaluation = Evaluation(
        hierarchy,
        len(population),
        len(population.names),
        [evaluate_system(system, judgement, population, degrees, **drawn) for system, judgement in pairs],
        compare_systems(systems, judgements, population, **drawn) if len(systems) == 2 else None,
        labelled.notes.reasons(),
    )
    used = judgements[0].sources
    if options.per_source:
        write_lines(Path(options.per_source), per_source_lines(judgements[0], population))
    if options.write_qrels:
        write_lines(Path(options.write_qrels), qrel_lines(qrels_of(population, used)))
    if options.write_run:
        rankings = rankings_of(systems[0], population, used, options.run_depth)
        write_lines(Path(options.write_run), run_lines(untie(rankings)))
    return evaluation


def _sources(labelled: LabelledCollection, queries: str | None) -> Int64s:
    """The pages of a file of queries; all pages without one."""
    if queries is None:
        return np.arange(len(labelled.population))
    pages: dict[int | None, int] = {node: page for page, node in enumerate(labelled.population.nodes.tolist())}
    found: set[int] = set()
    for _, line in lines_of(Path(queries), labelled.notes):
        page = pages.get(labelled.addresses.find(line.strip()))
        if page is not None:
            found.add(page)
        else:
            labelled.notes.add(f"lines of {queries} that name no page that is compared", line.strip())
    return np.array(sorted(found), np.int64)


def _systems(labelled: LabelledCollection, options: EvaluationOptions) -> list[System]:
    """The system to evaluate, and the one to compare it with."""
    strategy = strategy_named(options.strategy) if options.strategy else None
    related = RelatedOptions(link_share=options.link_share, blend=options.blend)
    if options.run is not None:
        system = labelled.run(options.run)
    elif strategy is None:
        assert labelled.indexed is not None
        own = labelled.indexed.index.strategy
        weighting = load_weights(Path(options.weights)) if options.weights is not None else None
        related = replace(related, similarity=options.similarity, weighting=weighting)
        system = labelled.index_system(labelled.indexed, related)
        strategy = replace(own, weights=options.weights or own.weights)
    else:
        similarity, weights = options.similarity or strategy.similarity, options.weights or strategy.weights
        strategy = replace(strategy, similarity=similarity, weights=weights)
        system = labelled.under(strategy, options.strategy or "", related)
    return [system, *([labelled.named(options.against, strategy)] if options.against else [])]
