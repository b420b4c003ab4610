"""The result of an evaluation as data, and as JSON."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from pagekin.evaluation.judge import CUTOFF, Judgement, System
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
    compare,
    estimates,
    measure_name,
    ratios,
)
from pagekin.evaluation.population import Population
from pagekin.model.arrays import Int64s
from pagekin.model.jsons import json_field

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
