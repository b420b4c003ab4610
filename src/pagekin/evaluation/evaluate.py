"""Evaluation of a collection, or of a run file, against a hierarchy of classes.

evaluate(IndexedStore.open("my.kin"), "labels.tsv").systems[0].precision
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pagekin.errors import MisuseError
from pagekin.evaluation.judge import Judgement, judge
from pagekin.evaluation.labelled import LabelledCollection, PopulationSettings, open_labelled
from pagekin.evaluation.notes import lines_of
from pagekin.evaluation.options import EvaluationOptions as EvaluationOptions
from pagekin.evaluation.report import Evaluation, compare_systems, evaluate_system, left_out_reasons
from pagekin.evaluation.systems import System
from pagekin.model.arrays import Int64s
from pagekin.model.strategy import strategy_named
from pagekin.model.weighting import load_weights
from pagekin.pipeline import Progress
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions


@dataclass(frozen=True)
class JudgedSystems:
    """The systems of an evaluation with their judgements: the one evaluated, then the one it is compared with."""

    hierarchy: str
    options: EvaluationOptions
    labelled: LabelledCollection
    systems: list[System]
    judgements: list[Judgement]

    def evaluation(self) -> Evaluation:
        """All measures of the systems and, if there are two, their comparison."""
        population, degrees = self.labelled.population, self.labelled.in_degrees()
        drawn = {"resamples": self.options.resamples, "seed": self.options.seed}
        judged = zip(self.systems, self.judgements, strict=True)
        both = len(self.systems) == 2
        return Evaluation(
            self.hierarchy,
            len(population),
            len(population.names),
            [evaluate_system(system, judgement, population, degrees, **drawn) for system, judgement in judged],
            compare_systems(self.systems, self.judgements, population, **drawn) if both else None,
            left_out_reasons(self.labelled.notes),
        )


def evaluate(
    indexed: IndexedStore | None, hierarchy: str, options: EvaluationOptions | None = None, *, threads: int = 1
) -> Evaluation:
    """Evaluate the ranking of an index, or of a run, against a file of labels or `path`, the folders of URLs.

    Without a store, the population is all pages that the hierarchy names.
    """
    return judge_systems(indexed, hierarchy, options or EvaluationOptions(), threads=threads).evaluation()


def judge_systems(
    indexed: IndexedStore | None,
    hierarchy: str,
    options: EvaluationOptions,
    *,
    threads: int = 1,
    progress: Callable[[Progress], None] = lambda _: None,
) -> JudgedSystems:
    """Judge the systems that the options name."""
    if indexed is None and options.run is None:
        raise MisuseError("name a STORE to evaluate, or a run file with --run")
    settings = PopulationSettings(hierarchy, options.tree, options, options.sample, options.seed, options.min_in_links)
    labelled = open_labelled(settings, indexed)
    sources = _sources(labelled, options.queries)
    systems = _systems(labelled, options)
    judgements = []
    for system in systems:
        done = 0

        def advance(count: int, name: str = system.name) -> None:
            nonlocal done
            done += count
            progress(Progress(f"judging {name}", done, len(sources)))

        judgements.append(judge(system, labelled.population, sources, threads=threads, progress=advance))
    others = np.setdiff1d(sources, judgements[0].sources).tolist()
    example = labelled.population.urls[others[0]] if others else ""
    labelled.notes.add("pages that are no source, since all others are equally far from them", example, len(others))
    return JudgedSystems(hierarchy, options, labelled, systems, judgements)


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
