"""Systems: what orders the pages of a population, by a row of scores for each source.

A page that a system does not list, or that shares nothing with the source, scores minus infinity.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from pagekin.index.index import Index
from pagekin.model.arrays import Floats, Int64s
from pagekin.search.blend import Blend
from pagekin.search.evidence import UNLISTED
from pagekin.search.query import Query, bag_of


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


class BlendSystem:
    """The pages of a population in the order of a blend, each compared with every other."""

    longest = None

    def __init__(self, name: str, index: Index, blend: Blend, nodes: Int64s) -> None:
        """Of all nodes of an index, `nodes` are compared; -1 is a page that it does not have."""
        others = [each for each in blend.active if each.name != "text"]
        self.name = ", ".join([name, *(f"{blend.weights[each.name]:g} by {each.name}" for each in others)])
        no_signature = np.empty(0, np.uint32)  # nobody needs candidates
        self._rows = blend.pair_scores(
            nodes,
            lambda node: Query((node,), bag_of(index, node), no_signature),
        )

    def scores(self, sources: Int64s) -> Floats:
        """The scores, to nine places."""
        rows = self._rows(sources)
        return np.where(rows > 0.0, rows, UNLISTED)


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
