"""Cosines of small integers, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.kernels.int8_products import cosines, half_byte_products
from pagekin.latent.vectors import norms
from reference import int8_products as reference


@given(st.integers(1, 128), st.integers(0, 4), st.lists(st.integers(-2, 6), max_size=6), st.data())
def test_cosines_are_those_of_the_reference_wherever_rows_lead(
    width: int, count: int, rows: list[int], data: st.DataObject
) -> None:
    row = st.lists(st.integers(-127, 127), min_size=width, max_size=width)
    queries, vectors = data.draw(st.lists(row, max_size=2)), data.draw(st.lists(row, min_size=count, max_size=count))
    found = np.full((len(rows), len(queries)), np.nan)
    own, others = (np.array(each, np.int8).reshape(-1, width) for each in (queries, vectors))
    cosines(own, norms(own), others, norms(others), np.array(rows, np.int64), found)
    expected = [reference.cosines(query, vectors, rows) for query in queries]
    np.testing.assert_allclose(found.T, np.array(expected).reshape(len(queries), len(rows)), atol=2e-7)


@given(st.integers(1, 9), st.lists(st.integers(0, 9), max_size=6), st.data())
def test_products_of_terms_are_those_of_the_reference(width: int, asked: list[int], data: st.DataObject) -> None:
    rows = {
        term: data.draw(st.lists(st.integers(0, 255), min_size=width, max_size=width))
        for term in data.draw(st.sets(st.integers(0, 9)))
    }
    direction = data.draw(st.lists(st.integers(-3, 3), min_size=2 * width, max_size=2 * width))
    known = np.array(sorted(rows), np.uint32)
    packed = np.array([rows[term] for term in sorted(rows)], np.uint8).reshape(-1, width)
    scale, found = np.array(known + 0.5, np.float32), np.full(len(asked), np.nan)
    half_byte_products(known, packed, scale, np.array(asked, np.uint32), np.array(direction, np.float64), found)
    expected = [
        reference.half_byte_product(rows[term], term + 0.5, direction) if term in rows else 0.0 for term in asked
    ]
    assert found.tolist() == expected


def test_the_largest_vectors_do_not_overflow() -> None:
    most, norm = np.full((1, 4096), -128, np.int8), np.array([64.0 * 128.0], np.float32)
    found = np.zeros((1, 1))
    cosines(most, norm, most, norm, np.zeros(1, np.int64), found)
    assert found.item() == 1.0
