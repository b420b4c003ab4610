"""I: for each coordinate of the signatures and each value, the pages that have it."""

from __future__ import annotations

from dataclasses import dataclass

from pagekin.model.arrays import Unsigned


@dataclass(frozen=True)
class Inverted:
    """The pages of each coordinate, sorted by value, and where in them values of the same leading bits begin.

    Both are numbers of the same kind as the values.
    """

    postings: Unsigned  # coordinates x pages
    buckets: Unsigned  # coordinates x (buckets + 1)

    @property
    def shift(self) -> int:
        """By how many bits a value is shifted to find its bucket."""
        return 8 * self.buckets.itemsize - int(self.buckets.shape[1] - 2).bit_length()
