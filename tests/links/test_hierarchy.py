"""Hierarchies, orderings and cuts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels.test_graph import ALPHAS, matrices
from pagekin.errors import MisuseError
from pagekin.links.hierarchy import Hierarchy, build_hierarchy

A, B, C, D = range(4)
# Figure 2 of the paper: sim(a, b) = .5, sim(a, c) = .4, sim(a, d) = .3, sim(b, d) = .2, no other.
FIGURE_2 = np.array([[0.0, 0.5, 0.6, 0.7], [0.5, 0.0, 1.0, 0.8], [0.6, 1.0, 0.0, 1.0], [0.7, 0.8, 1.0, 0.0]])


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


def test_cuts_by_number_and_by_height() -> None:
    hierarchy = build_hierarchy(FIGURE_2, 0.5)
    assert hierarchy.cut(1).tolist() == [0, 0, 0, 0]
    assert hierarchy.cut(2).tolist() == [0, 0, 1, 0]
    assert hierarchy.cut(3).tolist() == [0, 0, 1, 2]
    assert hierarchy.cut(4).tolist() == [0, 1, 2, 3]
    assert hierarchy.cut_at(0.4).tolist() == [0, 1, 2, 3]
    assert hierarchy.cut_at(0.8).tolist() == [0, 0, 1, 0]
    for wrong in (0, 5):
        with pytest.raises(MisuseError, match="clusters is"):
            hierarchy.cut(wrong)


def members(hierarchy: Hierarchy) -> list[set[int]]:
    """The leaves of every cluster, by following the merges."""
    clusters = [{leaf} for leaf in range(len(hierarchy))]
    for a, b in hierarchy.merges.tolist():
        clusters.append(clusters[a] | clusters[b])
    return clusters


@settings(deadline=None, max_examples=150)
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


@settings(deadline=None, max_examples=150)
@given(matrices(), ALPHAS)
def test_every_cluster_is_contiguous_among_the_leaves(distance: NDArray[np.float64], alpha: float) -> None:
    hierarchy = build_hierarchy(distance, alpha)
    place = {leaf: k for k, leaf in enumerate(hierarchy.leaves.tolist())}
    assert sorted(place) == list(range(len(hierarchy)))
    for cluster in members(hierarchy):
        places = sorted(place[leaf] for leaf in cluster)
        assert places == list(range(places[0], places[0] + len(places)))


@settings(deadline=None, max_examples=100)
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
