"""Min-hash signatures, from sets of elements; and how far off their estimates are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

EMPTY = 0xFFFFFFFF
_GOLDEN = 0x9E3779B97F4A7C15

Bag = Mapping[int, float]  # the weights of keys


def mix(value: int) -> int:
    """The output function of splitmix64 (Steele, Lea, Flood 2014).

    >>> hex(mix(_GOLDEN))  # the first number of the generator seeded with 0
    '0xe220a8397b1dcdaf'
    """
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        value = (value ^ (value >> shift)) * factor % 2**64
    return value ^ (value >> 31)


def count(key: int, weight: float, elements: int) -> int:
    """How many elements: rounded up where the remainder is more than the chance that is the key's own."""
    chance = Fraction(mix(key) >> 11, 2**53)
    exact = Fraction(weight * elements)
    return math.floor(exact) + (exact % 1 > chance)


def elements_of(bag: Bag, elements: int) -> set[int]:
    """The bag as a set."""
    return {
        mix((key + j * _GOLDEN) % 2**64)
        for key, weight in bag.items()
        for j in range(1, count(key, weight, elements) + 1)
    }


def signature(bag: Bag, functions: Sequence[tuple[int, int]], elements: int) -> list[int]:
    """For each (multiplier, addend) the upper half of the element whose lower half hashes least."""
    members = elements_of(bag, elements)
    if not members:
        return [EMPTY] * len(functions)
    least = [min(members, key=lambda member: (a * member + b) % 2**32) for a, b in functions]
    return [min(member >> 32, EMPTY - 1) for member in least]


def variance(a: Bag, b: Bag, elements: int, hashes: int) -> float:
    """Of the agreement of two signatures: that of drawing `hashes` times, and that of rounding weights to elements.

    The agreement is I / U, shared elements over all; to first order its rounding varies as the sum of what each
    term adds to I - J U, over U squared. The one chance of a term decides over both of its bags.
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
    return j * (1 - j) / hashes + max(0.0, rounding) / union**2
