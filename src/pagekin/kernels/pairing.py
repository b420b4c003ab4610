"""Which sets have much in common? All pairs above a threshold, one set after the other, and nothing else is kept.

Sets are numbered by decreasing size, so that the partners of a set that are large enough lie side by side: where one
is too small for the threshold, so are all that follow. Lists of holders are in the same order, and a cursor a list
says which of them come after the set at hand: every pair is looked at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pagekin.arrays import Floats, Int64s, UInt32s
from pagekin.kernels.compile import kernel
from pagekin.kernels.inner import inlined


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


class Work(NamedTuple):
    """Where a search is, and its scratch paper: zeros between two sets."""

    cursor: Int64s
    common: Floats
    close: Floats
    touched: UInt32s


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
def gather(sets: Sets, work: Work, a: int, limit: int) -> int:
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
            if work.common[b] == 0.0:
                work.touched[count] = b
                count += 1
            work.common[b] += weight
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
def gather_close(sets: Sets, work: Work, a: int, limit: int, half: float) -> None:
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
def similarity(sets: Sets, work: Work, a: int, b: int, links: float, inside: float, half: float) -> float:
    """Equation 4 of the paper; clears the scratch paper of `b`."""
    union = sets.size[a] + sets.size[b] - work.common[b] + 2.0 - inside
    shared = float(work.common[b])
    if half > 0.0:
        shared = float(work.close[b])
        work.close[b] = 0.0
    work.common[b] = 0.0
    return (shared + links) / float(union)


@kernel
def pairs_above(
    sets: Sets, direct: Direct, work: Work, begin: int, delta: float, half: float, room: int
) -> tuple[int, UInt32s, UInt32s, Floats]:
    """The pairs of sets, from set `begin` on, whose similarity is at least `delta`, while there is room for them.

    (the set to go on with, the first of each pair, its second, their similarity). With `half`, a common element whose
    links stand `half` words apart counts one half.
    """
    first, second = np.empty(room, np.uint32), np.empty(room, np.uint32)
    value = np.empty(room, np.float64)
    n = 0
    a = begin
    while a < len(sets.size):
        limit = too_small(sets.size, a, delta)
        if n + limit - a - 1 > room:
            break
        if half > 0.0:
            gather_close(sets, work, a, limit, half)
        count = gather(sets, work, a, limit)
        for k in range(direct.offsets[a], direct.offsets[a + 1]):
            b = direct.partner[k]
            if b < limit:
                alike = similarity(sets, work, a, b, direct.links[k], direct.inside[k], half)
                if alike >= delta:
                    first[n], second[n], value[n] = a, b, alike
                    n += 1
        for k in range(count):
            b = work.touched[k]
            if work.common[b] > 0.0:  # else they are linked, and have had their turn
                alike = similarity(sets, work, a, b, 0.0, 0.0, half)
                if alike >= delta:
                    first[n], second[n], value[n] = a, b, alike
                    n += 1
        a += 1
    return a, first[:n], second[:n], value[:n]
