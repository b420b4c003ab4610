"""Hierarchies, orderings and cuts; orderings of a subgraph, and cross-topic pages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels.test_graph import ALPHAS, matrices
from pagekin.errors import MisuseError
from pagekin.links.clusters import Clusters, Hierarchy, build_hierarchy
from pagekin.links.measures import Subgraph

A, B, C, D = range(4)
# Figure 2 of the paper: sim(a, b) = .5, sim(a, c) = .4, sim(a, d) = .3, sim(b, d) = .2, no other.
FIGURE_2 = np.array([[0.0, 0.5, 0.6, 0.7], [0.5, 0.0, 1.0, 0.8], [0.6, 1.0, 0.0, 1.0], [0.7, 0.8, 1.0, 0.0]])
NODES = np.array([10, 20, 30, 40])
CLUSTERS = Clusters(Subgraph(NODES, FIGURE_2, 4), 20)


def test_formula_5_by_hand() -> None:
    """At alpha = .5 c is .5 x .6 + .5 x 1 = .8 and d .5 x .7 + .5 x .8 = .75 from {a, b}; then c .5 x .8 + .5 x 1."""
    hierarchy = build_hierarchy(FIGURE_2, 0.5)
    assert hierarchy.merges.tolist() == [[A, B], [4, D], [5, C]]
    assert hierarchy.heights.tolist() == pytest.approx([0.5, 0.75, 0.9])
    assert hierarchy.order(B).tolist() == [A, D, C]
    # |.5 - .75| + |.75 - .75| for d; |.5 - .9| + |.9 - .9| for c.
    assert hierarchy.distances(B).tolist() == pytest.approx([0.0, 0.0, 0.4, 0.25])


def test_formula_5_by_hand_where_the_paper_says_otherwise() -> None:
    """At alpha = .02 the paper merges c before d. But d is .02 x .7 + .02 x .8 + .96 x .5 = .510 from {a, b}, and c
    .02 x .6 + .02 x 1 + .96 x .5 = .512; then c is .02 x .512 + .02 x 1 + .96 x .51 from the three.
    """
    hierarchy = build_hierarchy(FIGURE_2, 0.02)
    assert hierarchy.heights.tolist() == pytest.approx([0.5, 0.51, 0.51984])
    assert hierarchy.order(B).tolist() == [A, D, C]


def test_pages_without_common_links_are_related_through_others() -> None:
    """b and c are 1 apart, and come together through a."""
    three = build_hierarchy(FIGURE_2[:3, :3], 0.5)
    assert three.distances(B)[C] == pytest.approx(0.3)


def test_distance_may_exceed_one_where_alpha_exceeds_one_half() -> None:
    # c is .6 + 1 - .5 = 1.1 and d .7 + .8 - .5 = 1.0 from {a, b}; c is 1.1 + 1 - 1 = 1.1 from the three.
    assert build_hierarchy(FIGURE_2, 1.0).heights.tolist() == pytest.approx([0.5, 1.0, 1.1])


def test_pages_that_are_equally_near_are_ordered_by_their_number() -> None:
    ones = np.ones((4, 4)) - np.eye(4)
    assert build_hierarchy(ones, 0.25).order(2).tolist() == [0, 1, 3]


def test_one_page_alone_is_a_hierarchy() -> None:
    alone = build_hierarchy(np.zeros((1, 1)), 0.5)
    assert (len(alone), alone.order(0).tolist(), alone.cut(1).tolist(), alone.leaves.tolist()) == (1, [], [0], [0])


@pytest.mark.parametrize("alpha", [0.0, -0.5, 1.01, float("nan"), float("inf")])
def test_an_alpha_out_of_range_is_misuse(alpha: float) -> None:
    with pytest.raises(MisuseError, match="alpha is"):
        build_hierarchy(FIGURE_2, alpha)


def test_cuts_by_number() -> None:
    hierarchy = build_hierarchy(FIGURE_2, 0.5)
    assert hierarchy.cut(1).tolist() == [0, 0, 0, 0]
    assert hierarchy.cut(2).tolist() == [0, 0, 1, 0]
    assert hierarchy.cut(3).tolist() == [0, 0, 1, 2]
    assert hierarchy.cut(4).tolist() == [0, 1, 2, 3]
    for wrong in (0, 5):
        with pytest.raises(MisuseError, match="clusters is"):
            hierarchy.cut(wrong)


def members(hierarchy: Hierarchy) -> list[set[int]]:
    """The leaves of every cluster, by following the merges."""
    clusters = [{leaf} for leaf in range(len(hierarchy))]
    for a, b in hierarchy.merges.tolist():
        clusters.append(clusters[a] | clusters[b])
    return clusters


@given(matrices(), ALPHAS, st.data())
def test_estimated_distances_are_those_of_table_1(
    distance: NDArray[np.float64], alpha: float, data: st.DataObject
) -> None:
    hierarchy = build_hierarchy(distance, alpha)
    n, clusters = len(hierarchy), members(hierarchy)
    ip = data.draw(st.integers(0, n - 1))

    def first(leaf: int) -> float:
        return float(hierarchy.heights[[leaf in pair for pair in hierarchy.merges.tolist()].index(True)])

    for cp in range(n):
        if cp != ip:
            joint = next(hierarchy.heights[k] for k in range(n - 1) if {ip, cp} <= clusters[n + k])
            expected = abs(first(ip) - joint) + abs(first(cp) - joint)
            assert hierarchy.distances(ip)[cp] == pytest.approx(expected)


@given(matrices(), ALPHAS)
def test_every_cluster_is_contiguous_among_the_leaves(distance: NDArray[np.float64], alpha: float) -> None:
    hierarchy = build_hierarchy(distance, alpha)
    place = {leaf: k for k, leaf in enumerate(hierarchy.leaves.tolist())}
    assert sorted(place) == list(range(len(hierarchy)))
    for cluster in members(hierarchy):
        places = sorted(place[leaf] for leaf in cluster)
        assert places == list(range(places[0], places[0] + len(places)))


@given(matrices(), ALPHAS)
def test_a_cut_into_k_has_k_clusters_and_the_next_one_splits_one_of_them(
    distance: NDArray[np.float64], alpha: float
) -> None:
    hierarchy = build_hierarchy(distance, alpha)
    before = hierarchy.cut(1)
    for k in range(2, len(hierarchy) + 1):
        after = hierarchy.cut(k)
        assert len(set(after.tolist())) == k
        assert all(len(set(before[after == part].tolist())) == 1 for part in range(k))
        before = after


def test_the_ordering_follows_alpha() -> None:
    """b, c at 1 and a alike: with d moved to the far side of c the second place changes hands."""
    distance = FIGURE_2.copy()
    distance[A, D] = distance[D, A] = 1.0
    distance[B, D] = distance[D, B] = 0.55
    # At .5: d is .5 x 1 + .5 x .55 = .775 and c .8 from {a, b}. At 1: d is 1 + .55 - .5 = 1.05, c .6 + 1 - .5 = 1.1.
    clusters = Clusters(Subgraph(NODES, distance, 4), 10)
    assert [node for node, _ in clusters.order(0.5)] == [20, 40, 30]
    assert clusters.order_by_similarity() == [20, 30]
    assert clusters.positions((0.5,), 3) == {20: [1, 1], 30: [2, 3], 40: [None, 2]}


def test_the_ordering_at_an_alpha_is_the_same_when_asked_again() -> None:
    first = CLUSTERS.order(0.3)
    CLUSTERS.order(0.9)
    assert CLUSTERS.order(0.3) == first
    assert (CLUSTERS.subgraph.distance == FIGURE_2).all()


def test_a_cross_topic_page_has_the_distance_times_the_smaller_similarity_as_strength() -> None:
    # a is similar to b (.5), c (.4) and d (.3). At .5: c and d 2 x .9 - .75 - .9 = .15, times .3; b and c
    # 2 x .9 - .5 - .9 = .4, times .4; b and d 2 x .75 - .5 - .75 = .25, times .3.
    found = Clusters(Subgraph(NODES, FIGURE_2, 4), 10).cross_topic(0.5)
    assert found is not None
    assert (found.node, {found.one, found.other}) == (10, {20, 30})
    assert (round(found.distance, 12), round(found.strength, 12)) == (0.4, 0.16)
    assert CLUSTERS.cross_topic(0.5, neighbours=1) is None
