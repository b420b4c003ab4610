"""Precision and recall of clusters."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from links.builders import link_graph_of
from pagekin.links.cluster_quality import assign, evaluate_clusters
from pagekin.links.measures import build_link_sets, build_threshold_graph

# Pages 10 to 12 are cited by 0, 1, 2; pages 13 and 14 by 3 and 4; page 5 cites 12 and 13; nobody cites 15.
LINKS = {(citing, cited): [1] for citing in (0, 1, 2) for cited in (10, 11, 12)}
LINKS |= {(citing, cited): [1] for citing in (3, 4) for cited in (13, 14)}
LINKS |= {(5, 12): [1], (5, 13): [1]}
LABELS = {10: {"a"}, 11: {"a"}, 12: {"a", "b"}, 13: {"b"}, 14: {"a"}, 15: {"b"}}


def test_precision_and_recall_by_hand() -> None:
    """Two clusters, {10, 11, 12} and {13, 14}: a has 3 of 4 in the first, b 1 of 3 in the second; 15 is not there."""
    graph = link_graph_of(LINKS, 16)
    quality = evaluate_clusters(build_threshold_graph(build_link_sets(graph, "co-citation"), len(graph)), LABELS, 0.5)
    assert (quality.core, quality.retrieved, quality.judged) == (6, 5, 5)
    assert quality.recall == pytest.approx(5 / 6)
    found = [(each.category, each.pages, each.precision, each.recall) for each in quality.categories]
    assert found == [("a", 4, 1.0, 3 / 4), ("b", 3, 1 / 2, 1 / 3)]
    assert [quality.precision_mean, quality.recall_mean] == pytest.approx([3 / 4, 13 / 24])


def test_unconnected_pages_are_not_clustered() -> None:
    graph = link_graph_of({(0, 1): [1], (2, 3): [1]}, 6)
    quality = evaluate_clusters(
        build_threshold_graph(build_link_sets(graph, "coupling"), len(graph)), {4: {"a"}, 5: {"b"}}, 0.5
    )
    assert (quality.recall, quality.judged) == (0.0, 0)
    assert [(each.precision, each.recall) for each in quality.categories] == [(0.0, 0.0), (0.0, 0.0)]


def test_a_collapsed_page_belongs_to_the_cluster_of_its_representative() -> None:
    links = {(citing, cited): [1] for citing in range(40) for cited in (50, 51)}
    links |= {(citing, 52): [1] for citing in range(20)}
    link_graph = link_graph_of(links, 53)
    graph = build_threshold_graph(build_link_sets(link_graph, "co-citation"), len(link_graph))
    assert graph.collapsed() == 1
    assert evaluate_clusters(graph, {50: {"a"}, 51: {"a"}, 52: {"b"}}, 0.5).judged == 3


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_an_assignment_has_the_largest_gain_of_all_permutations(gain: list[list[int]]) -> None:
    columns = assign(np.array(gain))
    best = max(sum(gain[row][column] for row, column in enumerate(order)) for order in permutations(range(len(gain))))
    assert sorted(columns) == list(range(len(gain)))
    assert sum(gain[row][column] for row, column in enumerate(columns)) == best
