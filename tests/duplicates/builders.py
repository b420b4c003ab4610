"""Pages of random chunks, for the tests of filters and groups."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from pagekin.duplicates.filters import Chunks


def pages(*sets: Iterable[int]) -> Chunks:
    """Pages of chunks with these numbers, in their order; equal numbers are equal chunks, wherever they are."""
    lists = [list(numbers) for numbers in sets]
    digests = [[_digest(number) for number in numbers] for numbers in lists]
    ends = [(each[0], each[-1]) if each else (0, 0) for each in digests]
    return Chunks(
        np.cumsum([0, *map(len, lists)]),
        np.array([digest for each in digests for digest in each], np.uint64),
        np.array(ends, np.uint64).reshape(-1, 2),
    )


@cache
def _digest(number: int) -> int:
    return int(np.random.default_rng(number).integers(0, 2**63)) * 2 + number % 2
