"""Orderings of a subgraph, and cross-topic pages."""

from __future__ import annotations

import numpy as np

from links.test_hierarchy import FIGURE_2, A, B, D
from pagekin.links.clusters import Clusters
from pagekin.links.threshold_graph import Subgraph

NODES = np.array([10, 20, 30, 40])
CLUSTERS = Clusters(Subgraph(NODES, FIGURE_2, 4), 20)


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


def test_positions_that_change_between_two_alphas_are_listed() -> None:
    # a and b 0.5, c and d 0.5, all else 1 but b and c 0.9.
    distance = np.ones((5, 5)) - np.eye(5)
    for i, j, apart in ((0, 1, 0.5), (2, 3, 0.5), (1, 2, 0.9), (1, 4, 0.8)):
        distance[i, j] = distance[j, i] = apart
    clusters = Clusters(Subgraph(np.arange(5), distance, 5), 0)
    low, high = clusters.order(0.02), clusters.order(1.0)
    moved = clusters.changed_positions(0.02, 1.0, 5)
    expected = {node for k, (node, _) in enumerate(low) if node != high[k][0]}
    assert {node for node, *_ in moved} == expected
    assert clusters.changed_positions(0.5, 0.5, 5) == []


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
