"""Evaluation of a collection, or of a run file, against a hierarchy of classes, and the files that it writes."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError
from pagekin.evaluation.judge import CUTOFF, Judgement, System, judge
from pagekin.evaluation.labelled import open_labelled
from pagekin.evaluation.labels import LeftOutReason
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
    Ratios,
    compare,
    estimates,
    measure_name,
    ratios,
)
from pagekin.evaluation.options import EvaluationOptions
from pagekin.evaluation.population import Population
from pagekin.evaluation.run_lines import run_lines
from pagekin.evaluation.runs import qrel_lines, qrels_of, rankings_of, untie
from pagekin.model.arrays import Int64s
from pagekin.model.files import write_lines
from pagekin.model.jsons import json_field
from pagekin.model.progress import Progress
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.store import report_damage

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
class EvaluatedSystem:
    """A system, and what can be said of its rankings without measures."""

    system: str
    sources: int
    unanswered: int  # sources for which the system ranks no page
    longest_list: int | None  # None if the system ranks all pages that it can compare
    comparable: list[str]  # measures that can be compared with those of systems that rank all pages


@dataclass(frozen=True)
class SystemEvaluation(EvaluatedSystem):
    """All measures of a system."""

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


@dataclass(frozen=True, repr=False)
class Evaluation:
    """One system or two, evaluated against a hierarchy."""

    hierarchy: str
    pages: int
    classes: int
    systems: list[SystemEvaluation]
    comparison: Comparison | None
    left_out: list[LeftOutReason]

    def __repr__(self) -> str:
        measures = f"{PRECISION} {self.systems[0].precision.value:.3f}, {NDCG} {self.systems[0].ndcg.value:.3f}"
        return f"<Evaluation of {self.pages:,} pages in {self.classes:,} classes: {measures}>"


@report_damage
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
    sources = labelled.sources(options.queries)

    def judged(system: System) -> Judgement:
        stage = f"judging {system.name}"
        return judge(system, population, sources, threads, lambda done: progress(Progress(stage, done, len(sources))))

    systems = labelled.systems(options)
    judgements = [judged(system) for system in systems]
    unused = [population.urls[page] for page in np.setdiff1d(sources, judgements[0].sources).tolist()]
    labelled.notes.add_all("pages that are no source, since all others are equally far from them", unused)
    drawn = {"resamples": options.resamples, "seed": options.seed}
    pairs = zip(systems, judgements, strict=True)
    evaluated = [evaluate_system(system, judgement, population, degrees, **drawn) for system, judgement in pairs]
    tables = [ratios(each, population.regions) for each in judgements]
    comparison, left_out = compare_systems(evaluated, tables, **drawn), labelled.notes.reasons()
    evaluation = Evaluation(hierarchy, len(population), len(population.names), evaluated, comparison, left_out)
    used = judgements[0].sources
    if options.per_source:
        classes = [" | ".join("/".join(path) for path in population.classes_of(source)) for source in used.tolist()]
        urls = [population.urls[source] for source in used.tolist()]
        write_lines(Path(options.per_source), per_source_lines(tables[0], {"url": urls, "class": classes}))
    if options.write_qrels:
        write_lines(Path(options.write_qrels), qrel_lines(qrels_of(population, used)))
    if options.write_run:
        rankings = rankings_of(systems[0], population, used, options.run_depth)
        write_lines(Path(options.write_run), run_lines(untie(rankings)))
    return evaluation


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


def comparable_measures(
    system: System, measures: Sequence[str] = MEASURES, of_lists: Sequence[str] = LIST_MEASURES
) -> list[str]:
    """The measures that can be compared with those of a system that ranks all pages.

    The pages that a top-k list leaves out are tied, which distorts all measures but those `of_lists`.
    """
    if system.longest is None:
        return list(measures)
    return list(of_lists) if system.longest >= CUTOFF else []


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
    systems: Sequence[EvaluatedSystem],
    tables: Sequence[Ratios],
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Comparison | None:
    """The first system minus the second, measure by measure, over the same sources; None for one system."""
    if len(systems) == 1:
        return None
    both = set.intersection(*(set(each.comparable) for each in systems))
    differences = {
        name: MeasureDifference(**asdict(difference), comparable=name.partition(" ")[0] in both)
        for name, difference in compare(tables[0], tables[1], resamples, seed).items()
    }
    return Comparison([each.system for each in systems], differences)


def per_source_lines(table: Ratios, columns: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Columns and the measures of each source as TSV with a header; empty where a measure is undefined."""
    yield "\t".join([*columns, *table.names])
    for values, *cells in zip(table.by_source().tolist(), *columns.values(), strict=True):
        yield "\t".join([*cells, *("" if math.isnan(value) else f"{value:.6f}" for value in values)])
