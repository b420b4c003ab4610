"""Gamma and its companions, how sure they are, and whether two systems differ.

Every measure is a sum over sources divided by another: Gamma is concordant less discordant pairs over both (definition
3, aggregated as in 2.3), P@10 is a sum of shares over the number of sources. So one table of tops and bottoms, a row a
source, gives all values; drawing its rows again tells how much they hang on the choice of sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.evaluation.judge import CUTOFF, Judgement
from pagekin.kernels.gamma import CONCORDANT, DISCORDANT, NO_DISTANCE, TIED
from pagekin.model.arrays import Bools

Floats = NDArray[np.float64]
GAMMA, SOMERS, TIES = "gamma", "somers_d", "tied"
PRECISION, NDCG, ORTHOGONAL = f"P@{CUTOFF}", f"nDCG@{CUTOFF}", "orthogonal"
RESAMPLES, SEED = 1000, 2002
_BATCH = 1 << 22  # weights of sources that are held at a time
_LEVEL = 0.95


@dataclass(frozen=True)
class Ratios:
    """For each source and measure a top and a bottom; a measure is the sum of tops over the sum of bottoms."""

    names: list[str]
    top: Floats
    bottom: Floats

    def values(self) -> dict[str, float]:
        """The measures over all sources; NaN where there is nothing to measure."""
        return dict(zip(self.names, _divided(self.top.sum(axis=0), self.bottom.sum(axis=0)).tolist(), strict=True))

    def by_source(self) -> Floats:
        """The measures of each source alone."""
        return _divided(self.top, self.bottom)

    def some(self, which: Bools) -> Ratios:
        """The rows of some sources."""
        return Ratios(self.names, self.top[which], self.bottom[which])


@dataclass(frozen=True)
class Estimate:
    """A value, with a 95 % confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """By how much one system is better than another, and how likely chance alone would part them as far."""

    value: float
    low: float
    high: float
    p: float


def name_of(measure: str, region: str) -> str:
    """The name of a measure of pairs in a region.

    >>> name_of(GAMMA, "sibling")
    'gamma sibling'
    """
    return f"{measure} {region}"


def ratios(judgement: Judgement, regions: list[str]) -> Ratios:
    """All measures of a judgement."""
    columns: list[tuple[str, Floats, Floats]] = []
    for region, name in enumerate(regions):
        pairs = judgement.pairs[:, region].astype(np.float64)
        right, wrong, tied = pairs[:, CONCORDANT], pairs[:, DISCORDANT], pairs[:, TIED]
        columns += [
            (name_of(GAMMA, name), right - wrong, right + wrong),
            (name_of(SOMERS, name), right - wrong, right + wrong + tied),
            (name_of(TIES, name), tied, right + wrong + tied),
        ]
    ones = np.ones(len(judgement))
    same = judgement.pages[:, 0].astype(np.float64)
    columns += [
        (PRECISION, (judgement.first == 0).mean(axis=1), ones),
        (NDCG, *_gains(judgement)),
        (ORTHOGONAL, same - judgement.listed[:, 0], same),
    ]
    names, tops, bottoms = zip(*columns, strict=True)
    return Ratios(list(names), np.column_stack(tops), np.column_stack(bottoms))


def gain(distance: NDArray[np.integer]) -> Floats:
    """3 for the same class, 2 for a sibling, 1 for a cousin."""
    return np.asarray(np.maximum(3.0 - distance, 0.0))


