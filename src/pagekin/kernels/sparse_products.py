"""Products of a sparse matrix and a narrow dense matrix.

The columns of the sparse matrix are divided into groups: the entries of row r in group g are offsets[r * groups + g] to
offsets[r * groups + g + 1]. A group has columns of its own, so groups of a transposed product can be worked on at the
same time. Every sum is added in the order of the entries, so the results do not depend on who works on what.
"""

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Float32s, Floats, Int64s, Integer, UInt32s, Unsigned

_MASK = 255


@kernel
def multiply(
    first: int,
    last: int,
    groups: int,
    offsets: Int64s,
    column: UInt32s,
    value: Float32s,
    dense: Float32s,
    product: Float32s,
) -> None:
    """Rows first to last of sparse x dense, added to `product`."""
    for row in range(first, last):
        for k in range(offsets[row * groups], offsets[(row + 1) * groups]):
            weight, of_column = value[k], column[k]
            for j in range(dense.shape[1]):
                product[row, j] += weight * dense[of_column, j]


@kernel
def multiply_transposed(
    group: int, groups: int, offsets: Int64s, column: UInt32s, value: Float32s, dense: Float32s, product: Float32s
) -> None:
    """The rows of transposed sparse x dense for the columns of one group, added to `product`."""
    for row in range(dense.shape[0]):
        for k in range(offsets[row * groups + group], offsets[row * groups + group + 1]):
            weight, of_column = value[k], column[k]
            for j in range(dense.shape[1]):
                product[of_column, j] += weight * dense[row, j]


@kernel
def row_products(
    own: Int64s, worth: Floats, offsets: Int64s, column: UInt32s, weight: Float32s, rows: Int64s, result: Floats
) -> None:
    """result[k]: the inner product of a sparse vector and the sparse row rows[k]; 0 for a row that does not exist.

    The columns of the vector (`own`, with the values `worth`) and of every row are ascending.
    """
    for k in range(len(rows)):
        total, i = 0.0, 0
        if 0 <= rows[k] < len(offsets) - 1:
            for j in range(offsets[rows[k]], offsets[rows[k] + 1]):
                while i < len(own) and own[i] < column[j]:
                    i += 1
                if i < len(own) and own[i] == column[j]:
                    total += worth[i] * weight[j]
        result[k] = total


@kernel
def list_cosines(own: Int64s, lists: Unsigned, rows: Int64s, result: Floats) -> None:
    """result[k]: the cosine of a set and of the list rows[k] with its own number; 0 for a list that does not exist.

    `own` is ascending without repetitions. A list is filled up with its own number, which counts once.
    """
    last = np.full(_MASK + 1, -1, np.int64)  # the last number of `own` with these last bits
    crowded = np.zeros(_MASK + 1, np.bool_)  # whether it has several
    for k in range(len(own)):
        place = own[k] & _MASK
        crowded[place] = last[place] >= 0
        last[place] = own[k]
    for k in range(len(rows)):
        row, shared, size = rows[k], 0, 1
        result[k] = 0.0
        if 0 <= row < len(lists):
            shared += last[row & _MASK] == row or (crowded[row & _MASK] and is_in(own, row))
            for j in range(lists.shape[1]):
                member = np.int64(lists[row, j])
                if member != row:
                    size += 1
                    place = member & _MASK
                    shared += last[place] == member or (crowded[place] and is_in(own, member))
            result[k] = np.rint(shared / np.sqrt(np.float64(size) * len(own)) * 1e9) / 1e9


@inlined
def is_in(own: Int64s, number: Integer) -> bool:
    """Whether an ascending array has a number."""
    place = np.searchsorted(own, number)
    return bool(place < len(own) and own[place] == number)
