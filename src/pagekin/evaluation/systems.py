"""What orders the pages of a population: scores of all of them, for each source.

A page that a system does not list, or that shares nothing with the source, scores minus infinity.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import MisuseError
from pagekin.kernels.all_pairs import cosines, invert, jaccards
from pagekin.model.arrays import Int64s, UInt32s, spans
from pagekin.model.bags import Bags

Floats = NDArray[np.float64]
UNLISTED = -np.inf


class System(Protocol):
    """Anything that can be judged. `scores` is called from several threads."""

    @property
    def name(self) -> str:
        """What it is called in tables."""

    @property
    def longest(self) -> int | None:
        """How many pages it lists for a source at most, if it leaves out others that it could compare."""

    def scores(self, sources: Int64s) -> Floats:
        """For each source, a row of scores of all pages of the population; the more similar, the higher."""


class BagSystem:
    """Pages by the exact similarity of their bags, each compared with every other."""

    longest = None

    def __init__(self, name: str, bags: Bags, nodes: Int64s, similarity: str = "jaccard") -> None:
        """Of all bags, those of `nodes` are compared; -1 is a page without a bag."""
        if similarity not in ("jaccard", "cosine"):
            raise MisuseError(f"similarity is {similarity!r}; it can be jaccard, cosine")
        self.name = name
        self.similarity = similarity
        begin = np.where(nodes >= 0, bags.offsets[nodes], 0)
        counts = np.where(nodes >= 0, bags.offsets[nodes + 1] - begin, 0)
        places = spans(begin, counts)
        self._term: UInt32s = bags.term[places]
        self._weight: NDArray[np.float32] = bags.weight[places]
        self._offsets: Int64s = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        self._inverted = invert(self._offsets, self._term, self._weight, int(self._term.max(initial=0)) + 1)
        squares = np.square(self._weight, dtype=np.float64)
        self._lengths: Floats = np.sqrt(np.bincount(np.repeat(np.arange(len(nodes)), counts), squares, len(nodes)))

    def scores(self, sources: Int64s) -> Floats:
        """The similarities, to nine places."""
        rows = np.empty((len(sources), len(self._offsets) - 1))
        bags = (sources, self._offsets, self._term, self._weight, self._inverted)
        if self.similarity == "jaccard":
            jaccards(*bags, rows)
        else:
            cosines(*bags, self._lengths, rows)
        return rows


class RunSystem:
    """Pages as a run lists them: the listed pages of source k are page[offsets[k]] to page[offsets[k + 1]]."""

    def __init__(self, name: str, offsets: Int64s, page: Int64s, score: Floats) -> None:
        self.name = name
        self.offsets, self.page, self.score = offsets, page, score

    @property
    def longest(self) -> int | None:
        """None if some source has all other pages listed: then nothing was cut off."""
        longest = int(np.diff(self.offsets).max(initial=0))
        return longest if longest < len(self.offsets) - 2 else None

    def scores(self, sources: Int64s) -> Floats:
        """The scores that the run gives."""
        rows = np.full((len(sources), len(self.offsets) - 1), UNLISTED)
        for row, source in zip(rows, sources.tolist(), strict=True):
            listed = slice(self.offsets[source], self.offsets[source + 1])
            row[self.page[listed]] = self.score[listed]
        return rows
