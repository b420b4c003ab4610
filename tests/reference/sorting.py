"""Sorting by some of the bits of numbers."""

from collections.abc import Sequence


def sort_keys(keys: Sequence[int], low: int) -> list[int]:
    """Numbers sorted by their bits from bit `low` on; the sort is stable.

    >>> sort_keys([5, 4, 3, 2], 1)
    [3, 2, 5, 4]
    """
    return sorted(keys, key=lambda key: key >> low)
