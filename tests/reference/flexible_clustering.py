"""Flexible clustering as table 1 of the paper has it: at each step all pairs are looked at."""

from __future__ import annotations

Merge = tuple[int, int, float]


def merge_flexibly(distance: list[list[float]], alpha: float) -> list[Merge]:
    """(group, group, distance) of every merge; the first lives on. Of equally near pairs the first is merged.

    >>> merge_flexibly([[0, 1, 3], [1, 0, 2], [3, 2, 0]], 0.5)
    [(0, 1, 1), (0, 2, 2.5)]
    """
    table = {(i, j): distance[i][j] for i in range(len(distance)) for j in range(i + 1, len(distance))}
    groups = list(range(len(distance)))
    merges: list[Merge] = []
    while len(groups) > 1:
        between, i, j = min((table[i, j], i, j) for i in groups for j in groups if i < j)
        groups.remove(j)
        for h in groups:
            if h != i:
                one, other = table[min(h, i), max(h, i)], table[min(h, j), max(h, j)]
                apart = alpha * one + alpha * other + (1.0 - 2.0 * alpha) * between
                table[min(h, i), max(h, i)] = max(between, apart)
        merges.append((i, j, between))
    return merges
