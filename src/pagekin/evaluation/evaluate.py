"""Evaluation of a collection, or of a run file, against a hierarchy of classes, and the files that it writes."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError
from pagekin.evaluation.judge import CUTOFF, Judgement, Population, System, judge
from pagekin.evaluation.labelled import LabelledCollection, open_labelled
from pagekin.evaluation.labels import LeftOutReason, lines_of
from pagekin.evaluation.measures import (
    GAMMA,
    LIST_MEASURES,
    MEASURES,
    NDCG,
    ORTHOGONAL,
    PAIR_MEASURES,
    PRECISION,
    RESAMPLES,
    SEED,
    Difference,
    Estimate,
    compare,
    estimates,
    measure_name,
    ratios,
)
from pagekin.evaluation.options import EvaluationOptions
from pagekin.evaluation.runs import qrel_lines, qrels_of, rankings_of, run_lines, untie
from pagekin.model.arrays import Int64s
from pagekin.model.files import write_lines
from pagekin.model.jsons import json_field
from pagekin.model.strategy import strategy_named
from pagekin.model.weighting import load_weights
from pagekin.pipeline import Progress
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions

BANDS = (0, 1, 4, 16, 64)  # smallest number of in-links of each band (footnote 11)


@dataclass(frozen=True)
class RegionMeasures:
    """The measures of the pairs of a region, and their number."""

    gamma: Estimate
    somers_d: Estimate
    tied: Estimate
    pairs: int


@dataclass(frozen=True)
class InLinkBand:
    """Gamma by region, over the sources with `first` to `last` in-links."""

    first: int = json_field(key="from")
    last: int | None = json_field(key="to")
    sources: int = json_field()
    gamma: dict[str, Estimate] = json_field(inline=True)


@dataclass(frozen=True)
class SystemEvaluation:
    """All measures of a system."""

    system: str
    sources: int
    unanswered: int  # sources for which the system ranks no page
    longest_list: int | None  # None if the system ranks all pages that it can compare
    comparable: list[str]  # measures that can be compared with those of systems that rank all pages
    regions: dict[str, RegionMeasures]
    precision: Estimate = json_field(key=PRECISION)
    ndcg: Estimate = json_field(key=NDCG)
    orthogonal: Estimate = json_field()
    in_link_bands: list[InLinkBand] = json_field()


@dataclass(frozen=True)
class MeasureDifference(Difference):
    """The difference of a measure, and whether both systems have it comparable."""

    comparable: bool = json_field()


@dataclass(frozen=True)
class Comparison:
    """The differences of two systems, the first minus the second, by measure."""

    systems: list[str]
    differences: dict[str, MeasureDifference]


@dataclass(frozen=True)
class Evaluation:
    """One system or two, evaluated against a hierarchy."""

    hierarchy: str
    pages: int
    classes: int
    systems: list[SystemEvaluation]
    comparison: Comparison | None
    left_out: list[LeftOutReason]


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


def evaluate_system(
    system: System,
    judgement: Judgement,
    population: Population,
    in_degrees: Int64s | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> SystemEvaluation:
    """Every measure of a system with its interval, and Gamma by in-degree of the source."""
    regions = population.regions
    measured = estimates(ratios(judgement, regions), resamples, seed)
    by_region = {}
    for k, region in enumerate(regions):
        gamma, somers_d, tied = (measured[measure_name(measure, region)] for measure in PAIR_MEASURES)
        by_region[region] = RegionMeasures(gamma, somers_d, tied, int(judgement.pairs[:, k].sum()))
    return SystemEvaluation(
        system.name,
        len(judgement),
        int((judgement.listed.sum(axis=1) == 0).sum()),
        system.longest,
        comparable_measures(system),
        by_region,
        measured[PRECISION],
        measured[NDCG],
        measured[ORTHOGONAL],
        [] if in_degrees is None else list(_bands(judgement, regions, in_degrees, resamples, seed)),
    )


def comparable_measures(system: System) -> list[str]:
    """The measures that can be compared with those of a system that ranks all pages.

    The pages that a top-k list leaves out are tied, which distorts the measures of pairs.
    """
    if system.longest is None:
        return list(MEASURES)
    return list(LIST_MEASURES) if system.longest >= CUTOFF else []


def _bands(
    judgement: Judgement, regions: list[str], in_degrees: Int64s, resamples: int, seed: int
) -> Iterator[InLinkBand]:
    band = np.searchsorted(BANDS, in_degrees[judgement.sources], side="right") - 1
    for k, first in enumerate(BANDS):
        if (band == k).any():
            part = judgement.select(band == k)
            measured = estimates(ratios(part, regions), resamples, seed)
            last = BANDS[k + 1] - 1 if k + 1 < len(BANDS) else None
            gamma = {region: measured[measure_name(GAMMA, region)] for region in regions}
            yield InLinkBand(first, last, len(part), gamma)


def compare_systems(
    systems: Sequence[System],
    judgements: Sequence[Judgement],
    population: Population,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison:
    """The first system minus the second, measure by measure, over the same sources."""
    ours, theirs = (ratios(each, population.regions) for each in judgements)
    both = set.intersection(*(set(comparable_measures(each)) for each in systems))
    differences = {
        name: MeasureDifference(**asdict(difference), comparable=name.partition(" ")[0] in both)
        for name, difference in compare(ours, theirs, resamples, seed).items()
    }
    return Comparison([each.name for each in systems], differences)


def per_source_lines(judgement: Judgement, population: Population) -> Iterator[str]:
    """The measures of each source as TSV with a header; empty where a measure is undefined."""
    table = ratios(judgement, population.regions)
    yield "\t".join(["url", "class", *table.names])
    for source, values in zip(judgement.sources.tolist(), table.by_source().tolist(), strict=True):
        classes = " | ".join("/".join(path) for path in population.classes_of(source))
        shown = ["" if math.isnan(value) else f"{value:.6f}" for value in values]
        yield "\t".join([population.urls[source], classes, *shown])
