"""The sets that pages are compared by. They are made in `chunks`, with a compiler; whoever reads them needs none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pagekin.model.arrays import Int64s, UInt64s, spans

MOST_CHUNKS = 1 << 22  # of a text: a gigabyte of chunks of 256 bytes


@dataclass(frozen=True, eq=False)
class Chunks:
    """The chunks of many pages, those of each as a set of numbers: 64 bits of BLAKE2b, in no order.

    A chunk that is there r times counts 1 + ln r times, rounded down (the paper's footnote 4, whose own bound, ln r,
    would leave out what is there once): its third, eighth, 21st, 55th ... occurrence is one more element.
    """

    offsets: Int64s
    elements: UInt64s
    ends: UInt64s  # of each page the first and the last chunk, which a text around it would change

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def counts(self) -> Int64s:
        """How many elements each page has."""
        return np.diff(self.offsets)

    def rows(self, rows: Int64s) -> Chunks:
        """Those of some pages."""
        begins = self.offsets[rows]
        counts = self.offsets[rows + 1] - begins
        elements = self.elements[spans(begins, counts)]
        return Chunks(offsets_of(counts), elements, self.ends[rows])

    @classmethod
    def joined(cls, parts: Sequence[Chunks]) -> Chunks:
        """Those of some pages, and others after them."""
        counts = np.concatenate([np.empty(0, np.int64), *(part.counts() for part in parts)])
        elements = np.concatenate([np.empty(0, np.uint64), *(part.elements for part in parts)])
        ends = np.concatenate([np.empty((0, 2), np.uint64), *(part.ends for part in parts)])
        return cls(offsets_of(counts), elements, ends)


def offsets_of(counts: Int64s) -> Int64s:
    """Where rows of these lengths begin, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
