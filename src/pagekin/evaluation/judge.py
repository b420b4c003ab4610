"""Every source against every other page of a population."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from typing import Protocol, Self, TypeVar

import numpy as np

from pagekin.errors import MisuseError
from pagekin.evaluation.population import ComparedPages, Population
from pagekin.kernels.rankings import ALL, NO_DISTANCE, count_rows, rank_rows
from pagekin.model.arrays import Bools, Bytes, Floats, Int64s

T = TypeVar("T")

CUTOFF = 10  # of P@10, R@10 and nDCG@10
_MAX_SCORES = 1 << 20  # in memory per thread


class System(Protocol):
    """Anything that orders the pages of a population. `scores` is called from several threads."""

    @property
    def name(self) -> str: ...

    @property
    def longest(self) -> int | None:
        """How many pages it lists for a source at most, if it leaves out others that it could compare."""

    def scores(self, sources: Int64s) -> Floats:
        """For each source, a row of scores of all pages of the population; the more similar, the higher.

        A page that the system does not list, or that shares nothing with the source, scores minus infinity.
        """


@dataclass(frozen=True)
class Judgement:
    """Counts for each source."""

    sources: Int64s
    pairs: Int64s  # by region: concordant, discordant, tied
    pages: Int64s  # by distance
    listed: Int64s  # by distance: the pages that the system ranks
    first: Bytes  # the distances of the top-ranked pages

    def __len__(self) -> int:
        return len(self.sources)

    def select(self, which: Bools) -> Self:
        return type(self)(*(getattr(self, each.name)[which] for each in fields(self)))


def judge(
    system: System,
    population: Population,
    sources: Int64s | None = None,
    threads: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> Judgement:
    """Compare the ranking for every source, by default every page, with the order by familial distance.

    A source whose distances to all pages are equal is left out: no order of them is wrong. `progress` is called with
    the number of sources done.
    """
    sources = np.arange(len(population)) if sources is None else np.asarray(sources, np.int64)
    judged = judge_batches(partial(_judge_batch, population), system, population, sources, threads, progress)
    whole = Judgement(*(np.concatenate([getattr(p, each.name) for p in judged]) for each in fields(Judgement)))
    has_pairs = whole.pairs[:, ALL].sum(axis=1) > 0
    if not has_pairs.any():
        raise MisuseError(
            "for every source all pages are at the same distance, so there is no order to compare with; give a"
            " hierarchy with more classes"
        )
    return whole.select(has_pairs)


def judge_batches(
    function: Callable[[Int64s, Floats], T],
    system: System,
    pages: ComparedPages,
    sources: Int64s,
    threads: int,
    progress: Callable[[int], None],
) -> list[T]:
    """The results of a function of some sources and their rows of scores, for one batch of sources after the other."""
    if not len(sources):
        raise MisuseError("no page has judgements, so there is nothing to measure; check --queries and the judgements")

    def judged(batch: Int64s) -> T:
        scores = system.scores(batch)
        assert scores.shape == (len(batch), len(pages))
        if np.isnan(scores).any():
            raise MisuseError(f"{system.name} gives scores that are not numbers (NaN)")
        return function(batch, scores)

    step = max(1, _MAX_SCORES // max(1, len(pages)))
    results: list[T] = []
    with ThreadPoolExecutor(threads) as pool:
        for result in pool.map(judged, [sources[k : k + step] for k in range(0, len(sources), step)]):
            results.append(result)
            progress(min(len(sources), step * len(results)))
    return results


def _judge_batch(population: Population, sources: Int64s, scores: Floats) -> Judgement:
    shape = (len(sources), len(population.regions))
    pairs, pages, listed = np.zeros((*shape, 3), np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    first = np.full((len(sources), CUTOFF), NO_DISTANCE, np.uint8)
    keys = np.empty(scores.shape, np.int64)
    rank_rows(sources, scores, population.hierarchy, pages, listed, first, keys)
    keys.sort(axis=1)  # numpy sorts integers with vector instructions, several times as fast as a kernel
    count_rows(keys, pairs)
    return Judgement(sources, pairs, pages, listed, first)
