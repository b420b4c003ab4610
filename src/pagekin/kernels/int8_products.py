"""Inner products of vectors of small integers."""

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Floats, Int64s


@kernel
def inner_products(queries: NDArray[np.int8], vectors: NDArray[np.int8], rows: Int64s, products: Floats) -> None:
    """products[k, q]: the inner product of vectors[rows[k]] and queries[q]; rows that do not exist count as zeros.

    Up to 100,000 dimensions the products are integers below 2 ** 31, so they are exact.
    """
    for k in range(len(rows)):
        row = rows[k]
        for q in range(len(queries)):
            total = np.int32(0)
            if 0 <= row < len(vectors):
                for j in range(vectors.shape[1]):
                    total = np.int32(total + np.int32(vectors[row, j]) * np.int32(queries[q, j]))
            products[k, q] = total
