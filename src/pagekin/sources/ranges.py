"""Large files in byte ranges, each read by another job.

A range has the records that begin in it. The job of a range finds the first one by itself, and may be wrong: an archive
can contain another one. So each job tells where its first record begins, and where the record after its last one does.
If these places are the same for all neighbours, the ranges have what reading the whole file from its beginning gives.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Self


@dataclass(frozen=True)
class ByteRange:
    """A part of a file."""

    begin: int
    end: int


class DivisibleFile:
    """A source that is one file, or the part of it that begins in a range."""

    size: int
    part: ByteRange | None = None
    # After reading a part: where its first record begins, and the first one after it; None if it is damaged.
    ends: tuple[int, int] | None = None

    @property
    def is_divisible(self) -> bool:
        """Whether records can be found without reading what is before them."""
        raise NotImplementedError

    def in_parts(self, size: int) -> Iterator[Self]:
        """The file in parts of about `size` bytes; as a whole if it is smaller, or cannot be divided."""
        if self.size <= size or not self.is_divisible:
            yield self
            return
        count = -(-self.size // size)
        bounds = [self.size * k // count for k in range(count + 1)]
        for begin, end in pairwise(bounds):
            part = copy(self)
            part.part = ByteRange(begin, end)
            yield part

    def undivided(self) -> Self:
        """The whole file."""
        whole = copy(self)
        whole.part = None
        return whole


def are_adjacent(parts: Sequence[Sequence[int] | None], size: int) -> bool:
    """Whether the parts of a file, given by their `ends`, have each of its records once.

    >>> are_adjacent([(0, 5), (5, 5), (5, 9)], 9), are_adjacent([(0, 5), (6, 9)], 9), are_adjacent([(0, 5), None], 9)
    (True, False, False)
    """
    ends = [(0, 0), *(tuple(each) for each in parts if each is not None), (size, size)]
    return len(ends) == len(parts) + 2 and all(before[1] == after[0] for before, after in pairwise(ends))
