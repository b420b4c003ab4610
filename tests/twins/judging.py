"""Pairs of pages, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations


def count_pairs(scores: Sequence[float], distances: Sequence[int], levels: int) -> list[list[list[int]]]:
    """For distances d < e, how many pairs are concordant, discordant and tied.

    >>> count_pairs([0.9, 0.5, 0.5, 0.1], [0, 0, 1, 1], levels=2)[0][1]
    [3, 0, 1]
    """
    counts = [[[0, 0, 0] for _ in range(levels)] for _ in range(levels)]
    for a, b in permutations(range(len(scores)), 2):
        if distances[a] < distances[b]:
            kind = 0 if scores[a] > scores[b] else 1 if scores[a] < scores[b] else 2
            counts[distances[a]][distances[b]][kind] += 1
    return counts
