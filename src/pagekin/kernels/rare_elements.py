"""Which sets can share much with which? Elements have lists of the sets that hold them, of which short ones will do.

A set of n elements that shares w of them with another must share one of any n - w + 1. So it is enough to look into the
lists of that many, the shortest; most are those of elements that no other set has (prefix filtering: Chaudhuri, Ganti
and Kaushik 2006; Bayardo, Ma and Srikant 2007).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.kernels.filters import root
from pagekin.kernels.minhash import GOLDEN, mix
from pagekin.model.arrays import Int64s, UInt32s, UInt64s

NO_LIST = np.uint32(0xFFFFFFFF)  # of an element that one set alone has


class Lists(NamedTuple):
    """Sets, the list of each of their elements, and which sets are on each list, in ascending order."""

    offsets: Int64s
    numbers: UInt32s  # a list for each element
    begins: Int64s
    sets: UInt32s


class ShareBounds(NamedTuple):
    """What becomes of the lists of common elements."""

    most: int  # sets on a list that is looked through
    few: int  # of a longer one, so many that come before


@kernel
def probe(
    first: int, wanted: Int64s, lists: Lists, bounds: ShareBounds, parents: Int64s, seen: Int64s, room: int
) -> tuple[int, Int64s, int]:
    """Pairs [set, other] of which the set may share as many elements as are wanted with the other, from `first` on.

    Goes on until there are `room` pairs, or no more sets: (the next set, the pairs, how many sets met a list that is
    too long). Two sets that `parents` have joined are no pair. `seen` is -1 for every set before the first call.
    """
    pairs = np.empty((room, 2), np.int64)
    n = cut = 0
    here = first
    while here < len(wanted) and n < room:
        shortest = _shortest(here, wanted[here], lists)
        was_cut = False
        for k in range(len(shortest)):
            begin, end = lists.begins[shortest[k]], lists.begins[shortest[k] + 1]
            if end - begin > bounds.most:
                end = begin + np.searchsorted(lists.sets[begin:end], here)
                begin = max(begin, end - bounds.few)
                was_cut = True
            for j in range(begin, end):
                other = int(lists.sets[j])
                if other == here or seen[other] == here:
                    continue
                seen[other] = here
                if root(parents, here) == root(parents, other):
                    continue
                if n == len(pairs):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                pairs[n, 0] = here
                pairs[n, 1] = other
                n += 1
        cut += was_cut
        here += 1
    return here, pairs[:n], cut


@kernel
def _shortest(here: int, wanted: int, lists: Lists) -> Int64s:
    """The lists to look into for a set, besides those of elements that it alone has."""
    begin, end = lists.offsets[here], lists.offsets[here + 1]
    numbers = np.empty(end - begin, np.int64)
    n = 0
    for k in range(begin, end):
        if lists.numbers[k] != NO_LIST:
            numbers[n] = lists.numbers[k]
            n += 1
    enough = n - wanted + 1  # of the n that others have as well; that it alone has the rest is known
    if wanted < 1 or enough < 1:
        return numbers[:0]
    lengths = np.empty(n, np.int64)
    for k in range(n):
        lengths[k] = lists.begins[numbers[k] + 1] - lists.begins[numbers[k]]
    return numbers[:n][np.argsort(lengths, kind="mergesort")[:enough]]


@kernel
def sums_of(elements: UInt64s, offsets: Int64s) -> UInt64s:
    """A number for each set that goes by its elements, in whatever order; 0 for one that has none."""
    sums = np.zeros(len(offsets) - 1, np.uint64)
    for here in range(len(sums)):
        for k in range(offsets[here], offsets[here + 1]):
            sums[here] += mix(elements[k] + GOLDEN)
    return sums
