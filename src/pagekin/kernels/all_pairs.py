"""Every bag compared with every other: a row of similarities for each that asks.

Bags are inverted first: for every term, the bags that hold it. A row then costs as many steps as its terms have bags.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Int64s, UInt32s

PLACES = 1e9  # similarities are told to nine places, so that the order of additions cannot part equal ones


@kernel
def invert(
    offsets: Int64s, term: UInt32s, weight: NDArray[np.float32], terms: int
) -> tuple[Int64s, UInt32s, NDArray[np.float32]]:
    """For every term where its bags begin, the bags in their order, and the weights it has in them."""
    begins = np.zeros(terms + 1, np.int64)
    for i in range(len(term)):
        begins[term[i] + 1] += 1
    for t in range(terms):
        begins[t + 1] += begins[t]
    place = begins[:-1].copy()
    bag = np.empty(len(term), np.uint32)
    there = np.empty(len(term), np.float32)
    for b in range(len(offsets) - 1):
        for i in range(offsets[b], offsets[b + 1]):
            bag[place[term[i]]] = b
            there[place[term[i]]] = weight[i]
            place[term[i]] += 1
    return begins, bag, there


@kernel
def jaccards(
    asking: Int64s,
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    begins: Int64s,
    bag: UInt32s,
    there: NDArray[np.float32],
    rows: NDArray[np.float64],
) -> None:
    """The bag Jaccard of each bag that asks with every bag; minus infinity if they share nothing.

    Bags sum to one, so that the sum of maxima is what the sum of minima leaves of two.
    """
    for k in range(len(asking)):
        row = rows[k]
        row[:] = 0.0
        for i in range(offsets[asking[k]], offsets[asking[k] + 1]):
            mine = weight[i]
            for j in range(begins[term[i]], begins[term[i] + 1]):
                row[bag[j]] += min(mine, there[j])
        for b in range(len(row)):
            row[b] = np.rint(row[b] / (2.0 - row[b]) * PLACES) / PLACES if row[b] > 0.0 else -np.inf


@kernel
def cosines(
    asking: Int64s,
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    begins: Int64s,
    bag: UInt32s,
    there: NDArray[np.float32],
    lengths: NDArray[np.float64],
    rows: NDArray[np.float64],
) -> None:
    """The cosine of each bag that asks with every bag, given the lengths of all as vectors; as in `jaccards`."""
    for k in range(len(asking)):
        row = rows[k]
        row[:] = 0.0
        for i in range(offsets[asking[k]], offsets[asking[k] + 1]):
            mine = np.float64(weight[i])
            for j in range(begins[term[i]], begins[term[i] + 1]):
                row[bag[j]] += mine * there[j]
        own = lengths[asking[k]]
        for b in range(len(row)):
            row[b] = np.rint(row[b] / (own * lengths[b]) * PLACES) / PLACES if row[b] > 0.0 else -np.inf


@kernel
def products(
    asking: Int64s,
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    begins: Int64s,
    bag: UInt32s,
    there: NDArray[np.float32],
    rows: NDArray[np.float64],
) -> None:
    """The sum of the products of weights of each bag that asks with every bag. Those that ask may be others than those
    that were inverted; a term beyond the inverted ones is in none of these.
    """
    for k in range(len(asking)):
        row = rows[k]
        row[:] = 0.0
        for i in range(offsets[asking[k]], offsets[asking[k] + 1]):
            if term[i] + 1 < len(begins):
                mine = np.float64(weight[i])
                for j in range(begins[term[i]], begins[term[i] + 1]):
                    row[bag[j]] += mine * there[j]
