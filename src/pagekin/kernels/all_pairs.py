"""Every bag compared with every other bag: one row of similarities per query bag.

The bags are inverted first: for every term, the bags that contain it. A row then costs one step per posting of its
terms.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Floats, Int64s, UInt32s

PLACES = 1e9  # similarities are rounded to nine decimals, so that the order of additions cannot break a tie


class InvertedBags(NamedTuple):
    """The postings of term t are offsets[t] to offsets[t + 1]: the bags in ascending order, and its weights in them."""

    offsets: Int64s
    bag: UInt32s
    weight: NDArray[np.float32]


@kernel
def invert(offsets: Int64s, term: UInt32s, weight: NDArray[np.float32], terms: int) -> InvertedBags:
    """The postings of the terms 0 to `terms`."""
    inverted_offsets = np.zeros(terms + 1, np.int64)
    for i in range(len(term)):
        inverted_offsets[term[i] + 1] += 1
    for t in range(terms):
        inverted_offsets[t + 1] += inverted_offsets[t]
    end = inverted_offsets[:-1].copy()
    bag = np.empty(len(term), np.uint32)
    bag_weight = np.empty(len(term), np.float32)
    for b in range(len(offsets) - 1):
        for i in range(offsets[b], offsets[b + 1]):
            bag[end[term[i]]] = b
            bag_weight[end[term[i]]] = weight[i]
            end[term[i]] += 1
    return InvertedBags(inverted_offsets, bag, bag_weight)


@kernel
def jaccards(
    queries: Int64s, offsets: Int64s, term: UInt32s, weight: NDArray[np.float32], inverted: InvertedBags, rows: Floats
) -> None:
    """The bag Jaccard of each query bag with every bag; minus infinity if they share no term.

    Bags sum to 1, so sum(max) = 2 - sum(min).
    """
    for k in range(len(queries)):
        row = rows[k]
        row[:] = 0.0
        for i in range(offsets[queries[k]], offsets[queries[k] + 1]):
            query_weight = weight[i]
            for j in range(inverted.offsets[term[i]], inverted.offsets[term[i] + 1]):
                row[inverted.bag[j]] += min(query_weight, inverted.weight[j])
        for b in range(len(row)):
            row[b] = np.rint(row[b] / (2.0 - row[b]) * PLACES) / PLACES if row[b] > 0.0 else -np.inf


@kernel
def cosines(
    queries: Int64s,
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    inverted: InvertedBags,
    norms: Floats,
    rows: Floats,
) -> None:
    """The cosine of each query bag with every bag, given the norms of all bags; minus infinity as in `jaccards`."""
    products(queries, offsets, term, weight, inverted, rows)
    for k in range(len(queries)):
        row, norm = rows[k], norms[queries[k]]
        for b in range(len(row)):
            row[b] = np.rint(row[b] / (norm * norms[b]) * PLACES) / PLACES if row[b] > 0.0 else -np.inf


@kernel
def products(
    queries: Int64s, offsets: Int64s, term: UInt32s, weight: NDArray[np.float32], inverted: InvertedBags, rows: Floats
) -> None:
    """The dot product of each query bag with every inverted bag.

    The query bags need not be among the inverted ones. A term beyond the inverted terms counts as absent.
    """
    for k in range(len(queries)):
        row = rows[k]
        row[:] = 0.0
        for i in range(offsets[queries[k]], offsets[queries[k] + 1]):
            if term[i] + 1 < len(inverted.offsets):
                query_weight = np.float64(weight[i])
                for j in range(inverted.offsets[term[i]], inverted.offsets[term[i] + 1]):
                    row[inverted.bag[j]] += query_weight * inverted.weight[j]
