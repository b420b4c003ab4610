"""Kernels that work on the candidates of many pages, against plain loops and against the kernels for one page."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.test_link_scores import LIMITED, collections
from kernels.test_sparse_products import sparse
from links.builders import link_columns_of
from pagekin.kernels import page_rows
from pagekin.kernels.page_rows import ListedPages, PageRows, QueryVectors, ScoredRows, SparseVectors
from pagekin.model.arrays import offsets_of
from pagekin.model.link_columns import LinkLimits
from pagekin.search.link_scorer import LinkScorer
from reference import int8_products, sparse_products
from reference import page_rows as reference
from reference.link_scores import Anchor, Pages

NODES = 8
SCORES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
SCORED = st.lists(st.dictionaries(st.integers(0, NODES - 1), SCORES).map(lambda row: list(row.items())), max_size=5)
COLUMNS = 6
WEIGHTS = st.sampled_from([0.125, 0.25, 0.5])
SPARSE = st.lists(st.dictionaries(st.integers(0, COLUMNS - 1), WEIGHTS), min_size=NODES, max_size=NODES)
CANDIDATES = st.lists(st.lists(st.integers(0, NODES - 1), max_size=4), min_size=3, max_size=3)
PAGES = [0, 3, 7]


def rows_of(rows: list[list[int]]) -> PageRows:
    flat = np.array([node for row in rows for node in row], np.int64)
    return PageRows(offsets_of(np.array([len(row) for row in rows], np.int64)), flat)


def scored_of(rows: list[list[tuple[int, float]]]) -> ScoredRows:
    score = np.array([score for row in rows for _, score in row], np.float64)
    return ScoredRows(*rows_of([[node for node, _ in row] for row in rows]), score)


def lists_of(rows: PageRows) -> list[list[int]]:
    return [rows.node[a:b].tolist() for a, b in pairwise(rows.offsets.tolist())]


def sparse_of(rows: list[dict[int, float]]) -> SparseVectors:
    offsets, columns, values = sparse(rows)
    return SparseVectors(np.array(offsets), np.array(columns, np.uint32), np.array(values, np.float32))


@given(SCORED, st.integers(1, 4))
def test_the_best_of_rows_are_those_of_the_reference(rows: list[list[tuple[int, float]]], most: int) -> None:
    chosen = lists_of(page_rows.best_of_rows(scored_of(rows), most))
    assert [sorted(row) for row in chosen] == [sorted(reference.best(row, most)) for row in rows]


@given(SCORED, st.integers(1, 4))
def test_the_best_come_in_the_order_of_the_reference(rows: list[list[tuple[int, float]]], most: int) -> None:
    rows = [sorted(row) for row in rows]
    scored = scored_of(rows)
    ends, places = page_rows.ordered_best(scored.score, scored.offsets, most)
    assert lists_of(PageRows(ends, scored.node[places])) == [reference.best(row, most) for row in rows]


@pytest.mark.parametrize("most", [30, 64, 65, 150])
def test_the_best_of_a_long_row_are_those_of_the_reference(most: int) -> None:
    dice = np.random.default_rng(most)
    row = list(zip(dice.permutation(300).tolist(), dice.integers(0, 40, 300).astype(float).tolist(), strict=True))
    (chosen,) = lists_of(page_rows.best_of_rows(scored_of([row]), most))
    assert sorted(chosen) == sorted(reference.best(row, most))


@given(SCORED, st.data())
def test_scores_are_looked_up_by_row(rows: list[list[tuple[int, float]]], data: st.DataObject) -> None:
    wanted = [data.draw(st.lists(st.integers(0, NODES + 2), max_size=4)) for _ in rows]
    dense, candidates = np.zeros(NODES + 1), rows_of(wanted)
    result = np.full(len(candidates.node), np.nan)
    page_rows.looked_up(scored_of(rows), candidates, dense, result)
    assert result.tolist() == [
        dict(row).get(node, 0.0) for row, nodes in zip(rows, wanted, strict=True) for node in nodes
    ]
    assert not dense.any()


@given(collections(), LIMITED)
def test_link_scores_of_many_pages_are_those_of_each(pages: Pages, limits: LinkLimits) -> None:
    scorer = LinkScorer(link_columns_of(pages), limits)
    nodes = np.arange(len(pages))[::-1].copy()
    one_by_one: dict[int, Any] = {
        page_rows.PROXIMITY: scorer.proximity,
        page_rows.COUPLING: scorer.coupling,
        page_rows.LINK_SHARES: scorer.link_shares,
    }
    for kind, of_page in one_by_one.items():
        rows = scorer.rows(kind, nodes)
        for k, node in enumerate(nodes.tolist()):
            row = slice(int(rows.offsets[k]), int(rows.offsets[k + 1]))
            expected = of_page(node)
            assert rows.node[row].tolist() == expected[0].tolist()
            assert rows.score[row].tolist() == expected[1].tolist()


def test_many_link_scores_fit_into_the_result() -> None:
    """Three scores of a page, 2,000 times, are more than the first array holds."""
    pages = [[Anchor(node, node, node > 0) for node in range(4)], [], [], []]
    rows = LinkScorer(link_columns_of(pages)).rows(page_rows.LINK_SHARES, np.zeros(2000, np.int64))
    assert lists_of(PageRows(rows.offsets, rows.node)) == [[1, 2, 3]] * 2000
    assert (rows.score.reshape(2000, 3) == rows.score[:3]).all()


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=NODES, max_size=NODES), st.data())
def test_near_vectors_are_those_of_the_reference(vectors: list[list[int]], data: st.DataObject) -> None:
    row = np.array(vectors, np.int8)
    norm = np.sqrt(np.square(row, dtype=np.int32).sum(axis=1)).astype(np.float32)
    most = data.draw(st.integers(1, 4))
    listed = data.draw(st.permutations(range(NODES)))
    lists = [listed[:3], listed[3:5], listed[5:]]
    own = data.draw(st.lists(st.sampled_from([-1, *PAGES]), max_size=3))
    asked = np.array([vectors[page] for page in own], np.int8).reshape(-1, 3)
    probed = [data.draw(st.sampled_from([[], [0], [1, 2], [2, 0, 1]])) for _ in own]
    pages = ListedPages(offsets_of(np.array([3, 2, 3])), np.array(listed, np.uint32))
    queries = QueryVectors(asked, norm[np.array(own, np.int64)], np.array(own, np.int64))
    found = lists_of(page_rows.nearest_vectors(queries, row[listed], norm[listed], pages, rows_of(probed), most))
    for page, some, nodes in zip(own, probed, found, strict=True):
        searched = [node for number in some for node in lists[number]]
        products = [sum(a * b for a, b in zip(vectors[page], vectors[node], strict=True)) for node in searched]
        lengths = [float(norm[page]) * float(norm[node]) for node in searched]  # rounded, as they are stored
        scored = [
            (node, round(product / length * 1e9))
            for node, product, length in zip(searched, products, lengths, strict=True)
            if node != page and product > 0
        ]
        assert nodes == reference.best(scored, most)


@given(SPARSE, CANDIDATES)
def test_products_of_rows_are_those_of_the_reference(vectors: list[dict[int, float]], wanted: list[list[int]]) -> None:
    rows = rows_of(wanted)
    found = np.full(len(rows.node), np.nan)
    page_rows.products(np.array(PAGES), sparse_of(vectors), rows, found)
    expected = [sparse_products.row_products(vectors[p], vectors, w) for p, w in zip(PAGES, wanted, strict=True)]
    assert found.tolist() == [each for row in expected for each in row]


@given(SPARSE, st.integers(0, 30))
def test_rows_that_share_rare_columns_are_those_of_the_reference(vectors: list[dict[int, float]], most: int) -> None:
    rows = [sorted(vector) for vector in vectors]
    having = [[k for k, row in enumerate(rows) if column in row] for column in range(COLUMNS)]
    postings = rows_of(having)
    listed = ListedPages(postings.offsets, postings.node.astype(np.uint32))
    seen = np.zeros(NODES + 1, bool)
    found = lists_of(page_rows.sharing_rare_columns(np.array(PAGES), sparse_of(vectors), listed, most, seen))
    assert [set(row) for row in found] == [reference.sharing_rare_columns(rows, page, most) for page in PAGES]
    assert [len(row) for row in found] == [len(set(row)) for row in found]
    assert not seen.any()


@given(SPARSE, CANDIDATES)
def test_minima_of_rows_are_sums_of_minima(bags: list[dict[int, float]], wanted: list[list[int]]) -> None:
    rows, dense = rows_of(wanted), np.zeros(COLUMNS, np.float32)
    found = np.full(len(rows.node), np.nan)
    page_rows.minima(np.array(PAGES), sparse_of(bags), rows, dense, found)
    pairs = [(bags[page], bags[node]) for page, nodes in zip(PAGES, wanted, strict=True) for node in nodes]
    assert found.tolist() == [sum((min(a[term], b[term]) for term in a.keys() & b.keys()), 0.0) for a, b in pairs]
    assert not dense.any()


@given(CANDIDATES, st.data())
def test_cosines_of_lists_are_those_of_the_reference(wanted: list[list[int]], data: st.DataObject) -> None:
    others = [[k for k in range(NODES) if k != node] for node in range(NODES)]
    named = [data.draw(st.lists(st.sampled_from(others[k]), max_size=3, unique=True)) for k in range(NODES)]
    lists = [[*each, *[k] * (3 - len(each))] for k, each in enumerate(named)]
    rows = rows_of(wanted)
    found = np.full(len(rows.node), np.nan)
    page_rows.list_cosines(np.array(PAGES), np.array(lists, np.uint16), rows, found)
    expected = [
        sparse_products.list_cosines({page, *lists[page]}, lists, nodes)
        for page, nodes in zip(PAGES, wanted, strict=True)
    ]
    np.testing.assert_allclose(found, [each for row in expected for each in row], atol=1e-9)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=NODES, max_size=NODES), CANDIDATES)
def test_cosines_of_rows_are_those_of_the_reference(vectors: list[list[int]], wanted: list[list[int]]) -> None:
    row, rows = np.array(vectors, np.int8), rows_of(wanted)
    norm = np.sqrt(np.square(row, dtype=np.int32).sum(axis=1)).astype(np.float32)
    found = np.full((len(rows.node), 1), np.nan)
    page_rows.cosines(np.array(PAGES), row, norm, rows, found)
    expected = [int8_products.cosines(vectors[p], vectors, nodes) for p, nodes in zip(PAGES, wanted, strict=True)]
    np.testing.assert_allclose(found[:, 0], [each for part in expected for each in part], atol=1e-6)
