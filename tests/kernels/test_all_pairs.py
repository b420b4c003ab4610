"""Rows of similarities, against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pagekin.kernels.all_pairs import cosines, invert, jaccards, products
from reference import similarity as reference

TERMS = 8
COUNTS = st.dictionaries(st.integers(0, TERMS - 1), st.integers(1, 9), max_size=TERMS)


def bag_of(counts: dict[int, int]) -> dict[int, float]:
    """The bag of some counts, as it is stored: in 32 bits, and it sums to one."""
    total = sum(counts.values())
    return {term: float(np.float32(count / total)) for term, count in counts.items()}


def rows_of(bags: list[dict[int, float]], queries: list[int], cosine: bool) -> NDArray[np.float64]:
    offsets = np.cumsum([0, *map(len, bags)])
    term = np.array([term for bag in bags for term in bag], np.uint32)
    weight = np.array([weight for bag in bags for weight in bag.values()], np.float32)
    rows = np.full((len(queries), len(bags)), np.nan)
    inverted = invert(offsets, term, weight, TERMS)
    if cosine:
        lengths = np.array([math.hypot(*bag.values()) for bag in bags])
        cosines(np.array(queries, np.int64), offsets, term, weight, inverted, lengths, rows)
    else:
        jaccards(np.array(queries, np.int64), offsets, term, weight, inverted, rows)
    return rows


def test_rows_by_hand() -> None:
    bags = [{1: 0.5, 2: 0.5}, {2: 0.25, 3: 0.75}, {}, {4: 1.0}]
    (row,) = rows_of(bags, [0], cosine=False).tolist()
    assert row == [1.0, pytest.approx(0.25 / 1.75, abs=1e-9), -math.inf, -math.inf]
    (row,) = rows_of(bags, [1], cosine=True).tolist()
    # .5 * .25 over the lengths of (.5, .5) and (.25, .75), which are the roots of .5 and .625
    assert row == [pytest.approx(0.125 / math.sqrt(0.5 * 0.625), abs=1e-9), 1.0, -math.inf, -math.inf]


def test_bags_are_inverted_in_their_order() -> None:
    term, weight = np.array([3, 1, 1], np.uint32), np.array([0.75, 0.25, 1.0], np.float32)
    postings, bag, weights = invert(np.array([0, 2, 2, 3]), term, weight, 5)
    assert postings.tolist() == [0, 0, 2, 2, 3, 3]
    assert (bag.tolist(), weights.tolist()) == ([0, 2, 0], [0.25, 1.0, 0.75])


@given(counts=st.lists(COUNTS, min_size=1, max_size=6), cosine=st.booleans(), data=st.data())
def test_rows_are_the_similarities_of_the_reference(
    counts: list[dict[int, int]], cosine: bool, data: st.DataObject
) -> None:
    bags = [bag_of(each) for each in counts]
    queries = data.draw(st.lists(st.sampled_from(range(len(bags))), max_size=4))
    similarity = reference.cosine if cosine else reference.jaccard
    for source, row in zip(queries, rows_of(bags, queries, cosine).tolist(), strict=True):
        for bag, found in zip(bags, row, strict=True):
            if set(bags[source]) & set(bag):
                # Bags sum to one only as nearly as 32 bits can tell.
                assert found == pytest.approx(similarity(bags[source], bag), abs=2e-7)
            else:
                assert found == -math.inf


def test_products_by_hand() -> None:
    # Query: {1: 2, 3: 1}; bags: {1: 5}, {1: 1, 3: 4}, {2: 7}; term 9 is beyond the inverted terms.
    inverted = invert(np.array([0, 1, 3, 4]), np.array([1, 1, 3, 2], np.uint32), np.array([5, 1, 4, 7], np.float32), 4)
    rows = np.full((1, 3), np.nan)
    term, weight = np.array([1, 3, 9], np.uint32), np.array([2, 1, 1], np.float32)
    products(np.array([0]), np.array([0, 3]), term, weight, inverted, rows)
    assert rows.tolist() == [[10.0, 6.0, 0.0]]


@given(queries=st.lists(COUNTS, min_size=1, max_size=4), bags=st.lists(COUNTS, min_size=1, max_size=5))
def test_products_are_those_of_the_reference(queries: list[dict[int, int]], bags: list[dict[int, int]]) -> None:
    columns = [
        (
            np.cumsum([0, *map(len, bags)]),
            np.array([term for bag in bags for term in bag], np.uint32),
            np.array([count for bag in bags for count in bag.values()], np.float32),
        )
        for bags in (queries, bags)
    ]
    rows = np.full((len(queries), len(bags)), np.nan)
    products(np.arange(len(queries)), *columns[0], invert(*columns[1], TERMS), rows)
    assert rows.tolist() == [[reference.products(one, other)[0] for other in bags] for one in queries]
