"""Similarities of bags, by their definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Bag = Mapping[int, float]


@dataclass(frozen=True)
class Curve:
    """What a count is worth, and what the length of a page makes of it."""

    rise: Sequence[float]
    scale: float
    base: float
    slope: float


def minima(asked: Bag, bag: Bag) -> float:
    """The sum of the minima.

    >>> minima({1: 0.5, 2: 0.5}, {3: 0.5, 2: 0.25, 1: 0.25})
    0.5
    """
    total = 0.0
    for term, weight in bag.items():
        total += min(asked.get(term, 0.0), weight)
    return total


def products(asked: Bag, bag: Bag) -> tuple[float, float]:
    """The sum of the products, and of the squares of the second.

    >>> products({1: 0.5, 2: 0.5}, {3: 0.5, 2: 0.25, 1: 0.25})
    (0.25, 0.375)
    """
    both = square = 0.0
    for term, weight in bag.items():
        both += asked.get(term, 0.0) * weight
        square += weight * weight
    return both, square


def weighed_product(asked: Bag, counts: Mapping[int, int], curve: Curve) -> float:
    """The sum over the words of a page that is asked for of its worth times its weight there.

    >>> weighed_product({1: 0.5, 2: 1.0}, {1: 2, 3: 1}, Curve([0.0, 1.0, 6.0], scale=3.0, base=2.0, slope=1.0))
    1.125
    """
    total = 0.0
    for term, count in counts.items():
        if count > 0:
            rise = curve.rise[min(count, len(curve.rise) - 1)]
            total += asked.get(term, 0.0) * (curve.scale * (rise / (curve.base + curve.slope * rise)))
    return total


def jaccard(a: Bag, b: Bag) -> float:
    """The sum of minima over the sum of maxima.

    >>> jaccard({1: 0.5, 2: 0.5}, {2: 0.25, 3: 0.75})
    0.14285714285714285
    """
    terms = sorted({*a, *b})
    maxima = math.fsum(max(a.get(term, 0.0), b.get(term, 0.0)) for term in terms)
    minima = math.fsum(min(a.get(term, 0.0), b.get(term, 0.0)) for term in terms)
    return minima / maxima if maxima else 0.0


def cosine(a: Bag, b: Bag) -> float:
    """The product of the bags as vectors over the product of their lengths.

    >>> cosine({1: 3.0, 2: 4.0}, {1: 4.0, 2: 3.0})
    0.96
    """
    lengths = math.hypot(*a.values()) * math.hypot(*b.values())
    product = math.fsum(weight * b.get(term, 0.0) for term, weight in a.items())
    return product / lengths if lengths else 0.0