def _gains(judgement: Judgement) -> tuple[Floats, Floats]:
    """nDCG of each source, which is 0 of 0 for one without kin."""
    discount = 1.0 / np.log2(np.arange(2, CUTOFF + 2))
    won = gain(np.where(judgement.first == NO_DISTANCE, 3, judgement.first.astype(np.int64))) @ discount
    # The ideal list: as many threes as there are pages of the same class, then twos, then ones.
    levels = np.arange(judgement.pages.shape[1])
    ends = np.cumsum(judgement.pages, axis=1)
    place = (np.arange(CUTOFF)[np.newaxis, :, np.newaxis] >= ends[:, np.newaxis, :]).sum(axis=2)
    ideal = np.append(gain(levels), 0.0)[place] @ discount
    indexed = ideal > 0
    return np.divide(won, ideal, out=np.zeros(len(won)), where=indexed), indexed.astype(np.float64)


def estimates(table: Ratios, resamples: int = RESAMPLES, seed: int = SEED) -> dict[str, Estimate]:
    """Every measure with its interval, by drawing sources anew with replacement."""
    drawn = np.concatenate([_drawn(table, weights) for weights in _resampled(len(table.top), resamples, seed)])
    low, high = _interval(drawn)
    values = table.values()
    return {name: Estimate(values[name], low[k], high[k]) for k, name in enumerate(table.names)}


def compare(a: Ratios, b: Ratios, resamples: int = RESAMPLES, seed: int = SEED) -> dict[str, Difference]:
    """a less b, over the same sources in the same order.

    Intervals are those of a paired bootstrap; p is that of a test by permutation, which swaps the systems at random in
    each source.
    """
    assert a.top.shape == b.top.shape
    drawn = [_drawn(a, weights) - _drawn(b, weights) for weights in _resampled(len(a.top), resamples, seed)]
    low, high = _interval(np.concatenate(drawn))
    found = np.array(list(a.values().values())) - np.array(list(b.values().values()))
    p = _chance(a, b, found, resamples, seed)
    return {name: Difference(float(found[k]), low[k], high[k], p[k]) for k, name in enumerate(a.names)}


def _chance(a: Ratios, b: Ratios, found: Floats, resamples: int, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    as_far = np.ones(len(a.names))  # the order that was found is one of the permutations
    for count in _batches(len(a.top), resamples):
        swap = rng.integers(0, 2, (count, len(a.top))).astype(np.float64)
        top, bottom = swap @ (b.top - a.top), swap @ (b.bottom - a.bottom)
        ours = _divided(a.top.sum(axis=0) + top, a.bottom.sum(axis=0) + bottom)
        theirs = _divided(b.top.sum(axis=0) - top, b.bottom.sum(axis=0) - bottom)
        as_far += (np.abs(ours - theirs) >= np.abs(found) - 1e-12).sum(axis=0)
    return [float(each) for each in np.where(np.isnan(found), np.nan, as_far / (resamples + 1))]


def _batches(sources: int, resamples: int) -> Iterator[int]:
    step = max(1, _BATCH // max(1, sources))
    for done in range(0, resamples, step):
        yield min(step, resamples - done)


def _resampled(sources: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each source is drawn: a row a resample, some at a time."""
    rng = np.random.default_rng(seed)
    for count in _batches(sources, resamples):
        places = rng.integers(0, sources, (count, sources)) + np.arange(0, count * sources, sources)[:, np.newaxis]
        yield np.bincount(places.ravel(), minlength=count * sources).reshape(count, sources).astype(np.float64)


def _drawn(table: Ratios, weights: Floats) -> Floats:
    return _divided(weights @ table.top, weights @ table.bottom)


def _interval(drawn: Floats) -> tuple[list[float], list[float]]:
    """The middle 95 % of each column; NaN for what was measured in no draw."""
    tail = (1 - _LEVEL) / 2
    low, high = [], []
    for column in drawn.T:
        measured = column[~np.isnan(column)]
        ends = np.quantile(measured, (tail, 1 - tail)).tolist() if len(measured) else (np.nan, np.nan)
        low.append(ends[0])
        high.append(ends[1])
    return low, high


def _divided(top: Floats, bottom: Floats) -> Floats:
    return np.asarray(np.divide(top, bottom, out=np.full(np.shape(top), np.nan), where=bottom > 0))
