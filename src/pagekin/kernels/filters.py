"""Bloom filters as rows of 64-bit words: setting bits, and finding pairs of filters that share many elements.

An element is a 64-bit hash. Its h bits are an arithmetic progression, whose start and step are the two halves of the
hash (Kirsch and Mitzenmacher: Less Hashing, Same Performance, 2006). Positions are taken modulo the size, a power of
two, so the union (bitwise or) of the two halves of a filter is the filter of half the size.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.model.arrays import Bools, Floats, Int64s, UInt64s

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
    """The filters with their sketches."""
    quarter = max(1, words.shape[1] // 4)
    sketches = np.zeros((len(words), quarter), np.uint64)
    for i in range(len(words)):
        for w in range(words.shape[1]):
            sketches[i, w % quarter] |= words[i, w]
    return FilterRows(words, sketches, zeros, powers, small)


def popcount(word: np.uint64) -> np.uint64:
    """The number of bits set in a word; in a kernel a single instruction, which the compiler can vectorise."""
    return np.uint64(int(word).bit_count())


@intrinsic  # type: ignore[untyped-decorator]
def _ctpop(context: Any, word: Any) -> Any:
    return types.uint64(types.uint64), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])


@overload(popcount, inline="always")  # type: ignore[untyped-decorator]
def _popcount(word: Any) -> Any:
    def count(word: Any) -> Any:
        return _ctpop(word)

    return count


@inlined
def count_missing(some: UInt64s, i: int, others: UInt64s, j: int) -> float:
    """The number of bits that are set in row i of `some` but not in row j of `others`."""
    count = np.uint64(0)
    for w in range(some.shape[1]):
        count += popcount(some[i, w] & ~others[j, w])
    return float(count)


@inlined
def count_added(some: FilterRows, i: int, others: FilterRows, j: int, room: float) -> float:
    """As `count_missing`; a lower bound, given by the sketches, if that is larger than `room`."""
    bound = count_missing(some.sketches, i, others.sketches, j)
    return bound if bound > room else count_missing(some.words, i, others.words, j)


@inner
def near_row(some: FilterRows, i: int, others: FilterRows, end: int, hits: Int64s) -> int:
    """Write to `hits` which of the first `end` others are near row i; their number. See `near`."""
    size = 64.0 * some.words.shape[1]
    n = 0
    for j in range(end):
        # The bits that the emptier filter adds to the fuller one must leave enough bits unset.
        low_a, low_b = some.powers[i] * others.zeros[j], others.powers[j] * some.zeros[i]
        fuller = min(some.zeros[i], others.zeros[j])
        room = size * (fuller - min(low_a, low_b))
        if some.zeros[i] < others.zeros[j]:
            added = count_added(others, j, some, i, room)
        else:
            added = count_added(some, i, others, j, room)
        if added <= room:
            hits[n] = j
            n += fuller - added / size >= max(low_a, low_b) or not (some.small[i] or others.small[j])
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
            pairs = np.concatenate((pairs, np.empty((len(pairs) + found, 2), np.int64)))
        pairs[n : n + found, 0] = i
        pairs[n : n + found, 1] = hits[:found]
        n += found
    return pairs[:n]
