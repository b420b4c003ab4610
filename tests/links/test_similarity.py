"""Link similarities of one page, and citing pages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.test_similar_pairs import LINKS, NODES
from links.builders import link_graph_of
from pagekin.links.citing_pages import LinkPositions, find_citing_pages
from pagekin.links.measures import build_link_sets
from pagekin.links.similarity import LinkSimilarity
from reference import similar_pairs as reference


@settings(deadline=None, max_examples=150)
@given(links=LINKS, measure=st.sampled_from(["co-citation", "coupling", "amsler"]), node=st.integers(0, NODES - 1))
def test_similarities_of_one_page_equal_those_of_all_pairs(links: reference.Links, measure: str, node: int) -> None:
    nodes, values = LinkSimilarity(build_link_sets(link_graph_of(links, NODES), measure)).similar_to(node)
    all_pairs = reference.pairs_above(links, measure, range(NODES), 0.0, 0.0)
    expected = {a if b == node else b: value for (a, b), value in all_pairs.items() if node in (a, b)}
    assert dict(zip(nodes.tolist(), values.tolist(), strict=True)) == pytest.approx(expected)
    assert (np.diff(values) <= 1e-12).all()


def test_a_node_that_is_not_compared_has_no_similarities() -> None:
    nodes, values = LinkSimilarity(build_link_sets(link_graph_of({(0, 1): [1]}, 2), "amsler")).similar_to(7)
    assert (len(nodes), len(values)) == (0, 0)


PLACES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 40)), max_size=12)


def packed(*nodes: list[tuple[int, int]]) -> LinkPositions:
    rows = [row for row, places in enumerate(nodes) for _ in places]
    places = [page << 32 | word for places in nodes for page, word in places]
    return LinkPositions(np.array(rows, np.int64), np.array(places, np.int64))


@settings(deadline=None, max_examples=200)
@given(PLACES, st.lists(PLACES, max_size=4), st.integers(1, 6))
def test_citing_pages_come_with_the_least_distance_closest_first(
    one: list[tuple[int, int]], others: list[list[tuple[int, int]]], most: int
) -> None:
    expected = []
    for other in others:
        closest: dict[int, int] = {}
        for page, word in one:
            for same, there in other:
                if page == same:
                    closest[page] = min(closest.get(page, 99), abs(word - there))
        expected.append(sorted(closest.items(), key=lambda item: (item[1], item[0]))[:most])
    assert find_citing_pages(packed(one), packed(*others), len(others), most) == expected


def test_the_end_of_a_page_is_not_close_to_the_beginning_of_the_next() -> None:
    assert find_citing_pages(packed([(1, 2**32 - 1)]), packed([(2, 0)]), 1, 5) == [[]]
