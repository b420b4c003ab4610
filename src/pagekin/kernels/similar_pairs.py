"""Which sets have much in common? All pairs above a threshold, one set after the other, and nothing else is kept.

Sets are numbered by decreasing size, so that the partners of a set that are large enough lie side by side: where one
is too small for the threshold, so are all that follow. Lists of holders are in the same order, and a cursor a list
says which of them come after the set at hand: every pair is looked at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined
from pagekin.model.arrays import Floats, Int64s, UInt32s


class Sets(NamedTuple):
    """Set k has the elements offsets[k] to offsets[k+1]; element e is in the sets holder_offsets[e] to ..[e+1]."""

    offsets: Int64s
    element: UInt32s
    size: Floats  # the sum of the weights of the elements
    weight: Floats  # of each element
    holder_offsets: Int64s
    holder: UInt32s
    link: UInt32s  # beside each holder: the link by which it holds the element
    place_offsets: Int64s  # of each link: where it stands
    place: Int64s


class Direct(NamedTuple):
    """Pairs of sets (k, partner) that have more to do with each other than their elements; k is the first."""

    offsets: Int64s
    partner: UInt32s
    links: Floats  # between the two
    inside: Floats  # the weights of those of the two that are elements of the other


class PairBuffers(NamedTuple):
    """Where a search is, and its desk: a row for every set, with what it shares with the set at hand, and its size."""

    cursor: Int64s
    workspace: NDArray[np.float64]  # one array, since both are needed at once
    close: Floats
    touched: UInt32s
    one: UInt32s  # the pairs that are found
    other: UInt32s
    value: Floats


SHARED, SIZE = 0, 1  # columns of the desk; the first, as `close`, is zeros between two sets


def work_for(sets: Sets, room: int) -> PairBuffers:
    """A desk for a search from the first set on, with room for so many pairs and, after them, for those of one set.

    A little room is better than much: what is found should not push the desk out of the processor's cache.
    """
    blank, room = np.zeros(len(sets.size)), room + len(sets.size)
    touched, one, other = (np.zeros(length, np.uint32) for length in (len(blank), room, room))
    workspace = np.column_stack([blank, sets.size])
    return PairBuffers(sets.holder_offsets[:-1].copy(), workspace, blank, touched, one, other, np.zeros(room))


@inlined
def too_small(size: Floats, a: int, delta: float) -> int:
    """The first set after `a` that cannot be `delta` alike: |C_i| + 2 is no more than delta |C_a| (section 5.1)."""
    low, high = a + 1, len(size)
    while low < high:
        middle = (low + high) // 2
        if size[middle] + 2.0 > delta * size[a]:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def gather(sets: Sets, work: PairBuffers, a: int, limit: int) -> int:
    """Add up what set `a` has in common with later ones, up to `limit`; how many have anything."""
    count = 0
    for k in range(sets.offsets[a], sets.offsets[a + 1]):
        e = sets.element[k]
        weight = sets.weight[e]
        work.cursor[e] += 1  # past `a` itself
        for at in range(work.cursor[e], sets.holder_offsets[e + 1]):
            b = sets.holder[at]
            if b >= limit:
                break
            if work.workspace[b, SHARED] == 0.0:
                work.touched[count] = b
                count += 1
            work.workspace[b, SHARED] += weight
    return count


@inlined
def apart(place: Int64s, i: int, i_end: int, j: int, j_end: int) -> int:
    """The least distance between two sorted stretches of places."""
    least = 1 << 62
    while i < i_end and j < j_end:
        distance = int(place[i] - place[j])
        if distance < 0:
            least = min(least, -distance)
            i += 1
        else:
            least = min(least, distance)
            j += 1
    return least


@inlined
def gather_close(sets: Sets, work: PairBuffers, a: int, limit: int, half: float) -> None:
    """As `gather`, which comes after it, but an element counts by how close the links stand by which it is held."""
    for k in range(sets.offsets[a], sets.offsets[a + 1]):
        e = sets.element[k]
        own = sets.link[work.cursor[e]]
        for at in range(work.cursor[e] + 1, sets.holder_offsets[e + 1]):
            b = sets.holder[at]
            if b >= limit:
                break
            other = sets.link[at]
            distance = apart(
                sets.place,
                sets.place_offsets[own],
                sets.place_offsets[own + 1],
                sets.place_offsets[other],
                sets.place_offsets[other + 1],
            )
            work.close[b] += sets.weight[e] * half / (half + distance)


@inlined
def similarity(work: PairBuffers, a: int, b: int, links: float, inside: float, half: float) -> float:
    """Equation 4 of the paper; clears the sums of `b`."""
    shared = work.workspace[b, SHARED]
    union = work.workspace[a, SIZE] + work.workspace[b, SIZE] - shared + 2.0 - inside
    work.workspace[b, SHARED] = 0.0
    if half > 0.0:
        shared = work.close[b]
        work.close[b] = 0.0
    return float((shared + links) / union)


@kernel
def pairs_above(
    sets: Sets, direct: Direct, work: PairBuffers, begin: int, delta: float, half: float
) -> tuple[int, int]:
    """Find the pairs of sets, from set `begin` on, whose similarity is at least `delta`, while there is room for them.

    (the set to go on with, how many pairs there are). With `half`, a common element whose links stand `half` words
    apart counts one half.
    """
    one, other, value = work.one, work.other, work.value
    n = 0
    a = begin
    while a < len(sets.size) and n < len(value) - len(sets.size):
        limit = too_small(sets.size, a, delta)
        if half > 0.0:
            gather_close(sets, work, a, limit, half)
        count = gather(sets, work, a, limit)
        for k in range(direct.offsets[a], direct.offsets[a + 1]):
            b = direct.partner[k]
            if b < limit:
                one[n], other[n] = a, b
                value[n] = similarity(work, a, b, direct.links[k], direct.inside[k], half)
                n += value[n] >= delta
        for k in range(count):
            b = work.touched[k]
            if work.workspace[b, SHARED] > 0.0:  # else they are linked, and have had their turn
                one[n], other[n] = a, b
                value[n] = similarity(work, a, b, 0.0, 0.0, half)
                n += value[n] >= delta
        a += 1
    return a, n
