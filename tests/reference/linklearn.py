"""The loss of a page and its derivative, pair by pair, from the definition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Page = Mapping[int, int]  # term -> tf
Theta = Sequence[float]  # inner, bias, outer, last
Thetas = tuple[Theta, Theta, Theta]


def network(theta: Theta, x: float) -> tuple[float, list[float]]:
    """softplus(last + sum outer tanh(inner x + bias)), and its derivative by all parameters."""
    k = len(theta) // 3
    inner, bias, outer, last = theta[:k], theta[k : 2 * k], theta[2 * k : 3 * k], theta[3 * k]
    hidden = [math.tanh(a * x + b) for a, b in zip(inner, bias, strict=True)]
    z = last + sum(c * h for c, h in zip(outer, hidden, strict=True))
    slope = 1.0 / (1.0 + math.exp(-z))
    through = [slope * c * (1.0 - h * h) for c, h in zip(outer, hidden, strict=True)]
    return math.log1p(math.exp(z)), [*(t * x for t in through), *through, *(slope * h for h in hidden), slope]


def weight(thetas: Thetas, tf: float, idf: float, length: float) -> tuple[float, list[float]]:
    """The product of the three functions, and its derivative."""
    (a, da), (b, db), (c, dc) = (network(theta, x) for theta, x in zip(thetas, (tf, idf, length), strict=True))
    return a * b * c, [*(d * b * c for d in da), *(d * a * c for d in db), *(d * a * b for d in dc)]


def score(thetas: Thetas, pages: Sequence[Page], d: int, e: int, idf: Sequence[float]) -> tuple[float, list[float]]:
    """The inner product of two pages, and its derivative."""
    total, slope = 0.0, [0.0] * sum(map(len, thetas))
    for term in pages[d].keys() & pages[e].keys():
        w, dw = weight(thetas, pages[d][term], idf[term], sum(pages[d].values()))
        v, dv = weight(thetas, pages[e][term], idf[term], sum(pages[e].values()))
        total += w * v
        slope = [s + x * v + y * w for s, x, y in zip(slope, dw, dv, strict=True)]
    return total, slope


def loss(
    thetas: Thetas, pages: Sequence[Page], linked: Sequence[set[int]], d: int, idf: Sequence[float]
) -> tuple[float, list[float]]:
    """Equation 4 for one page, over all pairs of a linked and an unlinked page, and its derivative."""
    scores = {e: score(thetas, pages, d, e, idf) for e in range(len(pages)) if e != d}
    total, slope = 0.0, [0.0] * sum(map(len, thetas))
    others = [e for e in scores if e not in linked[d]]
    for near in linked[d]:
        for far in others:
            short = 1.0 - scores[near][0] + scores[far][0]
            if short > 0.0:
                total += short
                slope = [s + x - y for s, x, y in zip(slope, scores[far][1], scores[near][1], strict=True)]
    pairs = len(linked[d]) * len(others)
    return total / pairs, [s / pairs for s in slope]
