"""Cosines of vectors of small integers."""

from collections.abc import Sequence
from math import sqrt


def cosines(query: Sequence[int], vectors: Sequence[Sequence[int]], rows: Sequence[int]) -> list[float]:
    """The cosine of the query with some rows; 0 for rows that do not exist and for vectors of length 0.

    >>> cosines([3, 4], [[4, 3], [0, 0]], [0, 1, 2, -1])
    [0.96, 0.0, 0.0, 0.0]
    """

    def cosine(row: int) -> float:
        if not 0 <= row < len(vectors):
            return 0.0
        length = sqrt(sum(a * a for a in query) * sum(b * b for b in vectors[row]))
        return sum(a * b for a, b in zip(query, vectors[row], strict=True)) / length if length else 0.0

    return [cosine(row) for row in rows]


def half_byte_product(row: Sequence[int], scale: float, direction: Sequence[float]) -> float:
    """The product of a direction and a vector. A byte has two components plus 8, the first in the lower bits.

    >>> half_byte_product([0x9F, 0x08], 0.5, [1.0, 10.0, 100.0])
    8.5
    """
    components = [half - 8 for byte in row for half in (byte % 16, byte // 16)]
    return scale * sum(a * b for a, b in zip(components, direction, strict=False))
