"""Link similarities of one page."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.test_similar_pairs import LINKS, NODES
from links.builders import link_graph_of
from pagekin.links.measures import LinkSimilarity, build_link_sets
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
