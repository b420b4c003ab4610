"""Evaluation of a ranking by a hierarchy of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.collection.options import EvaluateOptions
from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError
from pagekin.evaluation.judge import Judgement, judge
from pagekin.evaluation.labelled import LabelledCollection, PopulationSettings, open_labelled
from pagekin.evaluation.notes import lines_of
from pagekin.evaluation.population import Shape
from pagekin.evaluation.report import of_difference, of_system, source_lines
from pagekin.evaluation.runs import qrel_lines, run_lines
from pagekin.evaluation.systems import System
from pagekin.model.arrays import Int64s
from pagekin.model.files import write_lines
from pagekin.model.jsons import json_field
from pagekin.model.strategy import strategy_named
from pagekin.pipeline import Progress
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions, weighting_in

_LEARNED = "linklearn"


@dataclass(frozen=True)
class Evaluation:
    """How well rankings agree with a hierarchy; docs/json.md describes the measures of a system."""

    hierarchy: str
    pages: int
    classes: int
    systems: list[dict[str, Any]]
    comparison: dict[str, Any] | None
    left_out: list[tuple[str, int, str]] = json_field(columns=("reason", "count", "example"))


def evaluate(
    indexed: IndexedStore | None,
    hierarchy: str,
    options: EvaluateOptions,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Evaluation:
    """Evaluate the index of a collection, another strategy or a run file, and write the files that options name."""
    if indexed is None and not options.run:
        raise MisuseError("name a STORE to evaluate, or a run file with --run")
    if options.run and (options.strategy, options.similarity, options.weights, options.link_share) != (None,) * 4:
        raise MisuseError("a run has neither a strategy nor a similarity; leave out --run, or those")
    if options.weights and options.similarity not in (None, _LEARNED):
        raise MisuseError(f"similarity is {options.similarity!r}, but the weights are for {_LEARNED}")
    shape = Shape(options.depth, options.strict_depth, options.multi, options.distance)
    chosen = {name: getattr(options, name) for name in ("tree", "sample", "seed", "min_in_links")}
    case = open_labelled(PopulationSettings(hierarchy, shape=shape, **chosen), indexed)
    sources = _sources(case, options.queries)
    systems = _systems(case, options)
    judgements = [_judge(each, case, sources, options.threads or cpu_count(), progress) for each in systems]
    _note_unused(case, sources, judgements[0])
    _write(case, systems[0], judgements[0], options)
    population, degrees = case.population, case.in_degrees()
    drawn = (options.resamples, options.seed)
    return Evaluation(
        hierarchy=hierarchy,
        pages=len(population),
        classes=len(population.names),
        systems=[of_system(s, j, population, degrees, *drawn) for s, j in zip(systems, judgements, strict=True)],
        comparison=of_difference(systems, judgements, population, *drawn) if len(systems) == 2 else None,
        left_out=case.notes.rows(),
    )


def _systems(case: LabelledCollection, options: EvaluateOptions) -> list[System]:
    """The evaluated system, and the one to compare with if there is one."""
    weights = options.weights
    similarity = _LEARNED if weights else options.similarity
    strategy = strategy_named(options.strategy) if options.strategy else None
    if options.run:
        systems: list[System] = [case.run(options.run)]
    elif strategy is None:
        assert case.indexed is not None
        wanted = RelatedOptions(similarity=similarity, weighting=weighting_in(weights), link_share=options.link_share)
        systems = [case.index_system(case.indexed, wanted)]
        strategy = replace(case.indexed.index.strategy, weights=weights or case.indexed.index.strategy.weights)
    else:
        assert options.strategy is not None
        strategy = replace(strategy, similarity=similarity or strategy.similarity, weights=weights or strategy.weights)
        systems = [case.under(strategy, options.strategy, RelatedOptions(link_share=options.link_share))]
    return [*systems, *([case.named(options.against, strategy)] if options.against else [])]


def _sources(case: LabelledCollection, queries: str | None) -> Int64s | None:
    if queries is None:
        return None
    pages = {node: page for page, node in enumerate(case.population.nodes.tolist())}
    found: set[int] = set()
    for _, line in lines_of(Path(queries), case.notes):
        node = case.addresses.find(line.strip())
        if node in pages:
            found.add(pages[node])
        else:
            case.notes.add(f"lines of {queries} that name no page that is compared", line.strip())
    return np.array(sorted(found), np.int64)


def _judge(
    system: System, case: LabelledCollection, sources: Int64s | None, threads: int, progress: Callable[[Progress], None]
) -> Judgement:
    total, done = len(case.population) if sources is None else len(sources), 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(Progress(f"judging {system.name}", done, total))

    return judge(system, case.population, sources, threads=threads, progress=advance)


def _note_unused(case: LabelledCollection, sources: Int64s | None, judgement: Judgement) -> None:
    asked = np.arange(len(case.population)) if sources is None else sources
    others = np.setdiff1d(asked, judgement.sources).tolist()
    example = case.population.urls[others[0]] if others else ""
    case.notes.add("pages that are no source, since all others are equally far from them", example, len(others))


def _write(case: LabelledCollection, system: System, judgement: Judgement, options: EvaluateOptions) -> None:
    population, sources = case.population, judgement.sources
    if options.per_source:
        write_lines(Path(options.per_source), source_lines(judgement, population))
    if options.write_qrels:
        write_lines(Path(options.write_qrels), qrel_lines(population, sources))
    if options.write_run:
        write_lines(Path(options.write_run), run_lines(system, population, sources, options.run_depth))
