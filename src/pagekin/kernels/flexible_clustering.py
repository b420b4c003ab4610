"""Flexible clustering: the two nearest groups become one, again and again (section 4 of the paper).

The generic algorithm of D. Müllner, "Modern hierarchical, agglomerative clustering algorithms" (2011): for every
group a nearest one among those after it, and a bound from below on its distance. The bound is put right only when it
is the least of all. The algorithm that follows chains of nearest neighbours would be wrong here unless alpha is 1/2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined
from pagekin.model.arrays import Floats, Int64s

Matrix = NDArray[np.float64]
Places = NDArray[np.uintp]


@inlined
def find_nearest(row: Floats, group: Places, k: int) -> tuple[int, float]:
    """The nearest of the groups after the k-th, whose distances are `row`; of equals the first."""
    found, least = group[k], np.inf
    for j in range(k + 1, len(group)):
        if row[group[j]] < least:
            found, least = group[j], row[group[j]]
    return found, least


@inlined
def first_least(bound: Floats, group: Places) -> int:
    """The place of the group with the least bound; of equals the first."""
    place, least = 0, bound[group[0]]
    for k in range(1, len(group)):
        if bound[group[k]] < least:
            place, least = k, bound[group[k]]
    return place


@inlined
def apart(one: float, other: float, between: float, alpha: float) -> float:
    """Formula 5. It is never below the distance of the two, but for rounding; and so not at all."""
    return max(between, alpha * one + alpha * other + (1.0 - 2.0 * alpha) * between)


@inlined
def copy_and_find_nearest(row: Floats, k: int, workspace: Floats) -> tuple[int, float]:
    """The nearest of all groups after the k-th, whose distances are copied on the way; of equals the first."""
    found, least = k, np.inf
    for j in range(k + 1, len(row)):
        workspace[j] = row[j]
        if row[j] < least:
            found, least = j, row[j]
    return found, least


@kernel
def merge_flexibly(distances: Matrix, alpha: float, workspace: Matrix) -> tuple[Int64s, Floats]:
    """The merges of n groups, and the distance at which each happens.

    A merge is two groups, of which the first lives on under its own number, the smaller. Of equally near pairs the
    first is merged. Only what is above the diagonal counts, here and on the desk, which has the same size.
    """
    n = len(distances)
    nearest, bound = np.zeros(n, np.int64), np.full(n, np.inf)
    gone = np.zeros(n, np.bool_)
    group = np.arange(n).astype(np.uintp)  # no sign, so that nobody asks for it before every look into a row
    merges, heights = np.empty((max(0, n - 1), 2), np.int64), np.empty(max(0, n - 1))
    for k in range(n):
        nearest[k], bound[k] = copy_and_find_nearest(distances[k], k, workspace[k])
    for step in range(n - 1):
        while True:
            k = first_least(bound, group)
            x, y = group[k], nearest[group[k]]
            if not gone[y] and workspace[x, y] == bound[x]:
                break
            nearest[x], bound[x] = find_nearest(workspace[x], group, k)
        between, mine, other = bound[x], workspace[x], workspace[y]
        merges[step, 0], merges[step, 1], heights[step] = x, y, between
        gone[y] = True
        last = np.searchsorted(group, np.uintp(y))
        group[last:-1] = group[last + 1 :]
        group = group[:-1]
        for j in range(k):  # groups before x, which have x after them
            z = group[j]
            workspace[z, x] = apart(workspace[z, x], workspace[z, y], between, alpha)
            if workspace[z, x] < bound[z] or (workspace[z, x] == bound[z] and x < nearest[z]):
                nearest[z], bound[z] = x, workspace[z, x]
        for j in range(k + 1, last):
            mine[group[j]] = apart(mine[group[j]], workspace[group[j], y], between, alpha)
        for j in range(last, len(group)):
            mine[group[j]] = apart(mine[group[j]], other[group[j]], between, alpha)
        nearest[x], bound[x] = find_nearest(mine, group, k)
    return merges, heights
