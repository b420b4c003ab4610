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


def transposed(rows: Sequence[SparseRow], columns: int) -> list[dict[int, float]]:
    """A', as sparse rows.

    >>> transposed([{0: 2.0}, {0: 1.0, 1: 3.0}], 2)
    [{0: 2.0, 1: 1.0}, {1: 3.0}]
    """
    return [{number: row[c] for number, row in enumerate(rows) if c in row} for c in range(columns)]


def row_products(vector: SparseRow, rows: Sequence[SparseRow], wanted: Sequence[int]) -> list[float]:
    """The inner products of a sparse vector and some sparse rows; 0 for rows that do not exist.

    >>> row_products({1: 2.0, 4: 1.0}, [{1: 3.0, 2: 9.0}], [0, 1, -1])
    [6.0, 0.0, 0.0]
    """
    found = [rows[k] if 0 <= k < len(rows) else {} for k in wanted]
    return [sum((value * row.get(column, 0.0) for column, value in vector.items()), 0.0) for row in found]


def list_cosines(own: set[int], lists: Sequence[Sequence[int]], wanted: Sequence[int]) -> list[float]:
    """The cosines of a set and of some lists, each with its own number, as sets; 0 for lists that do not exist.

    >>> list_cosines({0, 1, 2, 7}, [[1, 5, 7], [1, 1, 1]], [0, 1, 2])
    [0.75, 0.5, 0.0]
    """
    sets = [{k, *lists[k]} if 0 <= k < len(lists) else set() for k in wanted]
    return [len(own & each) / (len(own) * len(each)) ** 0.5 if each else 0.0 for each in sets]
