"""What a judgement says, as one table of plain numbers for people and programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pagekin.evaluation.judge import CUTOFF, Judgement
from pagekin.evaluation.measures import (
    GAMMA,
    NDCG,
    ORTHOGONAL,
    PRECISION,
    RESAMPLES,
    SEED,
    SOMERS,
    TIES,
    Difference,
    Estimate,
    compare,
    estimates,
    name_of,
    ratios,
)
from pagekin.evaluation.population import Population
from pagekin.evaluation.systems import System
from pagekin.model.arrays import Int64s

OF_PAIRS = (GAMMA, SOMERS, TIES)
OF_LISTS = (PRECISION, NDCG)
BANDS = (0, 1, 4, 16, 64)  # in-links at which a band begins (footnote 11)


def of_system(
    system: System,
    judgement: Judgement,
    population: Population,
    in_degrees: Int64s | None = None,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """Every measure of a system with its interval, and Gamma by in-degree of the source."""
    regions = population.regions
    measured = {k: _plain(v) for k, v in estimates(ratios(judgement, regions), resamples, seed).items()}
    return {
        "system": system.name,
        "sources": len(judgement),
        "unanswered": int((judgement.listed.sum(axis=1) == 0).sum()),
        "longest_list": system.longest,
        "comparable": comparable(system),
        "regions": {
            region: {
                **{measure: measured[name_of(measure, region)] for measure in OF_PAIRS},
                "pairs": int(judgement.pairs[:, k].sum()),
            }
            for k, region in enumerate(regions)
        },
        **{measure: measured[measure] for measure in (*OF_LISTS, ORTHOGONAL)},
        "in_link_bands": [] if in_degrees is None else list(_bands(judgement, regions, in_degrees, resamples, seed)),
    }


def comparable(system: System) -> list[str]:
    """The measures that may be held against those of a system that orders all pages.

    What a list of the top k leaves out is tied at its end, and the measures of pairs count those ties, or leave them
    out, as if the system had nothing to say of these pages.
    """
    if system.longest is None:
        return [*OF_PAIRS, *OF_LISTS, ORTHOGONAL]
    return list(OF_LISTS) if system.longest >= CUTOFF else []


def _bands(
    judgement: Judgement, regions: list[str], in_degrees: Int64s, resamples: int, seed: int
) -> Iterator[dict[str, Any]]:
    band = np.searchsorted(BANDS, in_degrees[judgement.sources], side="right") - 1
    for k, begin in enumerate(BANDS):
        if (band == k).any():
            some = judgement.some(band == k)
            measured = estimates(ratios(some, regions), resamples, seed)
            end = BANDS[k + 1] - 1 if k + 1 < len(BANDS) else None
            yield {
                "from": begin,
                "to": end,
                "sources": len(some),
                **{region: _plain(measured[name_of(GAMMA, region)]) for region in regions},
            }


def of_difference(
    systems: Sequence[System],
    judgements: Sequence[Judgement],
    population: Population,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[str, Any]:
    """The first system less the second, measure by measure, over the same sources."""
    ours, theirs = (ratios(each, population.regions) for each in judgements)
    both = set.intersection(*(set(comparable(each)) for each in systems))
    return {
        "systems": [each.name for each in systems],
        "differences": {
            name: {**_plain(difference), "comparable": name.partition(" ")[0] in both}
            for name, difference in compare(ours, theirs, resamples, seed).items()
        },
    }


def source_lines(judgement: Judgement, population: Population) -> Iterator[str]:
    """The measures of each source alone, as TSV with a head; empty where there is nothing to measure."""
    table = ratios(judgement, population.regions)
    yield "\t".join(["url", "class", *table.names])
    for source, values in zip(judgement.sources.tolist(), table.by_source().tolist(), strict=True):
        classes = " | ".join("/".join(path) for path in population.classes_of(source))
        shown = ["" if math.isnan(value) else f"{value:.6f}" for value in values]
        yield "\t".join([population.urls[source], classes, *shown])


def _plain(value: Estimate | Difference) -> dict[str, float | None]:
    """To six places; None where there is nothing to measure, for JSON has no NaN."""
    return {key: None if math.isnan(number) else round(number, 6) for key, number in asdict(value).items()}
