"""Connected parts, neighbours and best ways."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.graph import adjacency, best_reachable, components, distance_matrix
from pagekin.model.arrays import Floats, Int64s
from reference import graph as reference

NODES = 7
# Powers of one half, whose products are exact.
EDGES = st.dictionaries(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda pair: pair[0] < pair[1]),
    st.sampled_from([0.5, 0.25, 0.125]),
    max_size=12,
)


def columns(edges: reference.Edges) -> tuple[Int64s, Int64s, Floats]:
    pairs = np.array(sorted(edges), np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy(), np.array([edges[pair] for pair in sorted(edges)], np.float64)


@settings(deadline=None, max_examples=200)
@given(EDGES)
def test_components_are_those_of_the_reference(edges: reference.Edges) -> None:
    first, second, _ = columns(edges)
    assert components(NODES, first, second).tolist() == reference.components(NODES, edges)


@settings(deadline=None, max_examples=200)
@given(EDGES)
def test_neighbours_are_those_of_the_reference(edges: reference.Edges) -> None:
    offsets, neighbour, value = adjacency(NODES, *columns(edges))
    rows = [slice(offsets[node], offsets[node + 1]) for node in range(NODES)]
    found = [list(zip(neighbour[row].tolist(), value[row].tolist(), strict=True)) for row in rows]
    assert found == reference.beside(NODES, edges)


@settings(deadline=None, max_examples=200)
@given(EDGES, st.integers(0, NODES - 1), st.integers(1, NODES + 1))
def test_the_best_reached_are_those_of_the_reference(edges: reference.Edges, start: int, most: int) -> None:
    found = best_reachable(*adjacency(NODES, *columns(edges)), start, most)
    assert found.tolist() == reference.reached(NODES, edges, start, most)


@settings(deadline=None, max_examples=100)
@given(EDGES, st.sets(st.integers(0, NODES - 1), min_size=1))
def test_distances_are_those_of_the_reference(edges: reference.Edges, some: set[int]) -> None:
    found = distance_matrix(*adjacency(NODES, *columns(edges)), np.array(sorted(some)))
    assert found.tolist() == reference.distances(sorted(some), edges)
