"""Graphs as lists of edges: their connected parts, who is beside whom, and who can be reached best."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined
from pagekin.model.arrays import Floats, Int64s


@inlined
def root(parent: Int64s, node: int) -> int:
    """The node that stands for the set of a node; halves the way for those who ask later."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def components(nodes: int, first: Int64s, second: Int64s) -> Int64s:
    """For every node the smallest of those that edges connect it with, by disjoint sets."""
    parent = np.arange(nodes)
    for k in range(len(first)):
        a, b = root(parent, first[k]), root(parent, second[k])
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    for node in range(nodes):
        parent[node] = root(parent, node)
    return parent


@kernel
def adjacency(nodes: int, first: Int64s, second: Int64s, value: Floats) -> tuple[Int64s, Int64s, Floats]:
    """(offsets, neighbour, value) of the edges of every node, for edges that are sorted by first, then by second."""
    ends = np.zeros(nodes + 1, np.int64)
    for k in range(len(first)):
        ends[first[k] + 1] += 1
        ends[second[k] + 1] += 1
    ends = np.cumsum(ends)
    offsets = ends.copy()
    neighbour, beside = np.empty(2 * len(first), np.int64), np.empty(2 * len(first))
    for k in range(len(first)):
        for a, b in ((first[k], second[k]), (second[k], first[k])):
            neighbour[ends[a]], beside[ends[a]] = b, value[k]
            ends[a] += 1
    return offsets, neighbour, beside


@kernel
def reached(offsets: Int64s, neighbour: Int64s, value: Floats, start: int, most: int) -> Int64s:
    """The `most` nodes that can be reached best from `start`, itself included, the best first; of equals the first.

    A way is as good as the product of the values along it, which are below 1.
    """
    settled = np.zeros(len(offsets) - 1, np.bool_)
    best = np.zeros(len(offsets) - 1)
    found = np.empty(min(most, len(settled)), np.int64)
    n = 0
    waiting = [(-1.0, start)]
    while len(waiting) > 0 and n < len(found):
        good, node = heapq.heappop(waiting)
        if settled[node]:
            continue
        settled[node] = True
        found[n] = node
        n += 1
        for k in range(offsets[node], offsets[node + 1]):
            further = -good * value[k]
            if not settled[neighbour[k]] and further > best[neighbour[k]]:
                best[neighbour[k]] = further
                heapq.heappush(waiting, (-further, neighbour[k]))
    return found[:n]


@kernel
def distances(offsets: Int64s, neighbour: Int64s, value: Floats, nodes: Int64s) -> NDArray[np.float64]:
    """1 - value between any two of some nodes; 1 where there is no edge, 0 from each to itself."""
    place = np.full(len(offsets) - 1, -1)
    place[nodes] = np.arange(len(nodes))
    distance = np.ones((len(nodes), len(nodes)))
    for i in range(len(nodes)):
        distance[i, i] = 0.0
        for k in range(offsets[nodes[i]], offsets[nodes[i] + 1]):
            j = place[neighbour[k]]
            if j >= 0:
                distance[i, j] = 1.0 - value[k]
    return distance
