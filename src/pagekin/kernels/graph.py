"""Graphs: in-links and degrees of nodes, connected components (union-find), adjacency lists, best reachable nodes; and
flexible clustering of nodes: repeatedly merge the two nearest groups (section 4 of the paper).

Clustering uses the generic algorithm of D. Müllner, "Modern hierarchical, agglomerative clustering algorithms" (2011).
Every group has a nearest neighbour among the later groups, and a lower bound on its distance, which is corrected only
when it is the smallest of all. The nearest-neighbour chain algorithm would be wrong here unless alpha is 1/2.
"""

import heapq

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Bools, Bytes, Floats, Int64s, UInt32s

Places = NDArray[np.uintp]


@kernel
def in_links(
    offsets: Int64s,
    target: UInt32s,
    flags: Bytes,
    node_of_target: UInt32s,
    node_of_page: UInt32s,
    nodes: int,
    excluded_flags: int,
    excluded_pages: Bools,
) -> tuple[Int64s, UInt32s, UInt32s]:
    """(offsets, page, anchor) of the links to each node, by page and then by anchor.

    Page k has the anchors offsets[k] to offsets[k + 1]. Skipped: targets without a node, links of a node to itself,
    links with a flag of `excluded_flags`, and links of pages in `excluded_pages`.
    """
    ends = np.zeros(nodes + 1, np.int64)
    page, anchor = np.empty(0, np.uint32), np.empty(0, np.uint32)
    for placing in (False, True):
        if placing:  # the beginning of the links of a node; placing them moves it to their end
            total = 0
            for node in range(nodes + 1):
                ends[node], total = total, total + ends[node]
            page, anchor = np.empty(total, np.uint32), np.empty(total, np.uint32)
        for k in range(len(offsets) - 1):
            if excluded_pages[k]:
                continue
            for i in range(offsets[k], offsets[k + 1]):
                if target[i] >= len(node_of_target) or flags[i] & excluded_flags:
                    continue
                node = node_of_target[target[i]]
                if node == node_of_page[k]:
                    continue
                if placing:
                    page[ends[node]], anchor[ends[node]] = k, i - offsets[k]
                ends[node] += 1
    for node in range(nodes, 0, -1):
        ends[node] = ends[node - 1]
    ends[0] = 0
    return ends, page, anchor


@kernel
def degrees(offsets: Int64s, page: UInt32s, node_of_page: UInt32s) -> tuple[Int64s, Int64s]:
    """The in-degree and out-degree of each node. The pages of a node are consecutive."""
    incoming, outgoing = np.zeros(len(offsets) - 1, np.int64), np.zeros(len(offsets) - 1, np.int64)
    for node in range(len(offsets) - 1):
        for i in range(offsets[node], offsets[node + 1]):
            source = node_of_page[page[i]]
            if i == offsets[node] or source != node_of_page[page[i - 1]]:
                incoming[node] += 1
                outgoing[source] += 1
    return incoming, outgoing


@inlined
def find_root(parents: Int64s, node: int) -> int:
    """The root of the set of a node, with path halving. A root is its own parent."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@kernel
def join(parents: Int64s, pairs: Int64s) -> Bools:
    """Union-find: unite the sets of every pair under the smaller of their roots; whether they were two sets."""
    were_two = np.empty(len(pairs), np.bool_)
    for k in range(len(pairs)):
        a, b = find_root(parents, pairs[k, 0]), find_root(parents, pairs[k, 1])
        parents[max(a, b)] = min(a, b)
        were_two[k] = a != b
    return were_two


@kernel
def roots(parents: Int64s) -> Int64s:
    found = np.empty_like(parents)
    for k in range(len(parents)):
        found[k] = find_root(parents, k)
    return found


@kernel
def components(nodes: int, first: Int64s, second: Int64s) -> Int64s:
    """For every node the smallest node of its connected component."""
    parents = np.arange(nodes)
    join(parents, np.column_stack((first, second)))
    return roots(parents)


@kernel
def adjacency(nodes: int, first: Int64s, second: Int64s, value: Floats) -> tuple[Int64s, Int64s, Floats]:
    """Adjacency lists (offsets, neighbour, value) of edges that are sorted by first, then by second."""
    ends = np.zeros(nodes + 1, np.int64)
    for k in range(len(first)):
        ends[first[k] + 1] += 1
        ends[second[k] + 1] += 1
    for node in range(nodes):
        ends[node + 1] += ends[node]
    offsets = ends.copy()
    neighbour, edge_value = np.empty(2 * len(first), np.int64), np.empty(2 * len(first))
    for k in range(len(first)):
        for a, b in ((first[k], second[k]), (second[k], first[k])):
            neighbour[ends[a]], edge_value[ends[a]] = b, value[k]
            ends[a] += 1
    return offsets, neighbour, edge_value


@kernel
def best_reachable(offsets: Int64s, neighbour: Int64s, value: Floats, start: int, most: int) -> Int64s:
    """The `most` nodes with the best paths from `start`, which is the first; ties go to the smaller node.

    The quality of a path is the product of the values of its edges, which are below 1.
    """
    settled = np.zeros(len(offsets) - 1, np.bool_)
    best = np.zeros(len(offsets) - 1)
    found = np.empty(min(most, len(settled)), np.int64)
    n = 0
    queue = [(-1.0, start)]
    while len(queue) > 0 and n < len(found):
        negated, node = heapq.heappop(queue)
        if settled[node]:
            continue
        settled[node] = True
        found[n] = node
        n += 1
        for k in range(offsets[node], offsets[node + 1]):
            quality = -negated * value[k]
            if not settled[neighbour[k]] and quality > best[neighbour[k]]:
                best[neighbour[k]] = quality
                heapq.heappush(queue, (-quality, neighbour[k]))
    return found[:n]


@kernel
def distance_matrix(offsets: Int64s, neighbour: Int64s, value: Floats, nodes: Int64s) -> Floats:
    """1 - value between any two of some nodes; 1 if there is no edge, 0 on the diagonal."""
    row = np.full(len(offsets) - 1, -1)
    for i in range(len(nodes)):
        row[nodes[i]] = i
    distance = np.ones((len(nodes), len(nodes)))
    for i in range(len(nodes)):
        distance[i, i] = 0.0
        for k in range(offsets[nodes[i]], offsets[nodes[i] + 1]):
            j = row[neighbour[k]]
            if j >= 0:
                distance[i, j] = 1.0 - value[k]
    return distance


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
        for j in range(k + 1, n):
            workspace[k, j] = distances[k, j]
        nearest[k], bound[k] = find_nearest(workspace[k], group, k)
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
        for j in range(last, len(group) - 1):
            group[j] = group[j + 1]
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
