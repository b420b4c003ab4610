"""Cosines of vectors of small integers."""

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Float32s, Floats, Int64s


@kernel
def cosines(
    queries: NDArray[np.int8],
    query_norms: Float32s,
    vectors: NDArray[np.int8],
    norms: Float32s,
    rows: Int64s,
    result: Floats,
) -> None:
    """result[k, q]: the cosine of vectors[rows[k]] and queries[q], to nine places.

    It is 0 for vectors of length 0 and for rows that do not exist. Up to 100,000 dimensions the inner products are
    integers below 2 ** 31, so they are exact.
    """
    for k in range(len(rows)):
        row = rows[k]
        for q in range(len(queries)):
            result[k, q] = 0.0
            if 0 <= row < len(vectors):
                length = np.float64(norms[row]) * np.float64(query_norms[q])
                total = np.int32(0)
                for j in range(vectors.shape[1]):
                    total = np.int32(total + np.int32(vectors[row, j]) * np.int32(queries[q, j]))
                if length > 0.0:
                    result[k, q] = np.rint(total / length * 1e9) / 1e9
