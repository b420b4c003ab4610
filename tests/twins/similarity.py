"""Similarities of bags, by their definitions."""

from __future__ import annotations

import math
from collections.abc import Mapping

Bag = Mapping[int, float]


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
