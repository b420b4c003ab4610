"""The order of the terms of a bag."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.term_order import heaviest_first
from reference import term_order as twin

WEIGHTS = st.sampled_from([0.0, 0.25, 0.5]) | st.floats(0, 1, width=32)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.lists(WEIGHTS, max_size=8), max_size=5))
def test_every_bag_is_sorted_as_its_twin_and_by_itself(bags: list[list[float]]) -> None:
    offsets = np.cumsum([0, *map(len, bags)])
    weight = np.array([each for bag in bags for each in bag], np.float32)
    places = np.arange(len(weight))
    term, content, around = places.astype(np.uint32), (places + 5).astype(np.uint32), -places.astype(np.float32)
    heaviest_first(offsets, term, weight, content, around)
    expected = [int(offsets[k]) + place for k, bag in enumerate(bags) for place in twin.heaviest_first(bag)]
    assert term.tolist() == expected
    assert weight.tolist() == [[each for bag in bags for each in bag][place] for place in expected]
    assert content.tolist() == [place + 5 for place in expected]
    assert around.tolist() == [-place for place in expected]


def test_equal_weights_stay_in_their_order() -> None:
    offsets = np.array([0, 4])
    term, weight = np.array([1, 2, 3, 4], np.uint32), np.array([0.25, 0.5, 0.25, 0.0], np.float32)
    heaviest_first(offsets, term, weight, np.zeros(4, np.uint32), np.zeros(4, np.float32))
    assert term.tolist() == [2, 1, 3, 4]
