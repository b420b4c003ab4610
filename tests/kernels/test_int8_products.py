"""Inner products of small integers, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.kernels.int8_products import inner_products
from reference import int8_products as reference


@given(st.integers(1, 128), st.integers(0, 4), st.lists(st.integers(-2, 6), max_size=6), st.data())
def test_products_are_those_of_the_reference_wherever_rows_lead(
    width: int, count: int, rows: list[int], data: st.DataObject
) -> None:
    row = st.lists(st.integers(-128, 127), min_size=width, max_size=width)
    queries, vectors = data.draw(st.lists(row, max_size=2)), data.draw(st.lists(row, min_size=count, max_size=count))
    products = np.full((len(rows), len(queries)), np.nan)
    of = [np.array(each, np.int8).reshape(-1, width) for each in (queries, vectors)]
    inner_products(of[0], of[1], np.array(rows, np.int64), products)
    assert products.T.tolist() == [reference.inner_products(query, vectors, rows) for query in queries]


def test_the_largest_products_are_exact() -> None:
    most = np.full((1, 4096), -128, np.int8)
    products = np.zeros((1, 1))
    inner_products(most, most, np.zeros(1, np.int64), products)
    assert products.item() == 4096 * 128 * 128 == 2**26
