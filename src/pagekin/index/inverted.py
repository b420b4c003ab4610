"""I: for each coordinate of the signatures and each value, the pages that have it."""

from __future__ import annotations

from dataclasses import dataclass

from pagekin.arrays import UInt32s

VALUE_BITS = 32


@dataclass(frozen=True)
class Inverted:
    """The pages of each coordinate, sorted by value, and where in them values of the same leading bits begin."""

    postings: UInt32s  # coordinates x pages
    buckets: UInt32s  # coordinates x (buckets + 1)

    @property
    def shift(self) -> int:
        """By how many bits a value is shifted to find its bucket."""
        return VALUE_BITS - int(self.buckets.shape[1] - 2).bit_length()
