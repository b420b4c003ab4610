"""The measures of rows of scores."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.precision import measure_rows, rank_relevant
from reference import precision as reference

LISTED = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0]) | st.floats(-4.0, 4.0)
SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0.0, 4.0)


def measured(scores: list[float], right: list[int], asking: int) -> list[float]:
    out = np.empty((1, 4))
    offsets = np.array([0, len(right)])
    measure_rows(np.array([asking]), offsets, np.array(right, np.uint32), np.array([scores]), out)
    found: list[float] = out[0].tolist()
    return found


@settings(max_examples=300, deadline=None)
@given(st.lists(SCORES, min_size=2, max_size=40), st.data())
def test_measures_are_as_defined(scores: list[float], data: st.DataObject) -> None:
    asking = data.draw(st.integers(-1, len(scores) - 1))
    others = [page for page in range(len(scores)) if page != asking]
    right = sorted(data.draw(st.sets(st.sampled_from(others), min_size=1)))
    assert measured(scores, right, asking) == pytest.approx(reference.measures(scores, set(right), asking))


def test_measures_by_hand() -> None:
    """Page 0 asks; the order is 3, 1, 4, 2 and page 5 shares nothing. Right are 1, 2 and 5.

    Before them come 3 for page 1, 3 and 4 for page 2, and 3 and 4 for page 5: five of six pairs are wrong. Two of the
    first ten and one of the first three are right; precision is 1/2 at page 1, 2/4 at page 2 and page 5 is not found.
    """
    found = measured([9.0, 0.7, 0.1, 0.9, 0.3, 0.0], [1, 2, 5], 0)
    assert found == pytest.approx([5 / 6, 2 / 10, 1 / 3, (1 / 2 + 2 / 4) / 3])


def test_pages_that_tie_are_no_error_and_the_earlier_comes_first() -> None:
    assert measured([0.5, 0.5], [1], -1) == pytest.approx([0.0, 1 / 10, 0.0, 1 / 2])
    assert measured([0.5, 0.5], [0], -1) == pytest.approx([0.0, 1 / 10, 1.0, 1.0])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(LISTED, min_size=5, max_size=5), min_size=1, max_size=4), st.data())
def test_places_of_relevant_pages_are_as_defined(rows: list[list[float]], data: st.DataObject) -> None:
    asking = data.draw(st.lists(st.integers(-1, 4), min_size=len(rows), max_size=len(rows)))
    right = [sorted(data.draw(st.sets(st.sampled_from([e for e in range(5) if e != one])))) for one in asking]
    offsets = np.cumsum([0, *map(len, right)])
    places = np.empty(offsets[-1], np.int64)
    rank_relevant(np.array(asking), offsets, np.array([*chain(*right)], np.uint32), np.array(rows), places)
    expected = [reference.places(*each) for each in zip(rows, map(set, right), asking, strict=True)]
    assert places.tolist() == [*chain(*expected)]
