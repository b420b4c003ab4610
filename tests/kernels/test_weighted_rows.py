"""Products of weighted words for the candidates of many pages, against the kernel for one page."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernels.test_page_rows import CANDIDATES, COLUMNS, NODES, PAGES, SPARSE, WEIGHTS, rows_of, sparse_of
from pagekin.kernels import query, weighted_rows
from pagekin.kernels.weighted_rows import CountCurve, Numbers, WordCounts, WordWorths


@given(SPARSE, CANDIDATES, st.data())
def test_weighted_products_of_rows_are_those_of_each_page(
    bags: list[dict[int, float]], wanted: list[list[int]], data: st.DataObject
) -> None:
    """Beyond the words come terms that are no words; the last node has no contents."""
    stored, words = sparse_of(bags), COLUMNS - 1
    drawn = data.draw(st.lists(st.integers(0, 30), min_size=len(stored.column), max_size=len(stored.column)))
    count = np.array(drawn, np.uint32)
    worths = [data.draw(st.dictionaries(st.integers(0, words - 1), WEIGHTS | st.just(0.0))) for _ in PAGES]
    asked = sparse_of(worths)
    rise = np.arange(float(data.draw(st.sampled_from([2, 20]))))
    curve = CountCurve(rise, np.linspace(1.0, 2.0, NODES - 1), np.linspace(0.5, 1.5, NODES - 1), 1.0)
    numbers = Numbers(np.zeros(words + 1, np.uint32), np.zeros(NODES, np.int64), np.zeros(words // 8 + 1, np.uint8))
    rows = rows_of(wanted)
    found = np.full(len(rows.node), np.nan)
    worth = WordWorths(asked.offsets, asked.column, asked.value.astype(np.float64))
    counts = WordCounts(stored.offsets, stored.column, count)
    weighted_rows.weighted_products(worth, counts, curve, rows, numbers, found)
    expected = []
    for worth_of, nodes in zip(worths, wanted, strict=True):
        one, of_page = np.zeros(words), np.empty(len(nodes))
        one[list(worth_of)] = list(worth_of.values())
        query.weigh_products(one, stored.offsets, stored.column, count, np.array(nodes, np.int64), *curve, of_page)
        expected += of_page.tolist()
    assert found.tolist() == expected
    assert not any(each.any() for each in numbers)
