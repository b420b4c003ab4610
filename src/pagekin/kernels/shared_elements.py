"""Pairs of sets that share many elements: by Bloom filters, and by the posting lists of their rarest elements.

A Bloom filter is a row of 64-bit words, and an element is a 64-bit hash. Its h bits are an arithmetic progression,
whose start and step are the two halves of the hash (Kirsch and Mitzenmacher: Less Hashing, Same Performance, 2006).
Positions are taken modulo the size, a power of two, so the union (bitwise or) of the two halves of a filter is the
filter of half the size.

A set of n elements that shares w of them with another set shares at least one of any n - w + 1 elements. So candidates
are found by reading that many posting lists, the shortest ones; most are of elements that occur in one set only (prefix
filtering: Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and Srikant 2007).
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.bits import popcount
from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.kernels.graph import find_root
from pagekin.kernels.minhash import GOLDEN, mix
from pagekin.model.arrays import Bools, Floats, Int64s, UInt32s, UInt64s

NO_LIST = np.uint32(0xFFFFFFFF)  # an element that occurs in one set only
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@kernel
def set_bits(elements: UInt64s, offsets: Int64s, hashes: int, filters: UInt64s) -> None:
    """Set the bits of every row's elements, elements[offsets[row]:offsets[row + 1]]."""
    mask = np.uint64(64 * filters.shape[1] - 1)
    for row in range(len(filters)):
        words = filters[row]
        for k in range(offsets[row], offsets[row + 1]):
            position, step = elements[k] & _LOW, elements[k] >> _HALF | np.uint64(1)
            for _ in range(hashes):
                bit = position & mask
                words[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
                position += step


class FilterRows(NamedTuple):
    """Filters, and what `near` needs to know of each."""

    words: UInt64s
    sketches: UInt64s  # filters of a quarter of the size
    zeros: Floats  # the share z of bits that are not set
    powers: Floats  # z^(1 - t), where t is the threshold: the share of elements that makes a filter near another
    small: Bools  # whether it has so few elements that it must be near in both directions


@kernel
def make_filter_rows(words: UInt64s, zeros: Floats, powers: Floats, small: Bools) -> FilterRows:
    quarter = max(1, words.shape[1] // 4)
    sketches = np.zeros((len(words), quarter), np.uint64)
    for i in range(len(words)):
        for w in range(words.shape[1]):
            sketches[i, w % quarter] |= words[i, w]
    return FilterRows(words, sketches, zeros, powers, small)


@inlined
def count_missing(some: UInt64s, i: int, others: UInt64s, j: int) -> float:
    """The number of bits that are set in row i of `some` but not in row j of `others`."""
    count = np.uint64(0)
    for w in range(some.shape[1]):
        count += popcount(some[i, w] & ~others[j, w])
    return float(count)


@inner
def near_row(some: FilterRows, i: int, others: FilterRows, end: int, hits: Int64s) -> int:
    """Write to `hits` which of the first `end` others are near row i; their number. See `near`."""
    size = 64.0 * some.words.shape[1]
    n = 0
    for j in range(end):
        # The bits that the emptier filter adds to the fuller one must leave enough bits unset. Sketches bound them from
        # below.
        low_a, low_b = some.powers[i] * others.zeros[j], others.powers[j] * some.zeros[i]
        if some.zeros[i] < others.zeros[j]:
            room = size * (some.zeros[i] - min(low_a, low_b))
            if count_missing(others.sketches, j, some.sketches, i) > room:
                continue
            added = count_missing(others.words, j, some.words, i)
        else:
            room = size * (others.zeros[j] - min(low_a, low_b))
            if count_missing(some.sketches, i, others.sketches, j) > room:
                continue
            added = count_missing(some.words, i, others.words, j)
        if added <= room:
            hits[n] = j
            neither = min(some.zeros[i], others.zeros[j]) - added / size
            n += neither >= max(low_a, low_b) or not (some.small[i] or others.small[j])
    return n


@kernel
def near(some: FilterRows, others: FilterRows, triangle: bool) -> Int64s:
    """The pairs [some, other] of rows where one shares at least the share t of its elements with the other.

    With z as the share of bits that are not set, a filter has about -ln z elements (times size / hashes), so A and B
    share -ln zA - ln zB + ln zAB elements, where zAB is the z of their union. This is at least t times the elements of
    A if zAB >= zA^(1 - t) zB. The condition must hold in one direction, or in both if one of the two is small. With
    `triangle`, `some` and `others` are the same rows, and each pair is listed once, the larger row number first.
    """
    pairs = np.empty((64, 2), np.int64)
    hits = np.empty(len(others.words), np.int64)
    n = 0
    for i in range(len(some.words)):
        found = near_row(some, i, others, i if triangle else len(others.words), hits)
        if n + found > len(pairs):
            pairs = _longer(pairs, found)
        for k in range(found):
            pairs[n, 0], pairs[n, 1] = i, hits[k]
            n += 1
    return pairs[:n]


@kernel
def _longer(pairs: Int64s, more: int) -> Int64s:
    """The pairs in an array of twice their number of rows and `more`."""
    longer = np.empty((2 * len(pairs) + more, 2), np.int64)
    for k in range(len(pairs)):
        longer[k, 0], longer[k, 1] = pairs[k, 0], pairs[k, 1]
    return longer


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
                    pairs = _longer(pairs, 0)
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
