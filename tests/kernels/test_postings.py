"""The inverted index, and agreement counted by it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.arrays import UInt32s
from pagekin.index.inverted import Inverted
from pagekin.index.inverting import invert
from pagekin.kernels.minhash import EMPTY
from pagekin.kernels.postings import collide, fill_buckets
from twins import postings as twin

NOTHING = int(EMPTY)
# Few values, that pages agree; at the ends of buckets, that none is missed; any, that all buckets are used.
VALUES = st.sampled_from([0, 1, 2**31 - 1, 2**31, 2**30, 2**32 - 2]) | st.integers(0, 2**32 - 2)


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    """Signatures, some of which are those of empty bags."""
    length = draw(st.integers(1, 4))
    row = st.lists(VALUES, min_size=length, max_size=length) | st.just([NOTHING] * length)
    return draw(st.lists(row, max_size=40))


def table_of(rows: Sequence[Sequence[int]], length: int) -> UInt32s:
    return np.array(rows, np.uint32).reshape(-1, length)


def collisions(signature: Sequence[int], table: UInt32s, index: Inverted) -> dict[int, int]:
    """What colliding counts; and it must have left all else at zero."""
    counts, touched = np.zeros(len(table), np.int64), np.full(len(table), -1, np.int64)
    query = np.array(signature, np.uint32)
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
    table = table_of([[9, 1], [3, 2], [2**32 - 2, 3], [0, 4]], 2)
    assert invert(table, np.arange(4)).postings.tolist() == [[3, 1, 0, 2], [0, 1, 2, 3]]


def test_a_large_index_has_small_buckets() -> None:
    random = np.random.default_rng(3)
    table = random.integers(0, 2**32 - 1, (5000, 3)).astype(np.uint32)
    index = invert(table, np.arange(5000))
    assert np.diff(index.buckets.astype(np.int64), axis=1).max() < 40
    for page in (0, 17, 4999):
        assert collisions(table[page].tolist(), table, index) == twin.agreements(
            table[page].tolist(), table.tolist(), range(5000)
        )


@settings(deadline=None)
@given(st.lists(VALUES | st.just(2**32 - 1), max_size=30).map(sorted), st.integers(1, 6))
def test_buckets_are_those_of_the_twin(values: list[int], bits: int) -> None:
    buckets = np.empty((1 << bits) + 1, np.uint32)
    fill_buckets(np.array(values, np.uint32), 32 - bits, buckets)
    assert buckets.tolist() == twin.buckets(values, 32 - bits, 1 << bits)


@settings(deadline=None, max_examples=200)
@given(tables(), st.data())
def test_collisions_are_the_agreements_of_all_indexed_pages(rows: list[list[int]], data: st.DataObject) -> None:
    length = len(rows[0]) if rows else 2
    members = [page for page in range(len(rows)) if data.draw(st.booleans(), label=f"page {page} is a member")]
    asked = st.lists(VALUES, min_size=length, max_size=length)
    signature = data.draw(asked | st.sampled_from(rows) if rows else asked)
    table = table_of(rows, length)
    indexed = [page for page in members if rows[page] != [NOTHING] * length]
    found = collisions(signature, table, invert(table, np.array(members, np.int64)))
    assert found == twin.agreements(signature, rows, indexed)
