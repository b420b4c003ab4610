"""Every bag compared with every other bag, and all pairs of sets whose similarity is above a threshold.

Bags have one row of similarities per query bag. The bags are postings first: for every term, the bags that contain it.
A row then costs one step per posting of its terms.

Sets are numbered by descending size: if one is too small for the threshold, so are all that follow. The posting lists
of elements are in the same order, with a cursor behind the current set, so every pair is examined once.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Float32s, Floats, Int64s, UInt32s

PLACES = 1e9  # similarities are rounded to nine decimals, so that the order of additions cannot break a tie
SHARED, SIZE = 0, 1  # columns of the workspace of `PairBuffers`; the first and `close` are zero between two sets


class BagPostings(NamedTuple):
    """The postings of term t are offsets[t] to offsets[t + 1]: the bags in ascending order, and its weights in them."""

    offsets: Int64s
    bag: UInt32s
    weight: Float32s


@kernel
def invert(offsets: Int64s, term: UInt32s, weight: Float32s, terms: int) -> BagPostings:
    postings_offsets = np.zeros(terms + 1, np.int64)
    for i in range(len(term)):
        postings_offsets[term[i] + 1] += 1
    for k in range(terms):
        postings_offsets[k + 1] += postings_offsets[k]
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


class Sets(NamedTuple):
    """Set k has the elements offsets[k] to offsets[k + 1]; element e is in the sets holder_offsets[e] to [e + 1]."""

    offsets: Int64s
    element: UInt32s
    size: Floats  # the sum of the weights of the elements
    weight: Floats  # of each element
    holder_offsets: Int64s
    holder: UInt32s
    link: UInt32s  # for each holder: the link that puts the element into the set
    position_offsets: Int64s  # the positions of each link
    position: Int64s


class Direct(NamedTuple):
    """Pairs of sets (k, partner), k < partner, that link to each other or contain each other."""

    offsets: Int64s
    partner: UInt32s
    links: Floats  # the number of links between the two
    inside: Floats  # the total weight of those of the two that are elements of the other


class PairBuffers(NamedTuple):
    """The state of a search; `workspace` has for every set what it shares with the current set, and its size."""

    cursor: Int64s
    workspace: Floats  # one array, since both columns are read together
    close: Floats
    touched: UInt32s
    one: UInt32s  # the pairs found, and their similarities
    other: UInt32s
    value: Floats


def make_buffers(sets: Sets, room: int) -> PairBuffers:
    """Buffers for a search from the first set on, with room for `room` pairs and, after them, for those of one set.

    Keep the room small: the pairs should not push the workspace out of the processor's cache.
    """
    blank, room = np.zeros(len(sets.size)), room + len(sets.size)
    touched, one, other = (np.zeros(length, np.uint32) for length in (len(blank), room, room))
    workspace = np.column_stack([blank, sets.size])
    return PairBuffers(sets.holder_offsets[:-1].copy(), workspace, blank, touched, one, other, np.zeros(room))


@inlined
def first_too_small(size: Floats, a: int, delta: float) -> int:
    """The first set i after `a` whose similarity must be below `delta`: |C_i| + 2 <= delta |C_a| (section 5.1)."""
    low, high = a + 1, len(size)
    while low < high:
        middle = (low + high) // 2
        if size[middle] + 2.0 > delta * size[a]:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def add_shared(sets: Sets, buffers: PairBuffers, a: int, limit: int) -> int:
    """Sum the weights that set `a` shares with later sets below `limit`; the number of sets that share any."""
    count = 0
    for k in range(sets.offsets[a], sets.offsets[a + 1]):
        e = sets.element[k]
        weight = sets.weight[e]
        buffers.cursor[e] += 1  # skip `a` itself
        for at in range(buffers.cursor[e], sets.holder_offsets[e + 1]):
            b = sets.holder[at]
            if b >= limit:
                break
            if buffers.workspace[b, SHARED] == 0.0:
                buffers.touched[count] = b
                count += 1
            buffers.workspace[b, SHARED] += weight
    return count


@inlined
def min_distance(sets: Sets, one: int, other: int) -> int:
    """The smallest distance between the positions of two links."""
    position = sets.position
    i, i_end = sets.position_offsets[one], sets.position_offsets[one + 1]
    j, j_end = sets.position_offsets[other], sets.position_offsets[other + 1]
    smallest = 1 << 62
    while i < i_end and j < j_end:
        distance = int(position[i] - position[j])
        if distance < 0:
            smallest = min(smallest, -distance)
            i += 1
        else:
            smallest = min(smallest, distance)
            j += 1
    return smallest


@inlined
def add_close(sets: Sets, buffers: PairBuffers, a: int, limit: int, half: float) -> None:
    """As `add_shared`, weighted by the proximity of the two links to the element. Call it before `add_shared`."""
    for k in range(sets.offsets[a], sets.offsets[a + 1]):
        e = sets.element[k]
        own = sets.link[buffers.cursor[e]]
        for at in range(buffers.cursor[e] + 1, sets.holder_offsets[e + 1]):
            b = sets.holder[at]
            if b >= limit:
                break
            distance = min_distance(sets, own, sets.link[at])
            buffers.close[b] += sets.weight[e] * half / (half + distance)


@inlined
def similarity(buffers: PairBuffers, a: int, b: int, links: float, inside: float, half: float) -> float:
    """Equation 4 of the paper; clears the sums of `b`."""
    shared = buffers.workspace[b, SHARED]
    union = buffers.workspace[a, SIZE] + buffers.workspace[b, SIZE] - shared + 2.0 - inside
    buffers.workspace[b, SHARED] = 0.0
    if half > 0.0:
        shared = buffers.close[b]
        buffers.close[b] = 0.0
    return float((shared + links) / union)


@kernel
def pairs_above(
    sets: Sets, direct: Direct, buffers: PairBuffers, begin: int, delta: float, half: float
) -> tuple[int, int]:
    """Find the pairs of sets, from set `begin` on, whose similarity is at least `delta`, until the buffers are full.

    Returns (the next set, the number of pairs). With `half`, a common element counts one half if its links are `half`
    words apart.
    """
    one, other, value = buffers.one, buffers.other, buffers.value
    n = 0
    a = begin
    while a < len(sets.size) and n < len(value) - len(sets.size):
        limit = first_too_small(sets.size, a, delta)
        if half > 0.0:
            add_close(sets, buffers, a, limit, half)
        count = add_shared(sets, buffers, a, limit)
        for k in range(direct.offsets[a], direct.offsets[a + 1]):
            b = direct.partner[k]
            if b < limit:
                one[n], other[n] = a, b
                value[n] = similarity(buffers, a, b, direct.links[k], direct.inside[k], half)
                n += value[n] >= delta
        for k in range(count):
            b = buffers.touched[k]
            if buffers.workspace[b, SHARED] > 0.0:  # else the pair is in `direct`
                one[n], other[n] = a, b
                value[n] = similarity(buffers, a, b, 0.0, 0.0, half)
                n += value[n] >= delta
        a += 1
    return a, n
