"""Candidate pairs of sets that can share many elements, from the posting lists of their rarest elements.

A set of n elements that shares w of them with another set shares at least one of any n - w + 1 elements. So it suffices
to read that many posting lists, the shortest ones; most are of elements that occur in one set only (prefix filtering:
Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007).
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.kernels.graph import find_root
from pagekin.kernels.minhash import GOLDEN, mix
from pagekin.model.arrays import Int64s, UInt32s, UInt64s

NO_LIST = np.uint32(0xFFFFFFFF)  # an element that occurs in one set only


class Lists(NamedTuple):
    """The elements of sets as numbers of posting lists, and the sets on each list, in ascending order."""

    offsets: Int64s
    numbers: UInt32s  # the list of each element
    begins: Int64s
    sets: UInt32s


class ShareBounds(NamedTuple):
    """Bounds on the lists of common elements."""

    most: int  # sets on a list that is read completely
    few: int  # sets read from a longer list: the last ones before the current set


@kernel
def probe(
    first: int, wanted: Int64s, lists: Lists, bounds: ShareBounds, parents: Int64s, seen: Int64s, room: int
) -> tuple[int, Int64s, int]:
    """Pairs [set, other] where the set may share wanted[set] elements with the other, for sets from `first` on.

    Stops when there are `room` pairs or no more sets: (the next set, the pairs, the number of sets with a list that is
    too long). Sets that are joined in `parents` are not paired. `seen` must be -1 for every set before the first call.
    """
    pairs = np.empty((room, 2), np.int64)
    n = cut = 0
    current = first
    while current < len(wanted) and n < room:
        shortest = _shortest_lists(current, wanted[current], lists)
        was_cut = False
        for k in range(len(shortest)):
            begin, end = lists.begins[shortest[k]], lists.begins[shortest[k] + 1]
            if end - begin > bounds.most:
                end = begin + np.searchsorted(lists.sets[begin:end], current)
                begin = max(begin, end - bounds.few)
                was_cut = True
            for j in range(begin, end):
                other = int(lists.sets[j])
                if other == current or seen[other] == current:
                    continue
                seen[other] = current
                if find_root(parents, current) == find_root(parents, other):
                    continue
                if n == len(pairs):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                pairs[n, 0], pairs[n, 1] = current, other
                n += 1
        cut += was_cut
        current += 1
    return current, pairs[:n], cut


@kernel
def _shortest_lists(current: int, wanted: int, lists: Lists) -> Int64s:
    """The lists to read for a set, without elements that occur in no other set."""
    begin, end = lists.offsets[current], lists.offsets[current + 1]
    numbers = np.empty(end - begin, np.int64)
    n = 0
    for k in range(begin, end):
        if lists.numbers[k] != NO_LIST:
            numbers[n] = lists.numbers[k]
            n += 1
    enough = n - wanted + 1  # only the n elements that other sets have can be shared
    if wanted < 1 or enough < 1:
        return numbers[:0]
    lengths = np.empty(n, np.int64)
    for k in range(n):
        lengths[k] = lists.begins[numbers[k] + 1] - lists.begins[numbers[k]]
    return numbers[:n][np.argsort(lengths, kind="mergesort")[:enough]]


@kernel
def set_hashes(elements: UInt64s, offsets: Int64s) -> UInt64s:
    """A hash of each set that does not depend on the order of its elements; 0 for an empty set."""
    hashes = np.zeros(len(offsets) - 1, np.uint64)
    for current in range(len(hashes)):
        for k in range(offsets[current], offsets[current + 1]):
            hashes[current] += mix(elements[k] + GOLDEN)
    return hashes
