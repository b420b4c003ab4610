"""Bags: what each page is about, as weighted terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pagekin.model.arrays import Bools, Int64s, UInt32s, spans
from pagekin.model.reading import Ragged
from pagekin.model.strings import Strings
from pagekin.model.weighting import Size, stopped


@dataclass(frozen=True)
class Terms:
    """The words of bags: how they are compared, how they are shown, and in how many bags they are.

    Terms beyond them, as many as there are nodes, stand for nodes that cite a page.
    """

    name: Strings
    shown: Strings  # the commonest word behind a stem
    frequency: Int64s  # bags that hold the term, citing nodes included


@dataclass(frozen=True)
class Contents:
    """What the contents of all pages are to weightings that count occurrences. The pages are the first nodes."""

    frequency: Int64s  # of every word: the pages whose contents hold it
    length: Int64s  # of every page: occurrences of words that are not on too many pages to tell anything

    @cached_property
    def size(self) -> Size:
        """How many pages there are, and how long they are in the mean."""
        return Size(len(self.length), float(self.length.mean()) if len(self.length) else 0.0)

    @cached_property
    def stopped(self) -> Bools:
        """Which words are on too many pages."""
        return stopped(self.frequency, len(self.length))

    def length_of(self, word: UInt32s, count: UInt32s) -> int:
        """The length of a page on which words are so often."""
        return int(count[~self.stopped[word]].sum())


@dataclass(frozen=True)
class Heads:
    """The heaviest terms of bags, close together: a row a bag, with zeros where it has fewer."""

    term: UInt32s
    weight: NDArray[np.float32]


BAG_COLUMNS = {"term": np.uint32, "weight": np.float32, "content": np.uint32, "around": np.float32}


@dataclass(frozen=True)
class Bags(Ragged):
    """For every node its terms, the heaviest first. Weights of a bag sum to one; frequencies are as counted."""

    term: UInt32s
    weight: NDArray[np.float32]
    content: UInt32s  # occurrences in the page
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
