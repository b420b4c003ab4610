"""Pairs of pages, one by one; the best pages by sorting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations


def count_pairs(scores: Sequence[float], distances: Sequence[int], levels: int) -> list[list[int]]:
    """Concordant, discordant and tied: of all pairs, then of pairs at distances 0 and 1, 0 and 2 ...

    >>> count_pairs([0.9, 0.5, 0.5, 0.1], [0, 0, 1, 2], levels=3)
    [[4, 0, 1], [1, 0, 1], [2, 0, 0]]
    """
    counts = [[0, 0, 0] for _ in range(levels)]
    for a, b in permutations(range(len(scores)), 2):
        if distances[a] < distances[b] < levels:
            kind = 0 if scores[a] > scores[b] else 1 if scores[a] < scores[b] else 2
            counts[0][kind] += 1
            if distances[a] == 0:
                counts[distances[b]][kind] += 1
    return counts


def first_pages(scores: Sequence[float], distances: Sequence[int], most: int, nobody: int) -> list[int]:
    """The best listed pages, of equal ones the earlier.

    >>> first_pages([0.5, 0.9, 0.5, -math.inf], [0, 0, 1, 0], 4, 255)
    [1, 0, 2]
    """
    listed = [page for page, score in enumerate(scores) if score > -math.inf and distances[page] != nobody]
    return sorted(listed, key=lambda page: (-scores[page], page))[:most]
