"""Gamma and other measures, their confidence intervals, and tests of differences between systems.

Every measure is a ratio of two sums over the sources: Gamma is (concordant - discordant) / (concordant + discordant)
pairs (definition 3, aggregated as in 2.3), P@10 is the sum of precisions over the number of sources. One table of
numerators and denominators, a row per source, gives all values; resampling its rows gives their intervals.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pagekin.evaluation.judge import CUTOFF, Judgement
from pagekin.kernels.rankings import CONCORDANT, DISCORDANT, NO_DISTANCE, TIED
from pagekin.model.arrays import Bools, Floats
from pagekin.model.jsons import json_field

PAIR_MEASURES = GAMMA, SOMERS, TIES = "gamma", "somers_d", "tied"
LIST_MEASURES = PRECISION, NDCG = f"P@{CUTOFF}", f"nDCG@{CUTOFF}"
ORTHOGONAL = "orthogonal"
MEASURES = (*PAIR_MEASURES, *LIST_MEASURES, ORTHOGONAL)
RESAMPLES, SEED = 1000, 2002
_BATCH = 1 << 22  # weights of sources in memory at a time
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ratios:
    """A numerator and a denominator for each source and measure."""

    names: list[str]
    numerator: Floats
    denominator: Floats

    def values(self) -> dict[str, float]:
        """The measures over all sources; NaN where the denominator is 0."""
        values = _divide(self.numerator.sum(axis=0), self.denominator.sum(axis=0))
        return dict(zip(self.names, values.tolist(), strict=True))

    def by_source(self) -> Floats:
        return _divide(self.numerator, self.denominator)

    def select(self, which: Bools) -> Self:
        return type(self)(self.names, self.numerator[which], self.denominator[which])

    def only(self, name: str) -> Self:
        place = slice(self.names.index(name), self.names.index(name) + 1)
        return type(self)([name], self.numerator[:, place], self.denominator[:, place])

    def weighted(self, weights: Floats) -> Floats:
        return _divide(weights @ self.numerator, weights @ self.denominator)


@dataclass(frozen=True)
class Estimate:
    """A value with a 95 % confidence interval."""

    value: float = json_field(digits=6)
    low: float = json_field(digits=6)
    high: float = json_field(digits=6)


@dataclass(frozen=True)
class Difference(Estimate):
    """The difference of two systems with a confidence interval and a p-value."""

    p: float = json_field(digits=6)


def measure_name(measure: str, region: str) -> str:
    """The name of a measure of pairs in a region.

    >>> measure_name(GAMMA, "sibling")
    'gamma sibling'
    """
    return f"{measure} {region}"


def ratios(judgement: Judgement, regions: list[str]) -> Ratios:
    columns: list[tuple[str, Floats, Floats]] = []
    for region, name in enumerate(regions):
        pairs = judgement.pairs[:, region].astype(np.float64)
        right, wrong, tied = pairs[:, CONCORDANT], pairs[:, DISCORDANT], pairs[:, TIED]
        columns += [
            (measure_name(GAMMA, name), right - wrong, right + wrong),
            (measure_name(SOMERS, name), right - wrong, right + wrong + tied),
            (measure_name(TIES, name), tied, right + wrong + tied),
        ]
    same_class = judgement.pages[:, 0].astype(np.float64)
    columns += [
        (PRECISION, (judgement.first == 0).mean(axis=1), np.ones(len(judgement))),
        (NDCG, *_ndcg(judgement)),
        (ORTHOGONAL, same_class - judgement.listed[:, 0], same_class),
    ]
    names, numerators, denominators = zip(*columns, strict=True)
    return Ratios(list(names), np.column_stack(numerators), np.column_stack(denominators))


def gain(distance: NDArray[np.integer]) -> Floats:
    """3 for the same class, 2 for a sibling, 1 for a cousin."""
    return np.asarray(np.maximum(3.0 - distance, 0.0))


def _ndcg(judgement: Judgement) -> tuple[Floats, Floats]:
    """nDCG of each source; the denominator is 0 for a source without related pages."""
    discount = 1.0 / np.log2(np.arange(2, CUTOFF + 2))
    dcg = gain(np.where(judgement.first == NO_DISTANCE, 3, judgement.first.astype(np.int64))) @ discount
    # The ideal ranking: all pages at distance 0, then all at distance 1, and so on.
    levels = np.arange(judgement.pages.shape[1])
    ends = np.cumsum(judgement.pages, axis=1)
    place = (np.arange(CUTOFF)[np.newaxis, :, np.newaxis] >= ends[:, np.newaxis, :]).sum(axis=2)
    ideal = np.append(gain(levels), 0.0)[place] @ discount
    has_related = ideal > 0
    return np.divide(dcg, ideal, out=np.zeros(len(dcg)), where=has_related), has_related.astype(np.float64)


def estimates(table: Ratios, resamples: int = RESAMPLES, seed: int = SEED) -> dict[str, Estimate]:
    drawn = [table.weighted(weights) for weights in _bootstrap(len(table.numerator), resamples, seed)]
    values = table.values()
    intervals = zip(table.names, _intervals(np.concatenate(drawn)), strict=True)
    return {name: Estimate(values[name], *interval) for name, interval in intervals}


def compare(a: Ratios, b: Ratios, resamples: int = RESAMPLES, seed: int = SEED) -> dict[str, Difference]:
    """a - b over the same sources in the same order.

    Intervals are from a paired bootstrap, p-values from a permutation test that swaps the systems within sources.
    """
    assert a.numerator.shape == b.numerator.shape
    batches = _bootstrap(len(a.numerator), resamples, seed)
    intervals = _intervals(np.concatenate([a.weighted(weights) - b.weighted(weights) for weights in batches]))
    difference = np.array(list(a.values().values())) - np.array(list(b.values().values()))
    p_values = _permutation_test(a, b, difference, resamples, seed)
    columns = zip(a.names, difference.tolist(), intervals, p_values, strict=True)
    return {name: Difference(value, *interval, p) for name, value, interval, p in columns}


def _permutation_test(a: Ratios, b: Ratios, difference: Floats, resamples: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    as_large = np.ones(len(a.names))  # the observed assignment is one of the permutations
    for count in _batches(len(a.numerator), resamples):
        swap = rng.integers(0, 2, (count, len(a.numerator))).astype(np.float64)
        top, bottom = swap @ (b.numerator - a.numerator), swap @ (b.denominator - a.denominator)
        ours = _divide(a.numerator.sum(axis=0) + top, a.denominator.sum(axis=0) + bottom)
        theirs = _divide(b.numerator.sum(axis=0) - top, b.denominator.sum(axis=0) - bottom)
        as_large += (np.abs(ours - theirs) >= np.abs(difference) - 1e-12).sum(axis=0)
    return [float(each) for each in np.where(np.isnan(difference), np.nan, as_large / (resamples + 1))]


def _batches(sources: int, resamples: int) -> Iterator[int]:
    step = max(1, _BATCH // max(1, sources))
    for done in range(0, resamples, step):
        yield min(step, resamples - done)


def _bootstrap(sources: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each source is drawn with replacement: a row per resample, in batches."""
    rng = np.random.default_rng(seed)
    for count in _batches(sources, resamples):
        places = rng.integers(0, sources, (count, sources)) + np.arange(0, count * sources, sources)[:, np.newaxis]
        yield np.bincount(places.ravel(), minlength=count * sources).reshape(count, sources).astype(np.float64)


def _intervals(drawn: Floats) -> Iterator[tuple[float, float]]:
    """The central 95 % of each column; NaN for a column without values."""
    tail = (1 - _CONFIDENCE) / 2
    for column in drawn.T:
        values = column[~np.isnan(column)]
        low, high = np.quantile(values, (tail, 1 - tail)).tolist() if len(values) else (np.nan, np.nan)
        yield low, high


def _divide(top: Floats, bottom: Floats) -> Floats:
    return np.asarray(np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 0))
