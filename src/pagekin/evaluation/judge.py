"""Every source against every other page of a population."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Protocol, Self

import numpy as np

from pagekin.errors import MisuseError
from pagekin.evaluation.population import Population
from pagekin.kernels.rankings import ALL, NO_DISTANCE, count_rows, rank_rows
from pagekin.model.arrays import Bools, Bytes, Floats, Int64s

CUTOFF = 10  # of P@10 and nDCG@10
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
    if not len(sources):
        raise MisuseError("there is no source to judge by")
    step = max(1, _MAX_SCORES // max(1, len(population)))
    batches = [sources[k : k + step] for k in range(0, len(sources), step)]
    judged = []
    with ThreadPoolExecutor(threads) as pool:
        for batch in pool.map(lambda batch: _judge_batch(system, population, batch), batches):
            judged.append(batch)
            progress(sum(map(len, judged)))
    whole = Judgement(*(np.concatenate([getattr(p, each.name) for p in judged]) for each in fields(Judgement)))
    has_pairs = whole.pairs[:, ALL].sum(axis=1) > 0
    if not has_pairs.any():
        raise MisuseError("from every source all pages are equally far: the hierarchy orders nothing")
    return whole.select(has_pairs)


def _judge_batch(system: System, population: Population, sources: Int64s) -> Judgement:
    scores = system.scores(sources)
    assert scores.shape == (len(sources), len(population))
    if np.isnan(scores).any():
        raise MisuseError(f"{system.name} gives scores that are no numbers (NaN)")
    shape = (len(sources), len(population.regions))
    pairs, pages, listed = np.zeros((*shape, 3), np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    first = np.full((len(sources), CUTOFF), NO_DISTANCE, np.uint8)
    keys = np.empty(scores.shape, np.int64)
    rank_rows(sources, scores, population.hierarchy, pages, listed, first, keys)
    keys.sort(axis=1)  # numpy sorts integers with vector instructions, several times as fast as a kernel
    count_rows(keys, pairs)
    return Judgement(sources, pairs, pages, listed, first)
