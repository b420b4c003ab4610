"""Bloom filters as rows of 64-bit words: setting bits, counting what rows share, finding the rows that share much.

An element has 64 even bits. Its h places are an arithmetic progression, which its halves make (Kirsch and
Mitzenmacher: Less Hashing, Same Performance, 2006). Places are taken modulo the size, a power of two, so that half a
filter laid over its other half is the filter of half the size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from pagekin.arrays import Int64s, UInt64s
from pagekin.kernels.compile import kernel
from pagekin.kernels.inner import inlined

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_FEW = 64  # pairs that there is room for at first


@intrinsic  # type: ignore[untyped-decorator]
def popcount(context: Any, word: Any) -> Any:
    """How many bits of a word are set: one instruction, which several words can share."""
    return types.uint64(types.uint64), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])


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


@inlined
def common(some: UInt64s, others: UInt64s) -> int:
    """How many bits are set in both of two rows."""
    count = np.uint64(0)
    for w in range(len(some)):
        count += popcount(some[w] & others[w])
    return int(count)


@kernel
def common_bits(some: UInt64s, others: UInt64s) -> NDArray[np.uint32]:
    """How many bits every row shares with every other row."""
    shared = np.empty((len(some), len(others)), np.uint32)
    for j in range(len(others)):
        for i in range(len(some)):
            shared[i, j] = common(some[i], others[j])
    return shared


@kernel
def near(
    some: UInt64s,
    others: UInt64s,
    some_zeros: NDArray[np.float64],
    others_zeros: NDArray[np.float64],
    threshold: float,
    few: float,
    triangle: bool,
) -> Int64s:
    """The pairs of rows whose estimated share of common elements reaches a threshold, as rows of [some, other].

    With z as the share of bits that are not set, a filter holds about -ln z elements (times size / hashes), so A and B
    share -ln zA - ln zB + ln zAB, where zAB is that of both laid over each other. That this is at least t times what
    A holds means zAB zA^t >= zA zB. A is the emptier one: the share of common elements may be reached in
    either direction; but if it is emptier than `few`, A is the fuller one, and it must be reached in both. If
    `triangle`, the rows are the same, and of each pair the first comes later.
    """
    size = 64.0 * some.shape[1]
    some_powers, others_powers = some_zeros**threshold, others_zeros**threshold
    pairs = np.empty((_FEW, 2), np.int64)
    n = 0
    for i in range(len(some)):
        mine = some_zeros[i]
        for j in range(i if triangle else len(others)):
            theirs = others_zeros[j]
            both = common(some[i], others[j])
            neither = mine + theirs - 1.0 + both / size
            emptier = (mine > theirs) != (max(mine, theirs) > few)
            power = some_powers[i] if emptier else others_powers[j]
            if neither * power >= mine * theirs:
                if n == len(pairs):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                pairs[n, 0], pairs[n, 1] = i, j
                n += 1
    return pairs[:n]


@kernel
def join(parents: Int64s, pairs: Int64s) -> None:
    """Union-find: the roots of every pair become one, the lesser of the two. A root is its own parent."""
    for k in range(len(pairs)):
        a, b = root(parents, pairs[k, 0]), root(parents, pairs[k, 1])
        parents[max(a, b)] = min(a, b)


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
