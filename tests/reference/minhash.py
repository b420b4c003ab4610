"""Min-hash signatures, from sets of elements; and how far off their estimates are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

EMPTY = 0xFFFFFFFF
GOLDEN = 0x9E3779B97F4A7C15

Bag = Mapping[int, float]  # the weights of keys


def mix(value: int) -> int:
    """The output function of splitmix64 (Steele, Lea, Flood 2014).

    >>> hex(mix(GOLDEN))  # the first number of the generator seeded with 0
    '0xe220a8397b1dcdaf'
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        value = (value ^ (value >> shift)) * factor % 2**64
    return value ^ (value >> 31)


def unmix(value: int) -> int:
    """The value that is mixed to this one.

    >>> hex(unmix(0xE220A8397B1DCDAF))
    '0x9e3779b97f4a7c15'
    """
    for shift, factor in ((31, 0x94D049BB133111EB), (27, 0xBF58476D1CE4E5B9)):
        value = _unshift(value, shift) * pow(factor, -1, 2**64) % 2**64
    return _unshift(value, 30)


def _unshift(value: int, shift: int) -> int:
    return value ^ (value >> shift) ^ (value >> 2 * shift)


def count(key: int, weight: float, elements: int) -> int:
    """How many elements: the share of the key, which is from 0 to 1, makes a remainder whole or does not."""
    remainder = Fraction(math.floor(Fraction(weight) * elements * 2**32), 2**32)
    return min(elements, math.floor(remainder + Fraction(key >> 32, 2**32)))


def elements_of(bag: Bag, elements: int) -> set[int]:
    """The bag as a set: of each key the first numbers of splitmix64 seeded with it."""
    return {
        mix((key + j * GOLDEN) % 2**64)
        for key, weight in bag.items()
        for j in range(1, count(key, weight, elements) + 1)
    }


def bin_of(value: int, bins: int) -> int:
    """Where the upper half of a hash falls, when its range is cut into bins of one size."""
    return math.floor(Fraction(value >> 32, 2**32) * bins)


def signature(bag: Bag, bins: int, elements: int) -> list[int]:
    """The lower half of the least element of every bin; if it has none, of the first other bin asked that has."""
    least: dict[int, int] = {}
    for member in sorted(elements_of(bag, elements) - {2**64 - 1}):
        least.setdefault(bin_of(member, bins), member)
    if not least:
        return [EMPTY] * bins
    winners = []
    for place in range(bins):
        asked, attempt = place, 0
        while asked not in least:
            attempt += 1
            asked = bin_of(mix(place * 2**32 + attempt), bins)
        winners.append(least[asked])
    return [min(winner % 2**32, EMPTY - 1) for winner in winners]


def variance(a: Bag, b: Bag, elements: int, bins: int) -> float:
    """Of the agreement of two signatures: that of drawing one element a bin, and that of rounding weights to elements.

    Drawing is that of `bins` elements out of all without putting any back (hypergeometric; as if no bin borrowed).
    The agreement is I / U, shared elements over all; to first order its rounding varies as the sum of what
    each term adds to I - J U, over U squared. The one share of a term decides over both of its bags.
    """
    weights = [(elements * a.get(key, 0.0), elements * b.get(key, 0.0)) for key in {*a, *b}]
    shared, union = sum(map(min, weights)), sum(map(max, weights))
    if not union:
        return 0.0
    j = shared / union
    rounding = 0.0
    for pair in weights:
        low, high = min(pair) % 1, max(pair) % 1
        both = min(low, high)
        rounding += low * (1 - low) + j * j * high * (1 - high) - 2 * j * (both - low * high)
    drawing = j * (1 - j) / bins * (union - bins) / (union - 1)
    return drawing + max(0.0, rounding) / union**2
