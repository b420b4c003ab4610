"""All pairs above a threshold, as equation 4 has it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from links.builders import link_graph_of
from pagekin.links import measures
from pagekin.links.measures import HALF_DISTANCE, build_link_sets
from pagekin.links.settings import MEASURES
from reference import similar_pairs as reference

NODES = 8
LINKS = st.dictionaries(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)).filter(lambda pair: pair[0] != pair[1]),
    st.lists(st.integers(0, 300), min_size=1, max_size=3).map(sorted),
    max_size=30,
)


def test_similarity_by_hand() -> None:
    """3 and 4 are cited by 0, 1 and 2; 3 links to 4; 5 is cited by 0 alone, and cites 4."""
    links = {(0, 3): [0], (0, 4): [64], (1, 3): [0], (1, 4): [0], (2, 3): [5], (2, 4): [69]}
    links |= {(3, 4): [0], (0, 5): [0], (5, 4): [0]}
    cited = found(links, "co-citation", 0.0)
    # I(3) = 0 1 2, I(4) = 0 1 2 3 5: three in common and a link, of 0 1 2 3 4 5.
    assert cited[3, 4] == pytest.approx(4 / 6)
    # I(5) = 0: one in common with I(3), of 0 1 2 3 5.
    assert cited[3, 5] == pytest.approx(1 / 5)
    # O(3) = 4, O(5) = 4: one in common, of 3 4 5. O(3) = 4, O(0) = 3 4 5: one and a link, of 0 3 4 5.
    coupled = found(links, "coupling", 0.0)
    assert [coupled[3, 5], coupled[0, 3]] == pytest.approx([1 / 3, 2 / 4])
    # Both: C(3) = 0 1 2 4, C(5) = 0 4: two in common, of 0 1 2 3 4 5.
    assert found(links, "amsler", 0.0)[3, 5] == pytest.approx(2 / 6)
    # On 0 and 2 the links stand 64 words apart and count one half each.
    assert HALF_DISTANCE == 64
    assert found(links, "proximity", 0.0)[3, 4] == pytest.approx((0.5 + 1 + 0.5 + 1) / 6)


def found(links: reference.Links, measure: str, delta: float) -> dict[tuple[int, int], float]:
    alike = build_link_sets(link_graph_of(links, NODES), measure).pairs(delta)
    pairs = zip(alike.first.tolist(), alike.second.tolist(), strict=True)
    return dict(zip(pairs, alike.value.tolist(), strict=True))


@given(links=LINKS, measure=st.sampled_from(MEASURES), delta=st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]))
def test_pairs_are_those_of_the_reference(links: reference.Links, measure: str, delta: float) -> None:
    expected = reference.pairs_above(links, measure, range(NODES), delta, HALF_DISTANCE)
    pairs = found(links, measure, delta)
    assert list(pairs) == sorted(expected)
    assert pairs == pytest.approx(expected)


@settings(deadline=None, max_examples=50)
@given(links=LINKS, measure=st.sampled_from(MEASURES), delta=st.sampled_from([0.0, 0.2]))
def test_pairs_come_in_pieces_no_larger_than_their_room(links: reference.Links, measure: str, delta: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measures, "BATCH_PAIRS", 1)
        sizes = [len(value) for _, _, value in build_link_sets(link_graph_of(links, NODES), measure).batches(delta)]
    assert max(sizes) <= 1 + NODES
    assert sum(sizes) == len(reference.pairs_above(links, measure, range(NODES), delta, HALF_DISTANCE))


@settings(deadline=None, max_examples=50)
@given(links=LINKS, measure=st.sampled_from(MEASURES))
def test_the_mean_is_that_of_the_pairs_that_are_similar_at_all(links: reference.Links, measure: str) -> None:
    values = list(reference.pairs_above(links, measure, range(NODES), 0.0, HALF_DISTANCE).values())
    assert build_link_sets(link_graph_of(links, NODES), measure).mean_similarity() == pytest.approx(
        np.mean(values) if values else 0.0
    )
