"""All pairs of sets whose similarity is above a threshold.

Sets are numbered by descending size: if one is too small for the threshold, so are all that follow. The posting lists
of elements are in the same order, with a cursor behind the current set, so every pair is examined once.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Floats, Int64s, UInt32s


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


SHARED, SIZE = 0, 1  # columns of the workspace; the first and `close` are zero between two sets


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
