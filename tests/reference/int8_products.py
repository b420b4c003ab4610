"""Inner products of vectors of small integers."""

from collections.abc import Sequence


def inner_products(query: Sequence[int], vectors: Sequence[Sequence[int]], rows: Sequence[int]) -> list[int]:
    """The inner product of the query with some rows; 0 for rows that do not exist.

    >>> inner_products([2, -1], [[3, 4], [-127, 127]], [1, 0, 2, -1])
    [-381, 2, 0, 0]
    """
    return [
        sum(a * b for a, b in zip(query, vectors[row], strict=True)) if 0 <= row < len(vectors) else 0 for row in rows
    ]
