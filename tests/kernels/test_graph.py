"""Connected parts, neighbours and best ways."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pagekin.kernels.graph import (
    adjacency,
    best_reachable,
    components,
    degrees,
    distance_matrix,
    in_links,
    merge_flexibly,
)
from pagekin.model.arrays import Floats, Int64s
from reference import flexible_clustering
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


@given(EDGES)
def test_components_are_those_of_the_reference(edges: reference.Edges) -> None:
    first, second, _ = columns(edges)
    assert components(NODES, first, second).tolist() == reference.components(NODES, edges)


@given(EDGES)
def test_neighbours_are_those_of_the_reference(edges: reference.Edges) -> None:
    offsets, neighbour, value = adjacency(NODES, *columns(edges))
    rows = [slice(offsets[node], offsets[node + 1]) for node in range(NODES)]
    found = [list(zip(neighbour[row].tolist(), value[row].tolist(), strict=True)) for row in rows]
    assert found == reference.beside(NODES, edges)


@given(EDGES, st.integers(0, NODES - 1), st.integers(1, NODES + 1))
def test_the_best_reached_are_those_of_the_reference(edges: reference.Edges, start: int, most: int) -> None:
    found = best_reachable(*adjacency(NODES, *columns(edges)), start, most)
    assert found.tolist() == reference.reached(NODES, edges, start, most)


@given(EDGES, st.sets(st.integers(0, NODES - 1), min_size=1))
def test_distances_are_those_of_the_reference(edges: reference.Edges, some: set[int]) -> None:
    found = distance_matrix(*adjacency(NODES, *columns(edges)), np.array(sorted(some)))
    assert found.tolist() == reference.distances(sorted(some), edges)


@st.composite
def webs(draw: st.DrawFn) -> reference.Web:
    """A few pages, neighbours of which may be one node, and nodes beyond them; some targets have no node."""
    node_of_page = np.cumsum([0, *draw(st.lists(st.integers(0, 1), max_size=6))]).tolist()
    nodes = node_of_page[-1] + 1 + draw(st.integers(0, 3))
    node_of_target = draw(st.lists(st.integers(0, nodes - 1), max_size=8))
    anchor = st.tuples(st.integers(0, len(node_of_target)) | st.just(0xFFFFFFFF), st.sampled_from([0, 1, 2, 3]))
    count = len(node_of_page)
    anchors = draw(st.lists(st.lists(anchor, max_size=6), min_size=count, max_size=count))
    refusing = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    return reference.Web(anchors, node_of_target, node_of_page, nodes, draw(st.sampled_from([0, 2])), refusing)


def sorted_links(web: reference.Web) -> tuple[list[list[tuple[int, int]]], tuple[list[int], list[int]]]:
    table = np.array([anchor for anchors in web.anchors for anchor in anchors], np.int64).reshape(-1, 2)
    node_of_page = np.array(web.node_of_page, np.uint32)
    offsets, page, anchor = in_links(
        np.cumsum([0, *map(len, web.anchors)]),
        table[:, 0].astype(np.uint32),
        table[:, 1].astype(np.uint8),
        np.array(web.node_of_target, np.uint32),
        node_of_page,
        web.nodes,
        web.refused,
        np.array(web.refusing, np.bool_),
    )
    assert len(offsets) == web.nodes + 1
    assert offsets[-1] == len(page) == len(anchor)
    pairs = list(zip(page.tolist(), anchor.tolist(), strict=True))
    rows = [pairs[offsets[k] : offsets[k + 1]] for k in range(web.nodes)]
    incoming, outgoing = degrees(offsets, page, node_of_page)
    return rows, (incoming.tolist(), outgoing.tolist())


def test_links_stand_by_the_node_that_they_lead_to() -> None:
    """Page 0 links to page 1 twice and to an outside node; page 1 links to page 0, to itself and nowhere."""
    web = reference.Web([[(1, 0), (2, 0), (1, 0)], [(0, 0), (1, 0), (9, 0)]], [0, 1, 2], [0, 1], 3, 0, [False, False])
    rows, (incoming, outgoing) = sorted_links(web)
    assert rows == [[(1, 0)], [(0, 0), (0, 2)], [(0, 1)]]
    assert (incoming, outgoing) == ([1, 1, 1], [2, 1, 0])


@given(webs())
def test_links_and_degrees_are_those_of_the_reference(web: reference.Web) -> None:
    assert sorted_links(web) == (reference.in_links(web), reference.degrees(web))


# --- flexible clustering ---------------------------------------------------------------------------------

ALPHAS = st.one_of(st.sampled_from([0.02, 0.06, 0.25, 0.5, 0.8, 1.0]), st.floats(1e-6, 1.0))
# Few values, so that many pairs are equally near; most pages of a neighbourhood graph are 1 apart.
APART = st.one_of(st.just(1.0), st.sampled_from([0.1, 0.25, 0.5, 0.75]), st.floats(0.0, 1.0))


@st.composite
def matrices(draw: st.DrawFn, most: int = 12) -> NDArray[np.float64]:
    n = draw(st.integers(1, most))
    distance = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            distance[i, j] = distance[j, i] = draw(APART)
    return distance


@given(matrices(), ALPHAS)
def test_merges_are_those_of_the_reference_bit_for_bit(distance: NDArray[np.float64], alpha: float) -> None:
    merges, heights = merge_flexibly(distance, alpha, np.empty_like(distance))
    expected = flexible_clustering.merge_flexibly(distance.tolist(), alpha)
    assert [(a, b, h) for (a, b), h in zip(merges.tolist(), heights.tolist(), strict=True)] == expected


@pytest.mark.parametrize("alpha", [0.02, 0.06, 0.25, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("crowded", [False, True])
def test_larger_matrices_are_merged_as_by_the_reference(alpha: float, crowded: bool) -> None:
    random = np.random.default_rng(7)
    distance = random.random((60, 60))
    if crowded:
        distance = np.ceil(distance * 4) / 4
    distance = np.minimum(distance, distance.T)
    np.fill_diagonal(distance, 0.0)
    merges, heights = merge_flexibly(distance, alpha, np.empty_like(distance))
    expected = flexible_clustering.merge_flexibly(distance.tolist(), alpha)
    assert [(a, b, h) for (a, b), h in zip(merges.tolist(), heights.tolist(), strict=True)] == expected


@given(matrices(20), ALPHAS)
def test_heights_never_fall_and_are_numbers(distance: NDArray[np.float64], alpha: float) -> None:
    heights = merge_flexibly(distance, alpha, np.empty_like(distance))[1]
    assert np.isfinite(heights).all()
    assert (np.diff(heights) >= 0).all()
