"""Every bag compared with every other bag: one row of similarities per query bag.

The bags are postings first: for every term, the bags that contain it. A row then costs one step per posting of its
terms.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Float32s, Floats, Int64s, UInt32s

PLACES = 1e9  # similarities are rounded to nine decimals, so that the order of additions cannot break a tie


class BagPostings(NamedTuple):
    """The postings of term t are offsets[t] to offsets[t + 1]: the bags in ascending order, and its weights in them."""

    offsets: Int64s
    bag: UInt32s
    weight: Float32s


@kernel
def invert(offsets: Int64s, term: UInt32s, weight: Float32s, terms: int) -> BagPostings:
    """The postings of the terms 0 to `terms`."""
    counts = np.zeros(terms + 1, np.int64)
    for i in range(len(term)):
        counts[term[i] + 1] += 1
    postings_offsets = np.cumsum(counts)
    end = postings_offsets[:-1].copy()
    bag, bag_weight = np.empty(len(term), np.uint32), np.empty(len(term), np.float32)
    for b in range(len(offsets) - 1):
        for i in range(offsets[b], offsets[b + 1]):
            bag[end[term[i]]] = b
            bag_weight[end[term[i]]] = weight[i]
            end[term[i]] += 1
    return BagPostings(postings_offsets, bag, bag_weight)


@kernel
def jaccards(
    queries: Int64s, offsets: Int64s, term: UInt32s, weight: Float32s, postings: BagPostings, rows: Floats
) -> None:
    """The bag Jaccard of each query bag with every bag; minus infinity if they share no term.

    Bags sum to 1, so sum(max) = 2 - sum(min).
    """
    for k in range(len(queries)):
        row = rows[k]
        row[:] = 0.0
        for i in range(offsets[queries[k]], offsets[queries[k] + 1]):
            query_weight = weight[i]
            for j in range(postings.offsets[term[i]], postings.offsets[term[i] + 1]):
                row[postings.bag[j]] += min(query_weight, postings.weight[j])
        for b in range(len(row)):
            row[b] = np.rint(row[b] / (2.0 - row[b]) * PLACES) / PLACES if row[b] > 0.0 else -np.inf


@kernel
def cosines(
    queries: Int64s, offsets: Int64s, term: UInt32s, weight: Float32s, postings: BagPostings, norm: Floats, rows: Floats
) -> None:
    """The cosine of each query bag with every bag, given the norms of all bags; minus infinity as in `jaccards`."""
    products(queries, offsets, term, weight, postings, rows)
    for k in range(len(queries)):
        row, own = rows[k], norm[queries[k]]
        for b in range(len(row)):
            row[b] = np.rint(row[b] / (own * norm[b]) * PLACES) / PLACES if row[b] > 0.0 else -np.inf


@kernel
def products(
    queries: Int64s, offsets: Int64s, term: UInt32s, weight: Float32s, postings: BagPostings, rows: Floats
) -> None:
    """The dot product of each query bag with every postings bag.

    The query bags need not be among the postings ones. A term beyond the postings terms counts as absent.
    """
    for k in range(len(queries)):
        row = rows[k]
        row[:] = 0.0
        for i in range(offsets[queries[k]], offsets[queries[k] + 1]):
            if term[i] + 1 < len(postings.offsets):
                query_weight = np.float64(weight[i])
                for j in range(postings.offsets[term[i]], postings.offsets[term[i] + 1]):
                    row[postings.bag[j]] += query_weight * postings.weight[j]
