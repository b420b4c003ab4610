"""Link similarities of one page; the threshold graph and its subgraphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.test_similar_pairs import LINKS, NODES
from links.builders import link_graph_of
from pagekin.errors import MisuseError
from pagekin.links.measures import ThresholdGraph, build_link_sets, build_threshold_graph
from reference import similar_pairs as reference


@given(links=LINKS, measure=st.sampled_from(["co-citation", "coupling", "amsler"]), node=st.integers(0, NODES - 1))
def test_similarities_of_one_page_equal_those_of_all_pairs(links: reference.Links, measure: str, node: int) -> None:
    nodes, values = build_link_sets(link_graph_of(links, NODES), measure).similar_to(node)
    all_pairs = reference.pairs_above(links, measure, range(NODES), 0.0, 0.0)
    expected = {a if b == node else b: value for (a, b), value in all_pairs.items() if node in (a, b)}
    assert dict(zip(nodes.tolist(), values.tolist(), strict=True)) == pytest.approx(expected)
    assert (np.diff(values) <= 1e-12).all()


def test_a_node_that_is_not_compared_has_no_similarities() -> None:
    nodes, values = build_link_sets(link_graph_of({(0, 1): [1]}, 2), "amsler").similar_to(7)
    assert (len(nodes), len(values)) == (0, 0)


# Pages 10 to 12 are cited by 0, 1 and 2; 13 by 2 and 3; 20 and 21 by 4.
GRAPH = {(citing, cited): [1] for citing in (0, 1, 2) for cited in (10, 11, 12)}
GRAPH |= {(2, 13): [1], (3, 13): [1], (4, 20): [1], (4, 21): [1]}


def graph_of(links: dict[tuple[int, int], list[int]], nodes: int, delta: float | None = None) -> ThresholdGraph:
    graph = link_graph_of(links, nodes)
    return build_threshold_graph(build_link_sets(graph, "co-citation"), len(graph), delta)


def test_subgraphs_are_connected_components() -> None:
    graph = graph_of(GRAPH, 22, 0.2)
    # 10 to 12: three in common of five. 20 and 21: one of three. 13 and 10: one of six. Direct: 0 and 10 one of four...
    sizes = sorted(graph.subgraph_sizes().tolist())
    assert graph.component[20] == graph.component[21] == graph.component[4]
    assert graph.component[10] == graph.component[11] != graph.component[20]
    assert sum(sizes) == 11  # 22 nodes, of which 5 to 9 and 14 to 19 are alone


def test_by_default_the_threshold_is_a_tenth_of_the_mean() -> None:
    mean = graph_of(GRAPH, 22, 0.0).pairs.value.mean()
    assert graph_of(GRAPH, 22).delta == pytest.approx(0.1 * mean)


def test_distance_is_one_minus_similarity_and_one_below_the_threshold() -> None:
    subgraph = graph_of(GRAPH, 22, 0.2).subgraph(10)
    place = {node: k for k, node in enumerate(subgraph.nodes.tolist())}
    assert subgraph.distance[place[10], place[11]] == pytest.approx(1 - 3 / 5)
    assert subgraph.distance[place[10], place[0]] == pytest.approx(1 - 1 / 4)  # a link, of 0, 1, 2 and 10
    assert subgraph.distance[place[0], place[1]] == 1.0
    assert (np.diag(subgraph.distance) == 0).all()
    assert (subgraph.distance == subgraph.distance.T).all()


def test_near_identical_pages_are_collapsed_and_listed() -> None:
    """40 pages cite both 50 and 51: 40 of 42 is above .95. 52 has 20 of them in common."""
    links = {(citing, cited): [1] for citing in range(40) for cited in (50, 51)}
    links |= {(citing, 52): [1] for citing in range(20)}
    graph = graph_of(links, 53, 0.4)
    assert graph.collapsed() == 1
    assert (graph.representative[51], graph.near_identical(50), graph.near_identical(51)) == (50, [51], [50])
    assert 51 not in graph.subgraph(50).nodes
    assert graph.subgraph(51).nodes.tolist() == graph.subgraph(50).nodes.tolist() == [50, 52]
    assert {(50, 51), (50, 52), (51, 52)} <= set(zip(graph.pairs.first, graph.pairs.second, strict=True))


def test_a_large_subgraph_is_limited_to_the_nearest_pages() -> None:
    graph = graph_of(GRAPH, 22, 0.0)
    whole, cut = graph.subgraph(10), graph.subgraph(10, limit=3)
    assert (len(whole.nodes), whole.total) == (whole.total, whole.total)
    assert (cut.nodes.tolist(), cut.total) == ([10, 11, 12], whole.total)


def test_a_page_without_links_is_a_subgraph_of_one() -> None:
    subgraph = graph_of(GRAPH, 22).subgraph(15)
    assert (subgraph.nodes.tolist(), subgraph.distance.tolist(), subgraph.total) == ([15], [[0.0]], 1)


def test_a_threshold_out_of_range_is_misuse() -> None:
    with pytest.raises(MisuseError, match=r"delta is 1\.5"):
        graph_of(GRAPH, 22, 1.5)
