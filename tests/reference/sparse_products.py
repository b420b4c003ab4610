"""Products of sparse and dense matrices, as lists of rows. A sparse row has a value for some columns."""

from collections.abc import Mapping, Sequence

SparseRow = Mapping[int, float]
Dense = Sequence[Sequence[float]]


def product(rows: Sequence[SparseRow], dense: Dense) -> list[list[float]]:
    """A x D.

    >>> product([{0: 2.0, 2: 1.0}, {}], [[1.0, 0.0], [5.0, 5.0], [3.0, 4.0]])
    [[5.0, 4.0], [0.0, 0.0]]
    """
    width = len(dense[0])
    return [[sum((value * dense[c][j] for c, value in row.items()), 0.0) for j in range(width)] for row in rows]


def transposed_product(rows: Sequence[SparseRow], dense: Dense, columns: int) -> list[list[float]]:
    """A' x D.

    >>> transposed_product([{0: 2.0}, {0: 1.0, 1: 3.0}], [[1.0], [10.0]], 2)
    [[12.0], [30.0]]
    """
    width = len(dense[0])
    return [
        [sum((row.get(c, 0.0) * values[j] for row, values in zip(rows, dense, strict=True)), 0.0) for j in range(width)]
        for c in range(columns)
    ]
