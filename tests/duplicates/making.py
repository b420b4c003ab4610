"""Pages of random chunks, for the tests of filters and groups."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pagekin.duplicates.chunks import Chunks


def page(*parts: Iterable[int]) -> Chunks:
    """A page of the chunks of these numbers, in their order; equal numbers are equal chunks, wherever they are."""
    numbers = np.array([number for part in parts for number in part], np.int64)
    digests = np.array([_digest(number) for number in numbers.tolist()], np.uint64)
    return Chunks(digests, digests[[0, -1]] if len(digests) else digests)


def _digest(number: int) -> int:
    return int(np.random.default_rng(number).integers(0, 2**63)) * 2 + number % 2
