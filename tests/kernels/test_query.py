"""From the pages that agree in any coordinate to those that are compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pagekin.index.index import Inverted, ValueType, invert
from pagekin.kernels.query import (
    CandidateLimits,
    collide,
    fill_buckets,
    largest_of_rows,
    min_agreement,
    minima,
    nth_smallest,
    products,
    select_candidates,
    weigh_products,
)
from pagekin.model.arrays import Unsigned
from pagekin.model.bags import Bags
from reference import postings, similarity
from reference import query as reference

TERMS = 8
COORDINATES = 16
# Halves of halves, so that sums are exact in whatever order they are made.
WEIGHTS = st.integers(1, 8).map(lambda k: k / 16)
BAGS = st.dictionaries(st.integers(0, TERMS - 1), WEIGHTS, max_size=4)
SLACK = st.sampled_from([0.0, 0.5, 1.0, 2.0])


def threshold(agreements: list[int], wanted: int, slack: float, most: int) -> int:
    counts = np.bincount(np.array(agreements, np.int64), minlength=COORDINATES + 1)
    counts[0] = 0
    return min_agreement(counts, wanted, CandidateLimits(0, most, slack, 0.0))


def test_a_candidate_may_agree_less_often_than_the_last_one_wanted_by_so_many_deviations() -> None:
    # The second of those wanted agrees 9 times; sqrt 9 is 3, and twice that less is 3.
    assert threshold([16, 9, 5, 4, 2, 1], wanted=2, slack=2.0, most=9) == 3
    assert threshold([16, 9, 5, 4, 2, 1], wanted=2, slack=0.0, most=9) == 9


def test_there_are_no_more_candidates_than_most_unless_they_agree_as_often_as_those_wanted() -> None:
    assert threshold([9, 9, 5, 4, 3, 3], wanted=2, slack=2.0, most=4) == 4
    assert threshold([5, 5, 5, 5, 5], wanted=2, slack=2.0, most=1) == 5


def test_where_fewer_agree_than_are_wanted_all_are_candidates() -> None:
    assert threshold([3, 2, 1], wanted=10, slack=0.0, most=9) == 1
    assert threshold([], wanted=10, slack=2.0, most=9) == 1


@given(st.lists(st.integers(0, COORDINATES), max_size=30), st.integers(1, 12), SLACK, st.integers(0, 40))
def test_the_threshold_is_that_of_the_reference(agreements: list[int], wanted: int, slack: float, most: int) -> None:
    assert threshold(agreements, wanted, slack, most) == reference.min_agreement(agreements, wanted, slack, most)


@given(
    bags=st.lists(BAGS, max_size=12),
    query=BAGS,
    wanted=st.integers(1, 6),
    room=st.integers(1, 6),
    most=st.integers(0, 12),
    slack=SLACK,
    heavy=st.integers(0, 4),
    trust=st.sampled_from([0.0, 0.25, 1.0]),
    data=st.data(),
)
def test_candidates_are_those_of_the_reference(
    bags: list[dict[int, float]],
    query: dict[int, float],
    wanted: int,
    room: int,
    most: int,
    slack: float,
    heavy: int,
    trust: float,
    data: st.DataObject,
) -> None:
    # 0, 1, 3, 7 or 15 of 16: agreements whose guess is not far from exact either.
    often = st.sampled_from([0, 1, 3, 7, 15])
    touched = data.draw(st.permutations(range(len(bags))))
    agreements = {node: data.draw(often) for node in touched}
    weights_of_query = np.zeros(TERMS, np.float32)
    for term, weight in query.items():
        weights_of_query[term] = weight
    rows = [sorted(bag.items(), key=lambda item: -item[1]) for bag in bags]
    offsets = np.cumsum([0, *map(len, rows)])
    terms = np.array([term for row in rows for term, _ in row], np.uint32)
    weights = np.array([weight for row in rows for _, weight in row], np.float32)
    heads = Bags(offsets, terms, weights, np.zeros(len(terms), np.uint32), weights).heads(heavy)
    found = select_candidates(
        np.array(touched, np.int64),
        np.array([agreements[node] for node in touched], np.int64),
        wanted,
        CandidateLimits(room, most, slack, trust),
        COORDINATES,
        weights_of_query,
        heads.term,
        heads.weight,
    )
    expected = reference.select_candidates(
        agreements, wanted, room, most, slack, COORDINATES, query, rows, heavy, trust
    )
    assert found.tolist() == expected


VALUES = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5, 1.0])


@settings(deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=40), st.data())
def test_the_nth_smallest_value_is_that_of_the_reference(values: list[float], data: st.DataObject) -> None:
    n = data.draw(st.integers(0, len(values) - 1))
    shuffled = np.array(values)
    assert nth_smallest(shuffled, n) == reference.nth_smallest(values, n)
    assert sorted(shuffled.tolist()) == sorted(values)


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(VALUES, st.integers(0, 9)), max_size=12), max_size=4), st.integers(1, 5))
def test_the_largest_values_of_rows_are_those_of_the_reference(rows: list[list[tuple[float, int]]], most: int) -> None:
    rows = [list({number: (value, number) for value, number in row}.values()) for row in rows]  # numbers are distinct
    values = np.array([value for row in rows for value, _ in row], np.float64)
    numbers = np.array([number for row in rows for _, number in row], np.uint32)
    found = largest_of_rows(values, numbers, np.cumsum([0, *map(len, rows)]), most)
    assert found.tolist() == reference.largest_of_rows(rows, most)


@pytest.mark.parametrize("damaged", [np.nan, np.inf, -np.inf])
def test_of_damaged_heads_as_many_candidates_are_chosen(damaged: float) -> None:
    weight = np.full((30, 2), damaged, np.float32)
    weight[::3] = 0.25
    nodes, term = np.arange(30), np.zeros((30, 2), np.uint32)
    limits, query = CandidateLimits(7, 100, 2.0, 0.3), np.full(3, 0.5, np.float32)
    found = select_candidates(nodes, np.full(30, 4), 5, limits, COORDINATES, query, term, weight).tolist()
    assert len(found) == 7 and set(found) <= set(range(30)) and found == sorted(set(found))


# --- the inverted index ----------------------------------------------------------------------------------

NOTHING = 2**16 - 1
KINDS = (np.uint16, np.uint32)


def values(kind: ValueType) -> st.SearchStrategy[int]:
    """Few, that pages agree; at the ends of buckets, that none is missed; any, that all buckets are used."""
    most = 2 ** np.iinfo(kind).bits
    return st.sampled_from([0, 1, most // 2 - 1, most // 2, most // 4, most - 2]) | st.integers(0, most - 2)


@st.composite
def tables(draw: st.DrawFn, kind: ValueType) -> list[list[int]]:
    """Signatures, some of which are those of empty bags."""
    length = draw(st.integers(1, 4))
    row = st.lists(values(kind), min_size=length, max_size=length) | st.just([int(np.iinfo(kind).max)] * length)
    return draw(st.lists(row, max_size=40))


def table_of(rows: Sequence[Sequence[int]], length: int, kind: ValueType = np.uint16) -> Unsigned:
    table: Unsigned = np.array(rows, kind).reshape(-1, length)
    return table


def collisions(signature: Sequence[int], table: Unsigned, index: Inverted) -> dict[int, int]:
    """What colliding counts; and it must have left all else at zero."""
    counts, touched = np.zeros(len(table), np.int64), np.full(len(table), -1, np.int64)
    query = np.array(signature, table.dtype)
    found = collide(query, table, index.postings, index.buckets, index.shift, counts, touched)
    pages = touched[:found].tolist()
    assert len(set(pages)) == len(pages) and (touched[found:] == -1).all()
    assert sorted(pages) == np.flatnonzero(counts).tolist()
    return {page: int(counts[page]) for page in sorted(pages)}


def test_collisions_are_counted_by_coordinate() -> None:
    table = table_of([[5, 6, 7], [5, 0, 7], [6, 7, 5], [8, 8, 7]], 3)
    index = invert(table, np.arange(4))
    assert collisions([5, 6, 7], table, index) == {0: 3, 1: 2, 3: 1}
    assert collisions([1, 2, 3], table, index) == {}


def test_the_index_has_only_its_members() -> None:
    table = table_of([[5, 6], [5, 6], [5, 9]], 2)
    index = invert(table, np.array([0, 2]))
    assert sorted(index.postings[0].tolist()) == [0, 2]
    assert collisions([5, 6], table, index) == {0: 2, 2: 1}


def test_empty_bags_are_not_indexed_and_find_nothing() -> None:
    table = table_of([[NOTHING] * 2, [3, 4], [NOTHING] * 2], 2)
    index = invert(table, np.arange(3))
    assert index.postings.tolist() == [[1], [1]]
    assert collisions([NOTHING] * 2, table, index) == {}


@pytest.mark.parametrize("members", [[], [0]])
def test_an_index_of_nothing_finds_nothing(members: list[int]) -> None:
    table = table_of([[NOTHING] * 3], 3)
    index = invert(table, np.array(members, np.int64))
    assert index.postings.shape == (3, 0)
    assert collisions([1, 2, NOTHING], table, index) == {}


def test_postings_of_a_coordinate_are_sorted_by_value() -> None:
    table = table_of([[9, 1], [3, 2], [2**16 - 2, 3], [0, 4]], 2)
    assert invert(table, np.arange(4)).postings.tolist() == [[3, 1, 0, 2], [0, 1, 2, 3]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_index_has_small_buckets(kind: ValueType) -> None:
    random = np.random.default_rng(3)
    table = random.integers(0, np.iinfo(kind).max, (5000, 3)).astype(kind)
    index = invert(table, np.arange(5000))
    assert index.postings.dtype == index.buckets.dtype == kind
    assert np.diff(index.buckets.astype(np.int64), axis=1).max() < 40
    for page in (0, 17, 4999):
        assert collisions(table[page].tolist(), table, index) == postings.agreements(
            table[page].tolist(), table.tolist(), range(5000)
        )


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(st.data(), st.integers(1, 6))
def test_buckets_are_those_of_the_reference(kind: ValueType, data: st.DataObject, bits: int) -> None:
    most = np.iinfo(kind)
    some = sorted(data.draw(st.lists(values(kind) | st.just(int(most.max)), max_size=30)))
    buckets = np.empty((1 << bits) + 1, kind)
    fill_buckets(np.array(some, kind), most.bits - bits, buckets)
    assert buckets.tolist() == postings.buckets(some, most.bits - bits, 1 << bits)


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_collisions_are_the_agreements_of_all_indexed_pages(kind: ValueType, data: st.DataObject) -> None:
    rows = data.draw(tables(kind))
    length = len(rows[0]) if rows else 2
    members = [page for page in range(len(rows)) if data.draw(st.booleans(), label=f"page {page} is a member")]
    asked = st.lists(values(kind), min_size=length, max_size=length)
    signature = data.draw(asked | st.sampled_from(rows) if rows else asked)
    table = table_of(rows, length, kind)
    indexed = [page for page in members if rows[page] != [np.iinfo(kind).max] * length]
    found = collisions(signature, table, invert(table, np.array(members, np.int64)))
    assert found == postings.agreements(signature, rows, indexed)


# --- what bags share -------------------------------------------------------------------------------------

WORDS = 12
# Terms meet often; weights are those of bags, which sum to one and so are not all minute.
FLOAT_BAGS = st.dictionaries(st.integers(0, WORDS - 1), st.floats(2**-20, 1, width=32), max_size=10)


def laid(asked: similarity.Bag) -> NDArray[np.float32]:
    workspace = np.zeros(WORDS, np.float32)
    for term, weight in asked.items():
        workspace[term] = weight
    return workspace


def minima_of(asked: similarity.Bag, bags: list[similarity.Bag], nodes: list[int]) -> list[float]:
    offsets = np.cumsum([0, *map(len, bags)])
    terms = np.array([term for bag in bags for term in bag], np.uint32)
    weights = np.array([weight for bag in bags for weight in bag.values()], np.float32)
    shared = np.full(len(nodes), np.nan)
    minima(laid(asked), offsets, terms, weights, np.array(nodes, np.int64), shared)
    return shared.tolist()


def products_of(asked: similarity.Bag, bags: list[similarity.Bag], nodes: list[int]) -> list[tuple[float, float]]:
    offsets = np.cumsum([0, *map(len, bags)])
    terms = np.array([term for bag in bags for term in bag], np.uint32)
    weights = np.array([weight for bag in bags for weight in bag.values()], np.float32)
    shared, squares = np.full(len(nodes), np.nan), np.full(len(nodes), np.nan)
    products(laid(asked), offsets, terms, weights, np.array(nodes, np.int64), shared, squares)
    return list(zip(shared.tolist(), squares.tolist(), strict=True))


def test_minima_and_products_by_hand() -> None:
    bags: list[similarity.Bag] = [{3: 0.5, 2: 0.25, 1: 0.25}, {}]
    asked = {1: 0.125, 2: 0.5}
    assert minima_of(asked, bags, [0, 1]) == [0.375, 0.0]
    assert products_of(asked, bags, [1, 0]) == [(0.0, 0.0), (0.15625, 0.375)]


@given(asked=FLOAT_BAGS, bags=st.lists(FLOAT_BAGS, min_size=1, max_size=4), data=st.data())
def test_minima_and_products_are_those_of_the_reference(
    asked: similarity.Bag, bags: list[similarity.Bag], data: st.DataObject
) -> None:
    nodes = data.draw(st.lists(st.sampled_from(range(len(bags))), max_size=6))
    assert minima_of(asked, bags, nodes) == [similarity.minima(asked, bags[node]) for node in nodes]
    assert products_of(asked, bags, nodes) == [similarity.products(asked, bags[node]) for node in nodes]


RISE = [0.0, 1.0, 1.5, 7.0]
PAGES = st.lists(st.dictionaries(st.integers(0, WORDS + 1), st.integers(0, 5), max_size=10), min_size=1, max_size=4)


@given(
    asked=FLOAT_BAGS,
    pages=PAGES,
    scale=st.lists(st.floats(0, 9), max_size=3),
    base=st.floats(0.25, 9),
    slope=st.sampled_from([0.0, 1.0]),
)
def test_weighed_products_are_those_of_the_reference(
    asked: similarity.Bag, pages: list[dict[int, int]], scale: list[float], base: float, slope: float
) -> None:
    """A bag beyond the pages and a term beyond the words say nothing; a count beyond the table is as the last."""
    offsets = np.cumsum([0, *map(len, pages)])
    terms = np.array([term for page in pages for term in page], np.uint32)
    counts = np.array([count for page in pages for count in page.values()], np.uint32)
    nodes, shared = np.arange(len(pages)), np.full(len(pages), np.nan)
    worth, rise, bases = laid(asked).astype(np.float64), np.array(RISE), np.full(len(scale), base)
    weigh_products(worth, offsets, terms, counts, nodes, rise, np.array(scale), bases, slope, shared)
    expected = [
        similarity.weighed_product(asked, page, similarity.Curve(RISE, each, base, slope))
        for page, each in zip(pages, scale, strict=False)
    ]
    assert shared.tolist() == expected + [0.0] * (len(pages) - len(expected))
