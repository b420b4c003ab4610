"""Flexible clustering: the two nearest groups become one, again and again (section 4 of the paper).

The generic algorithm of D. Müllner, "Modern hierarchical, agglomerative clustering algorithms" (2011): for every
group a nearest one among those after it, and a bound from below on its distance. The bound is put right only when it
is the least of all. The algorithm that follows chains of nearest neighbours would be wrong here unless alpha is 1/2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.arrays import Floats, Int64s
from pagekin.kernels.compile import kernel
from pagekin.kernels.inner import inlined

Matrix = NDArray[np.float64]


@inlined
def find_nearest(distance: Matrix, group: Int64s, k: int, nearest: Int64s, bound: Floats) -> None:
    """The nearest of the groups after the k-th; of equals the first."""
    x = group[k]
    least, found = np.inf, x
    for j in range(k + 1, len(group)):
        if distance[x, group[j]] < least:
            found = group[j]
            least = distance[x, found]
    nearest[x], bound[x] = found, least


@inlined
def first_least(bound: Floats, group: Int64s) -> int:
    """The place of the group with the least bound; of equals the first."""
    place, least = 0, bound[group[0]]
    for k in range(1, len(group)):
        if bound[group[k]] < least:
            place, least = k, bound[group[k]]
    return place


@inlined
def unite(distance: Matrix, group: Int64s, x: int, y: int, alpha: float, nearest: Int64s, bound: Floats) -> None:
    """Formula 5: how far the group of x and y, from now on x, is from the others; `group` no longer has y."""
    between = distance[x, y]
    least, found = np.inf, x
    for k in range(len(group)):
        z = group[k]
        if z == x:
            continue
        # Not below the last distance but for rounding, and not at all if clusters shall be monotone.
        apart = max(between, alpha * distance[x, z] + alpha * distance[y, z] + (1.0 - 2.0 * alpha) * between)
        distance[x, z] = distance[z, x] = apart
        if z < x:
            if apart < bound[z] or (apart == bound[z] and x < nearest[z]):
                nearest[z], bound[z] = x, apart
        elif apart < least:
            found, least = z, apart
    nearest[x], bound[x] = found, least


@kernel
def merge_flexibly(distance: Matrix, alpha: float) -> tuple[Int64s, Floats]:
    """The merges of n groups, and the distance at which each happens.

    A merge is two groups, of which the first lives on under its own number, the smaller. Of equally near pairs the
    first is merged. `distance` is symmetric, and spoilt afterwards.
    """
    n = len(distance)
    nearest, bound = np.zeros(n, np.int64), np.full(n, np.inf)
    gone = np.zeros(n, np.bool_)
    group = np.arange(n)
    merges, heights = np.empty((max(0, n - 1), 2), np.int64), np.empty(max(0, n - 1))
    for k in range(n):
        find_nearest(distance, group, k, nearest, bound)
    for step in range(n - 1):
        while True:
            k = first_least(bound, group)
            x, y = group[k], nearest[group[k]]
            if not gone[y] and distance[x, y] == bound[x]:
                break
            find_nearest(distance, group, k, nearest, bound)
        merges[step, 0], merges[step, 1], heights[step] = x, y, bound[x]
        gone[y] = True
        k = np.searchsorted(group, y)
        group[k:-1] = group[k + 1 :]
        group = group[:-1]
        unite(distance, group, x, y, alpha, nearest, bound)
    return merges, heights
