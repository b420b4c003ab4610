"""The Wilcoxon signed-rank test: could as many pages, and as much, have gained by chance?"""

from __future__ import annotations

import math

import numpy as np

from pagekin.model.arrays import Floats


def signed_rank(first: Floats, second: Floats) -> float:
    """The two-sided p of no difference between pairs of values, by the normal approximation.

    Pairs that do not differ are left out, and equal differences share their ranks. It holds for twenty pairs or more.
    """
    difference = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    difference = difference[difference != 0.0]
    n = len(difference)
    if n == 0:
        return 1.0
    _, place, times = np.unique(np.abs(difference), return_inverse=True, return_counts=True)
    rank = (np.cumsum(times) - (times - 1) / 2.0)[place]
    gained = float(rank[difference > 0.0].sum())
    ties = float((times.astype(np.float64) ** 3 - times).sum())
    variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0
    return math.erfc(abs(gained - n * (n + 1.0) / 4.0) / math.sqrt(2.0 * variance))
