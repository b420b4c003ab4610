"""Trees and neighbourhoods as drawings, by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pagekin.links.hierarchy import build_hierarchy
from pagekin.serving.views.clusters import drawn
from pagekin.serving.views.collection import doublings
from pagekin.serving.views.compare import Signatures
from pagekin.serving.views.graph import HEIGHT, WIDTH, Graph, laid_out
from pagekin.serving.views.page_names import PageRef


def pages(count: int) -> list[PageRef]:
    return [PageRef(k, f"{k:016x}", f"http://a.example/{k}", f"Page {k}", "a.example") for k in range(count)]


def test_a_fork_stands_at_the_height_of_its_merge() -> None:
    """Pages 0 and 1 merge at 0.2, page 2 joins them at (0.9 + 0.7) / 2 = 0.8."""
    distance = np.array([[0, 0.2, 0.9], [0.2, 0, 0.7], [0.9, 0.7, 0]])
    tree = drawn(build_hierarchy(distance, 0.5), pages(3), ["a", "b", "c"])
    first, second = tree.forks
    assert (first.pages, second.pages) == (2, 3)
    assert [first.height, second.height] == pytest.approx([0.2, 0.8])
    zero = next(x for x, label in tree.ticks if label == "0")
    unit = (zero - next(x for x, label in tree.ticks if label == "0.8")) / 0.8
    heights = [float(re.search(r"H([\d.]+)V", fork.path)[1]) for fork in tree.forks]  # type: ignore[index]
    assert heights == [pytest.approx(zero - 0.2 * unit, abs=0.1), pytest.approx(zero - 0.8 * unit, abs=0.1)]


def test_leaves_stand_below_each_other_and_the_asked_one_is_marked() -> None:
    distance = np.array([[0, 0.9, 0.1], [0.9, 0, 0.8], [0.1, 0.8, 0]])
    tree = drawn(build_hierarchy(distance, 0.5), pages(3), ["", "", ""])
    assert np.diff([leaf.y for leaf in tree.leaves]).tolist() == [26.0, 26.0]
    assert [leaf.page.node for leaf in tree.leaves if leaf.own] == [0]
    order = [leaf.page.node for leaf in tree.leaves]
    assert abs(order.index(0) - order.index(2)) == 1  # what merges first stands side by side


def neighbourhood(others: int, seed: int = 1) -> Graph:
    random = np.random.default_rng(seed)
    similar = random.uniform(0.05, 0.9, (others + 1, others + 1))
    similar = (similar + similar.T) / 2
    np.fill_diagonal(similar, 1.0)
    return laid_out(pages(others + 1), similar, "words")


@pytest.mark.parametrize("others", [0, 1, 2, 3, 7, 14])
def test_names_around_a_page_have_room(others: int) -> None:
    graph = neighbourhood(others)
    assert (graph.spots[0].x, graph.spots[0].y) == (WIDTH / 2, HEIGHT / 2)
    assert len(graph.spots) == others + 1
    assert all(0 < spot.y < HEIGHT for spot in graph.spots)
    for side in ("start", "end"):
        heights = sorted(spot.y for spot in graph.spots if spot.side == side)
        assert all(gap >= 23.9 for gap in np.diff(heights))


def test_every_page_around_has_an_edge_to_the_middle_and_few_to_others() -> None:
    graph = neighbourhood(14)
    assert sum(edge.own for edge in graph.edges) == 14
    assert sum(not edge.own for edge in graph.edges) <= 3 * 14


def test_the_error_of_a_signature_is_that_of_so_many_throws() -> None:
    """Of 100 places each agrees with probability 0.2: sqrt(0.2 * 0.8 / 100) = 0.04."""
    signatures = Signatures(25, 100, 0.2)
    assert signatures.estimate == 0.25
    assert signatures.error == pytest.approx(0.04)
    assert Signatures(80, 80, 1.000000002).error == 0.0


def test_degrees_are_counted_by_doublings() -> None:
    bars = doublings(np.array([0, 0, 1, 2, 3, 4, 7, 8, 5000]))
    assert [(bar.label, bar.count) for bar in bars[:5]] == [("0", 2), ("1", 1), ("2–", 2), ("4–", 2), ("8–", 1)]
    assert (bars[-1].label, bars[-1].count, bars[-1].share) == ("4k–", 1, 0.5)
    assert doublings(np.array([], np.int64))[0].count == 0
