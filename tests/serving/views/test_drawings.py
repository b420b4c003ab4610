"""Dendrograms and neighbourhoods, compared with hand calculations."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pagekin.links.clusters import build_hierarchy
from pagekin.serving.views.collection import histogram_of_degrees
from pagekin.serving.views.drawings import HEIGHT, WIDTH, Graph, draw_dendrogram, draw_graph
from pagekin.serving.views.names import PageRef
from pagekin.serving.views.page import SignatureAgreement


def pages(count: int) -> list[PageRef]:
    return [PageRef(k, f"{k:016x}", f"http://a.example/{k}", f"Page {k}") for k in range(count)]


def test_a_merge_is_drawn_at_its_height() -> None:
    """Pages 0 and 1 merge at 0.2, page 2 joins them at (0.9 + 0.7) / 2 = 0.8."""
    distance = np.array([[0, 0.2, 0.9], [0.2, 0, 0.7], [0.9, 0.7, 0]])
    tree = draw_dendrogram(build_hierarchy(distance, 0.5), pages(3), ["a", "b", "c"])
    first, second = tree.merges
    assert (first.pages, second.pages) == (2, 3)
    assert [first.height, second.height] == pytest.approx([0.2, 0.8])
    zero = next(x for x, label in tree.ticks if label == "0")
    unit = (zero - next(x for x, label in tree.ticks if label == "0.8")) / 0.8
    heights = [float(re.search(r"H([\d.]+)V", merge.path)[1]) for merge in tree.merges]  # type: ignore[index]
    assert heights == [pytest.approx(zero - 0.2 * unit, abs=0.1), pytest.approx(zero - 0.8 * unit, abs=0.1)]


def test_leaves_are_evenly_spaced_and_the_query_is_marked() -> None:
    distance = np.array([[0, 0.9, 0.1], [0.9, 0, 0.8], [0.1, 0.8, 0]])
    tree = draw_dendrogram(build_hierarchy(distance, 0.5), pages(3), ["", "", ""])
    assert np.diff([leaf.y for leaf in tree.leaves]).tolist() == [26.0, 26.0]
    assert [leaf.page.node for leaf in tree.leaves if leaf.own] == [0]
    order = [leaf.page.node for leaf in tree.leaves]
    assert abs(order.index(0) - order.index(2)) == 1  # what merges first stands side by side


def neighbourhood(others: int, seed: int = 1) -> Graph:
    random = np.random.default_rng(seed)
    similar = random.uniform(0.05, 0.9, (others + 1, others + 1))
    similar = (similar + similar.T) / 2
    np.fill_diagonal(similar, 1.0)
    return draw_graph(pages(others + 1), similar, "words")


@pytest.mark.parametrize("others", [0, 1, 2, 3, 7, 14])
def test_labels_do_not_overlap(others: int) -> None:
    graph = neighbourhood(others)
    assert (graph.nodes[0].x, graph.nodes[0].y) == (WIDTH / 2, HEIGHT / 2)
    assert len(graph.nodes) == others + 1
    assert all(0 < node.y < HEIGHT for node in graph.nodes)
    for side in ("start", "end"):
        heights = sorted(node.y for node in graph.nodes if node.anchor == side)
        assert all(gap >= 23.9 for gap in np.diff(heights))


def test_every_page_around_has_an_edge_to_the_middle_and_few_to_others() -> None:
    graph = neighbourhood(14)
    assert sum(edge.own for edge in graph.edges) == 14
    assert sum(not edge.own for edge in graph.edges) <= 3 * 14


def test_the_error_of_a_signature_is_that_of_a_binomial() -> None:
    """Of 100 places each agrees with probability 0.2: sqrt(0.2 * 0.8 / 100) = 0.04."""
    signatures = SignatureAgreement(25, 100, 0.2)
    assert signatures.estimate == 0.25
    assert signatures.error == pytest.approx(0.04)
    assert SignatureAgreement(80, 80, 1.000000002).error == 0.0


def test_degrees_are_counted_by_histogram_of_degrees() -> None:
    bars = histogram_of_degrees(np.array([0, 0, 1, 2, 3, 4, 7, 8, 5000]))
    assert [(bar.label, bar.count) for bar in bars[:5]] == [("0", 2), ("1", 1), ("2–", 2), ("4–", 2), ("8–", 1)]
    assert (bars[-1].label, bars[-1].count, bars[-1].share) == ("4k–", 1, 0.5)
    assert histogram_of_degrees(np.array([], np.int64))[0].count == 0
