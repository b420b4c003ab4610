"""Agreement of signatures, without an index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def agreements(signature: Sequence[int], signatures: Sequence[Sequence[int]], pages: Iterable[int]) -> dict[int, int]:
    """For each of the pages that agree anywhere, in how many coordinates it does.

    >>> agreements([1, 2, 3], [[1, 2, 9], [3, 2, 1], [2, 3, 1]], [0, 1, 2])
    {0: 2, 1: 1}
    """
    counts = {page: sum(a == b for a, b in zip(signature, signatures[page], strict=True)) for page in pages}
    return {page: count for page, count in counts.items() if count}


def buckets(values: Sequence[int], shift: int, count: int) -> list[int]:
    """How many values lie below each bucket, and below all of them together.

    >>> buckets([0, 1, 5], shift=1, count=3)
    [0, 2, 2, 3]
    """
    return [sum(value < bucket << shift for value in values) for bucket in range(count)] + [len(values)]
