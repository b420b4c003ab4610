"""Sets of chunks. This module does without compiled code; `chunks` builds the sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from pagekin.model.arrays import Int64s, UInt64s, offsets_of, spans

MAX_CHUNKS = 1 << 22  # of a page: a gigabyte in chunks of 256 bytes


@dataclass(frozen=True, eq=False)
class Chunks:
    """The chunks of many pages. Each page is a set of 64-bit BLAKE2b digests, in any order.

    A chunk that occurs r times counts 1 + ln r times, rounded down: its third, eighth, 21st, 55th ... occurrence adds
    an element. (Footnote 4 of the paper has ln r, which would drop chunks that occur once.)
    """

    offsets: Int64s
    elements: UInt64s
    ends: UInt64s  # per page, the first and last chunk; they change when the text is embedded in another

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def counts(self) -> Int64s:
        """The number of elements of each page."""
        return np.diff(self.offsets)

    def rows(self, rows: Int64s) -> Self:
        """The chunks of some pages."""
        begins = self.offsets[rows]
        counts = self.offsets[rows + 1] - begins
        return type(self)(offsets_of(counts), self.elements[spans(begins, counts)], self.ends[rows])

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """The chunks of the pages of all parts."""
        counts = np.concatenate([np.empty(0, np.int64), *(part.counts() for part in parts)])
        elements = np.concatenate([np.empty(0, np.uint64), *(part.elements for part in parts)])
        ends = np.concatenate([np.empty((0, 2), np.uint64), *(part.ends for part in parts)])
        return cls(offsets_of(counts), elements, ends)
