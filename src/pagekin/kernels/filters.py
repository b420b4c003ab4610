"""Bloom filters as rows of 64-bit words: setting bits, counting what rows share, finding the rows that share much.

An element has 64 even bits. Its h places are an arithmetic progression, which its halves make (Kirsch and
Mitzenmacher: Less Hashing, Same Performance, 2006). Places are taken modulo the size, a power of two, so that half a
filter laid over its other half is the filter of half the size.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined, inner
from pagekin.model.arrays import Bools, Int64s, UInt64s

Floats: TypeAlias = NDArray[np.float64]

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


def popcount(word: np.uint64) -> np.uint64:
    """How many bits of a word are set; in a kernel it is one instruction, which several words can share."""
    return np.uint64(int(word).bit_count())


@intrinsic  # type: ignore[untyped-decorator]
def _ctpop(context: Any, word: Any) -> Any:
    return types.uint64(types.uint64), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])


@overload(popcount, inline="always")  # type: ignore[untyped-decorator]
def _popcount(word: Any) -> Any:
    def compiled(word: Any) -> Any:
        return _ctpop(word)

    return compiled


@kernel
def set_bits(elements: UInt64s, offsets: Int64s, hashes: int, filters: UInt64s) -> None:
    """Set the bits of every row's elements, elements[offsets[row]:offsets[row + 1]]."""
    mask = np.uint64(64 * filters.shape[1] - 1)
    for row in range(len(filters)):
        words = filters[row]
        for k in range(offsets[row], offsets[row + 1]):
            place, step = elements[k] & _LOW, elements[k] >> _HALF | np.uint64(1)
            for _ in range(hashes):
                bit = place & mask
                words[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
                place += step


@kernel
def common_bits(some: UInt64s, others: UInt64s) -> NDArray[np.uint32]:
    """How many bits every row shares with every other row."""
    shared = np.empty((len(some), len(others)), np.uint32)
    for j in range(len(others)):
        for i in range(len(some)):
            count = np.uint64(0)
            for w in range(some.shape[1]):
                count += popcount(some[i, w] & others[j, w])
            shared[i, j] = count
    return shared


class Rows(NamedTuple):
    """Filters, and what `near` asks of each."""

    words: UInt64s
    sketches: UInt64s  # folded to a quarter
    zeros: Floats  # the share z of bits that are not set
    powers: Floats  # z^(1 - t), with the share t of its elements that makes it near another
    few: Bools  # whether a page is too small to be near in one direction


@kernel
def rows_of(words: UInt64s, zeros: Floats, powers: Floats, few: Bools) -> Rows:
    """Filters, and sketches of them."""
    quarter = max(1, words.shape[1] // 4)
    sketches = np.zeros((len(words), quarter), np.uint64)
    for i in range(len(words)):
        for w in range(words.shape[1]):
            sketches[i, w % quarter] |= words[i, w]
    return Rows(words, sketches, zeros, powers, few)


@inlined
def surplus(some: UInt64s, i: int, others: UInt64s, j: int) -> float:
    """How many bits row i of some has that row j of others has not."""
    count = np.uint64(0)
    for w in range(some.shape[1]):
        count += popcount(some[i, w] & ~others[j, w])
    return float(count)


@inner
def near_row(some: Rows, i: int, others: Rows, end: int, hits: Int64s) -> int:
    """Write down which of the first others are near a row; how many. See `near`."""
    size = 64.0 * some.words.shape[1]
    n = 0
    for j in range(end):
        # What the emptier one adds to the fuller one must leave enough bits unset. What it lacks in a sketch it lacks.
        mine, theirs = some.powers[i] * others.zeros[j], others.powers[j] * some.zeros[i]
        if some.zeros[i] < others.zeros[j]:
            room = size * (some.zeros[i] - min(mine, theirs))
            if surplus(others.sketches, j, some.sketches, i) > room:
                continue
            more = surplus(others.words, j, some.words, i)
        else:
            room = size * (others.zeros[j] - min(mine, theirs))
            if surplus(some.sketches, i, others.sketches, j) > room:
                continue
            more = surplus(some.words, i, others.words, j)
        if more <= room:
            hits[n] = j
            neither = min(some.zeros[i], others.zeros[j]) - more / size
            n += neither >= max(mine, theirs) or not (some.few[i] or others.few[j])
    return n


@kernel
def near(some: Rows, others: Rows, triangle: bool) -> Int64s:
    """The pairs of rows of which one shares as many of its elements as makes it near the other: [some, other].

    With z as the share of bits that are not set, a filter holds about -ln z elements (times size / hashes), so A and B
    share -ln zA - ln zB + ln zAB, where zAB is that of both laid over each other. That this is at least t times what
    A holds means zAB >= zA^(1 - t) zB. It must be so in one direction; in both, if one has few elements. If `triangle`,
    the rows are the same, and of each pair the first comes later.
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


@kernel
def join(parents: Int64s, pairs: Int64s) -> Bools:
    """Union-find: the roots of every pair become one, the lesser of the two; whether they were two.

    A root is its own parent.
    """
    were_two = np.empty(len(pairs), np.bool_)
    for k in range(len(pairs)):
        a, b = root(parents, pairs[k, 0]), root(parents, pairs[k, 1])
        parents[max(a, b)] = min(a, b)
        were_two[k] = a != b
    return were_two


@inlined
def root(parents: Int64s, place: int) -> int:
    """Who a place leads to; the way there is halved as it is walked."""
    while parents[place] != place:
        parents[place] = parents[parents[place]]
        place = parents[place]
    return place


@kernel
def roots(parents: Int64s) -> Int64s:
    """Who every place leads to."""
    found = np.empty_like(parents)
    for k in range(len(parents)):
        found[k] = root(parents, k)
    return found
