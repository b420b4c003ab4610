"""Every source against every other page of a population."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np

from pagekin.errors import MisuseError
from pagekin.evaluation.population import Population
from pagekin.evaluation.systems import System
from pagekin.kernels.gamma import ALL, NO_DISTANCE, count_rows, rank_rows
from pagekin.model.arrays import Bools, Bytes, Int64s

CUTOFF = 10  # of P@10 and nDCG@10
_SCORES = 1 << 20  # that a thread holds at a time


@dataclass(frozen=True)
class Judgement:
    """What was counted for each source."""

    sources: Int64s
    pairs: Int64s  # by region: concordant, discordant, tied
    pages: Int64s  # by distance
    listed: Int64s  # by distance: those that the system lists
    first: Bytes  # the distances of the pages that it puts first

    def __len__(self) -> int:
        return len(self.sources)

    def some(self, which: Bools) -> Judgement:
        """The judgement of some of the sources."""
        return Judgement(*(getattr(self, each.name)[which] for each in fields(self)))


def judge(
    system: System,
    population: Population,
    sources: Int64s | None = None,
    *,
    threads: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> Judgement:
    """Judge the order of all other pages for every source, by default every page.

    A source from which all pages are equally far is left out: there is nothing to get right.
    """
    asked = np.arange(len(population)) if sources is None else np.asarray(sources, np.int64)
    if not len(asked):
        raise MisuseError("there is no source to judge by")
    step = max(1, _SCORES // max(1, len(population)))
    parts = [asked[k : k + step] for k in range(0, len(asked), step)]
    judged = []
    with ThreadPoolExecutor(threads) as pool:
        for part in pool.map(lambda part: _judge(system, population, part), parts):
            judged.append(part)
            progress(len(part))
    whole = Judgement(*(np.concatenate([getattr(p, each.name) for p in judged]) for each in fields(Judgement)))
    telling = whole.pairs[:, ALL].sum(axis=1) > 0
    if not telling.any():
        raise MisuseError("from every source all pages are equally far: the hierarchy orders nothing")
    return whole.some(telling)


def _judge(system: System, population: Population, sources: Int64s) -> Judgement:
    scores = system.scores(sources)
    assert scores.shape == (len(sources), len(population))
    if np.isnan(scores).any():
        raise MisuseError(f"{system.name} gives scores that are no numbers (NaN)")
    levels = len(population.regions)
    judgement = Judgement(
        sources,
        np.zeros((len(sources), levels, 3), np.int64),
        np.zeros((len(sources), levels), np.int64),
        np.zeros((len(sources), levels), np.int64),
        np.full((len(sources), CUTOFF), NO_DISTANCE, np.uint8),
    )
    keys = np.empty(scores.shape, np.int64)
    rank_rows(
        sources,
        scores,
        (scores + 0.0).view(np.int64),  # of -0.0 and 0.0 one is left
        population.offsets,
        population.classes,
        population.lineage,
        population.depth,
        population.whole_tree,
        judgement.pages,
        judgement.listed,
        judgement.first,
        keys,
    )
    keys.sort(axis=1)  # numpy sorts numbers with vector instructions, several times as fast as a kernel
    count_rows(keys, judgement.pairs)
    return judgement
