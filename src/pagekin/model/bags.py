"""Bags: the weighted terms of each page."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, NewType, Self

import numpy as np

from pagekin.model.arrays import Bools, Float32s, Int64s, Strings, UInt32s, spans
from pagekin.model.reading import Ragged, Width
from pagekin.model.weighting import Size, stopped

HEAD = 32  # heaviest terms of a bag, which bound the similarity before the rest is read


@dataclass(frozen=True)
class Terms:
    """The words of bags: the form that is compared, the form that is shown, and the document frequency.

    Terms beyond the words, one per node, stand for nodes that cite a page.
    """

    name: Strings
    shown: Strings  # the most frequent word of a stem
    frequency: Int64s  # the number of bags with the term; citing nodes included

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of the words by name."""
        return {name: number for number, name in enumerate(self.name)}


@dataclass(frozen=True)
class Contents:
    """Statistics of the contents of all pages, for weightings that use counts. The pages are the first nodes."""

    frequency: Int64s  # per word: the pages whose contents have it
    length: Int64s  # per page: the number of words, without stop words

    @cached_property
    def size(self) -> Size:
        return Size(len(self.length), float(self.length.mean()) if len(self.length) else 0.0)

    @cached_property
    def stopped(self) -> Bools:
        """Which words are on too many pages (stop words)."""
        return stopped(self.frequency, len(self.length))

    def length_of(self, word: UInt32s, count: UInt32s) -> int:
        return int(count[~self.stopped[word]].sum())


@dataclass(frozen=True)
class Heads:
    """The heaviest terms of bags as a matrix: a row per bag, padded with zeros."""

    term: Annotated[UInt32s, Width(HEAD)]
    weight: Annotated[Float32s, Width(HEAD)]


BAG_COLUMNS = {"term": np.uint32, "weight": np.float32, "content": np.uint32, "around": np.float32}


@dataclass(frozen=True)
class Bags(Ragged):
    """The terms of every node, the heaviest first. The weights of a bag sum to 1."""

    term: UInt32s
    weight: Float32s
    content: UInt32s  # occurrences in the page
    around: Float32s  # sums over the windows of anchors and over titles

    def first(self, count: int) -> Self:
        """The first `count` bags; none if the count is negative."""
        return replace(self, offsets=self.offsets[: max(count, 0) + 1])

    def heads(self, width: int) -> Heads:
        """The first `width` terms of each bag."""
        counts = np.minimum(np.diff(self.offsets), width)
        present = np.arange(width) < counts[:, np.newaxis]
        places = spans(self.offsets[:-1], counts)
        heads = Heads(np.zeros(present.shape, np.uint32), np.zeros(present.shape, np.float32))
        heads.term[present] = self.term[places]
        heads.weight[present] = self.weight[places]
        return heads


CheckedBags = NewType("CheckedBags", Bags)  # bags whose terms exist; see `Index.checked_bags`
