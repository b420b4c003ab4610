"""Cosines and inner products of vectors of small integers."""

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Float32s, Floats, Int64s, UInt32s


@kernel
def half_byte_products(
    known: UInt32s, rows: NDArray[np.uint8], scale: Float32s, columns: UInt32s, direction: Floats, result: Floats
) -> None:
    """result[k]: the inner product of a direction and the row of columns[k]; 0 if `known` does not have this number.

    `known` is ascending and has the number of each row. A byte of a row has two components plus 8, the first in the
    lower bits; all are multiplied by the scale of the row.
    """
    for k in range(len(columns)):
        place = np.searchsorted(known, columns[k])
        result[k] = 0.0
        if place < len(known) and known[place] == columns[k]:
            first = second = 0.0
            for j in range(rows.shape[1]):
                byte = np.int64(rows[place, j])
                first += ((byte & 15) - 8) * direction[2 * j]
                second += ((byte >> 4) - 8) * direction[2 * j + 1]
            result[k] = (first + second) * scale[place]


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
