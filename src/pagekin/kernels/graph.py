"""Graphs as lists of edges: connected components (union-find), adjacency lists, and the best reachable nodes."""

import heapq

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Bools, Floats, Int64s


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
    """The root of the set of every node."""
    found = np.empty_like(parents)
    for k in range(len(parents)):
        found[k] = find_root(parents, k)
    return found


@kernel
def components(nodes: int, first: Int64s, second: Int64s) -> Int64s:
    """For every node the smallest node of its connected component."""
    parents = np.arange(nodes)
    for k in range(len(first)):
        a, b = find_root(parents, first[k]), find_root(parents, second[k])
        parents[max(a, b)] = min(a, b)
    return roots(parents)


@kernel
def adjacency(nodes: int, first: Int64s, second: Int64s, value: Floats) -> tuple[Int64s, Int64s, Floats]:
    """Adjacency lists (offsets, neighbour, value) of edges that are sorted by first, then by second."""
    ends = np.zeros(nodes + 1, np.int64)
    for k in range(len(first)):
        ends[first[k] + 1] += 1
        ends[second[k] + 1] += 1
    ends = np.cumsum(ends)
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
    row[nodes] = np.arange(len(nodes))
    distance = np.ones((len(nodes), len(nodes)))
    for i in range(len(nodes)):
        distance[i, i] = 0.0
        for k in range(offsets[nodes[i]], offsets[nodes[i] + 1]):
            j = row[neighbour[k]]
            if j >= 0:
                distance[i, j] = 1.0 - value[k]
    return distance
