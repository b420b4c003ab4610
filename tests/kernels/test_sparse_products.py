"""Sparse times dense, against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.kernels.sparse_products import list_cosines, multiply, row_products, transpose
from pagekin.model.arrays import Float32s
from reference import sparse_products as reference

COLUMNS = 7
VALUES = st.integers(-9, 9).map(float)  # sums are exact
ROWS = st.lists(st.dictionaries(st.integers(0, COLUMNS - 1), VALUES), min_size=1, max_size=6)


def dense(draw: st.DataObject, rows: int, width: int) -> list[list[float]]:
    return draw.draw(st.lists(st.lists(VALUES, min_size=width, max_size=width), min_size=rows, max_size=rows))


def sparse(rows: list[dict[int, float]]) -> tuple[list[int], list[int], list[float]]:
    """Offsets, columns and values."""
    entries = [sorted(row.items()) for row in rows]
    offsets = [sum(map(len, entries[:k])) for k in range(len(rows) + 1)]
    return offsets, [column for row in entries for column, _ in row], [value for row in entries for _, value in row]


@given(ROWS, st.integers(1, 5), st.data())
def test_products_are_those_of_the_reference(rows: list[dict[int, float]], width: int, data: st.DataObject) -> None:
    offsets, columns, values = sparse(rows)
    matrix = np.array(offsets), np.array(columns, np.uint32), np.array(values, np.float32)
    right = dense(data, COLUMNS, width)
    product: Float32s = np.zeros((len(rows), width), np.float32)
    split = data.draw(st.integers(0, len(rows)))
    for first, last in ((split, len(rows)), (0, split)):
        multiply(first, last, *matrix, np.array(right, np.float32), product)
    assert product.tolist() == reference.product(rows, right)


@given(ROWS, st.integers(0, COLUMNS))
def test_columns_are_those_of_the_reference(rows: list[dict[int, float]], split: int) -> None:
    offsets, columns, values = sparse(rows)
    matrix = np.array(offsets), np.array(columns, np.uint32), np.array(values, np.float32)
    expected = sparse(reference.transposed(rows, COLUMNS))
    ends, row, value = np.array(expected[0][:-1]), np.empty_like(matrix[1]), np.empty_like(matrix[2])
    for first, last in ((split, COLUMNS), (0, split)):
        transpose(first, last, *matrix, ends, row, value)
    assert (row.tolist(), value.tolist(), ends.tolist()) == (*expected[1:], expected[0][1:])


@given(st.dictionaries(st.integers(0, COLUMNS - 1), VALUES), ROWS, st.lists(st.integers(-1, 7), max_size=5))
def test_products_of_a_vector_and_rows_are_those_of_the_reference(
    vector: dict[int, float], rows: list[dict[int, float]], wanted: list[int]
) -> None:
    offsets, columns, values = sparse(rows)
    own = np.array(sorted(vector), np.int64)
    matrix = np.array(offsets), np.array(columns, np.uint32), np.array(values, np.float32)
    found = np.full(len(wanted), np.nan)
    row_products(
        own, np.array([vector[k] for k in own.tolist()], np.float64), *matrix, np.array(wanted, np.int64), found
    )
    assert found.tolist() == reference.row_products(vector, rows, wanted)


@given(st.sets(st.integers(0, 9), min_size=1), st.integers(0, 4), st.integers(0, 6), st.data())
def test_cosines_of_lists_are_those_of_the_reference(
    own: set[int], width: int, count: int, data: st.DataObject
) -> None:
    """Lists name each member once, and are filled up with their own number."""
    members = st.lists(st.integers(0, 9), max_size=width, unique=True)
    named = [[each for each in data.draw(members) if each != k] for k in range(count)]
    lists = [[*each, *[k] * (width - len(each))] for k, each in enumerate(named)]
    wanted = data.draw(st.lists(st.integers(-1, 7), max_size=5))
    found = np.full(len(wanted), np.nan)
    stored = np.array(lists, np.uint16).reshape(count, width)
    list_cosines(np.array(sorted(own), np.int64), stored, np.array(wanted, np.int64), found)
    np.testing.assert_allclose(found, np.array(reference.list_cosines(own, lists, wanted)), atol=1e-9)
