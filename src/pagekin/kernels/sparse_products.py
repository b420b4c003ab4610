"""Products of a sparse matrix and a narrow dense matrix.

The columns of the sparse matrix are divided into groups: the entries of row r in group g are offsets[r * groups + g] to
offsets[r * groups + g + 1]. A group has columns of its own, so groups of a transposed product can be worked on at the
same time. Every sum is added in the order of the entries, so the results do not depend on who works on what.
"""

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Float32s, Int64s, UInt32s


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
