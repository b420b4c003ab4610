"""Exact similarities of bags."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.arrays import Int64s, UInt32s
from pagekin.kernels.compile import kernel

JACCARD, COSINE = range(2)


@kernel
def similarity(
    terms_a: UInt32s, weights_a: NDArray[np.float32], terms_b: UInt32s, weights_b: NDArray[np.float32], measure: int
) -> float:
    """Bag Jaccard (sum of minima over sum of maxima) or cosine of two bags sorted by term; 0 for an empty one."""
    shared = 0.0
    size_a = 0.0
    size_b = 0.0
    for i in range(len(terms_a)):
        size_a += np.float64(weights_a[i]) * weights_a[i] if measure == COSINE else weights_a[i]
    for j in range(len(terms_b)):
        size_b += np.float64(weights_b[j]) * weights_b[j] if measure == COSINE else weights_b[j]
    i = 0
    j = 0
    while i < len(terms_a) and j < len(terms_b):
        if terms_a[i] < terms_b[j]:
            i += 1
        elif terms_a[i] > terms_b[j]:
            j += 1
        else:
            both = np.float64(weights_a[i]) * weights_b[j] if measure == COSINE else min(weights_a[i], weights_b[j])
            shared += both
            i += 1
            j += 1
    if measure == COSINE:
        return shared / np.sqrt(size_a * size_b) if size_a > 0.0 and size_b > 0.0 else 0.0
    return shared / (size_a + size_b - shared) if size_a > 0.0 and size_b > 0.0 else 0.0


@kernel
def similarities(
    terms: UInt32s,
    weights: NDArray[np.float32],
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    others: Int64s,
    measure: int,
) -> NDArray[np.float64]:
    """The similarity of one bag to each of the `others`."""
    result = np.empty(len(others), np.float64)
    for k in range(len(others)):
        start = offsets[others[k]]
        end = offsets[others[k] + 1]
        result[k] = similarity(terms, weights, term[start:end], weight[start:end], measure)
    return result
