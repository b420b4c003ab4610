"""Bags: what each page is about, as weighted terms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pagekin.arrays import Int64s, UInt32s, spans
from pagekin.model.reading import Ragged
from pagekin.model.strings import Strings


@dataclass(frozen=True)
class Terms:
    """The words of bags: how they are compared, how they are shown, and in how many bags they are.

    Terms beyond them, as many as there are nodes, stand for nodes that cite a page.
    """

    name: Strings
    shown: Strings  # the commonest word behind a stem
    frequency: Int64s  # bags that hold the term, citing nodes included


@dataclass(frozen=True)
class Heads:
    """The heaviest terms of bags, close together: a row a bag, with zeros where it has fewer."""

    term: UInt32s
    weight: NDArray[np.float32]


@dataclass(frozen=True)
class Bags(Ragged):
    """For every node its terms, the heaviest first. Weights of a bag sum to one; frequencies are as counted."""

    term: UInt32s
    weight: NDArray[np.float32]
    content: NDArray[np.float32]  # occurrences in the page, the first ones counting more if the strategy says so
    around: NDArray[np.float32]  # sums of the windows of anchors, and of titles

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def first(self, count: int) -> Bags:
        """The first so many bags, or all; none if the count is negative."""
        return replace(self, offsets=self.offsets[: max(count, 0) + 1])

    def heads(self, width: int) -> Heads:
        """The first so many terms of each bag."""
        counts = np.minimum(np.diff(self.offsets), width)
        filled = np.arange(width) < counts[:, np.newaxis]
        places = spans(self.offsets[:-1], counts)
        heads = Heads(np.zeros(filled.shape, np.uint32), np.zeros(filled.shape, np.float32))
        heads.term[filled] = self.term[places]
        heads.weight[filled] = self.weight[places]
        return heads
