"""Flexible clustering: repeatedly merge the two nearest groups (section 4 of the paper).

This is the generic algorithm of D. Müllner, "Modern hierarchical, agglomerative clustering algorithms" (2011). Every
group has a nearest neighbour among the later groups, and a lower bound on its distance, which is corrected only when it
is the smallest of all. The nearest-neighbour chain algorithm would be wrong here unless alpha is 1/2.
"""

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Floats, Int64s

Places = NDArray[np.uintp]


@inlined
def find_nearest(row: Floats, group: Places, k: int) -> tuple[int, float]:
    """The nearest of the groups after the k-th, whose distances are `row`; ties go to the first."""
    found, smallest = group[k], np.inf
    for j in range(k + 1, len(group)):
        if row[group[j]] < smallest:
            found, smallest = group[j], row[group[j]]
    return found, smallest


@inlined
def argmin_bound(bound: Floats, group: Places) -> int:
    """The index of the group with the smallest bound; ties go to the first."""
    place, smallest = 0, bound[group[0]]
    for k in range(1, len(group)):
        if bound[group[k]] < smallest:
            place, smallest = k, bound[group[k]]
    return place


@inlined
def merged_distance(one: float, other: float, between: float, alpha: float) -> float:
    """The distance of a group to the merged one, by formula 5. The max corrects rounding errors."""
    return max(between, alpha * one + alpha * other + (1.0 - 2.0 * alpha) * between)


@inlined
def copy_and_find_nearest(row: Floats, k: int, workspace: Floats) -> tuple[int, float]:
    """As `find_nearest` for all groups, and copy their distances."""
    found, smallest = k, np.inf
    for j in range(k + 1, len(row)):
        workspace[j] = row[j]
        if row[j] < smallest:
            found, smallest = j, row[j]
    return found, smallest


@kernel
def merge_flexibly(distances: Floats, alpha: float, workspace: Floats) -> tuple[Int64s, Floats]:
    """The merges of n groups, and the distance of each.

    A merge is a pair of groups; the merged group keeps the number of the first, the smaller. Ties go to the first
    pair. Only the upper triangles of `distances` and of `workspace`, which has the same shape, are used.
    """
    n = len(distances)
    nearest, bound = np.zeros(n, np.int64), np.full(n, np.inf)
    gone = np.zeros(n, np.bool_)
    group = np.arange(n).astype(np.uintp)  # unsigned, so numba skips the negative-index check
    merges, heights = np.empty((max(0, n - 1), 2), np.int64), np.empty(max(0, n - 1))
    for k in range(n):
        nearest[k], bound[k] = copy_and_find_nearest(distances[k], k, workspace[k])
    for step in range(n - 1):
        while True:
            k = argmin_bound(bound, group)
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
        for j in range(k):  # groups before x, for which x is a later group
            z = group[j]
            workspace[z, x] = merged_distance(workspace[z, x], workspace[z, y], between, alpha)
            if workspace[z, x] < bound[z] or (workspace[z, x] == bound[z] and x < nearest[z]):
                nearest[z], bound[z] = x, workspace[z, x]
        for j in range(k + 1, last):
            mine[group[j]] = merged_distance(mine[group[j]], workspace[group[j], y], between, alpha)
        for j in range(last, len(group)):
            mine[group[j]] = merged_distance(mine[group[j]], other[group[j]], between, alpha)
        nearest[x], bound[x] = find_nearest(mine, group, k)
    return merges, heights
