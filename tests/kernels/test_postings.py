"""The inverted index, and agreement counted by it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.index.index import Inverted, ValueType, invert
from pagekin.kernels.postings import collide, fill_buckets
from pagekin.model.arrays import Unsigned
from reference import postings as reference

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
        assert collisions(table[page].tolist(), table, index) == reference.agreements(
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
    assert buckets.tolist() == reference.buckets(some, most.bits - bits, 1 << bits)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=200)
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
    assert found == reference.agreements(signature, rows, indexed)
