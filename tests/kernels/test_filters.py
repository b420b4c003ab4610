"""Bloom filters: bits, what rows share, near rows, union-find."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pagekin.arrays import Int64s, UInt64s
from pagekin.kernels.filters import common_bits, join, near, roots, set_bits
from twins import filters as twin

ELEMENTS = st.integers(0, 2**64 - 1)
SETS = st.lists(st.sets(ELEMENTS | st.integers(0, 12).map(lambda k: k * 0x123456789ABCDEF), max_size=12), max_size=5)
SIZES = st.sampled_from([64, 128, 512])


def filters_of(sets: list[set[int]], bits: int, hashes: int) -> UInt64s:
    words = np.zeros((len(sets), bits // 64), np.uint64)
    elements = np.array([element for each in sets for element in each], np.uint64)
    set_bits(elements, np.cumsum([0, *map(len, sets)]).astype(np.int64), hashes, words)
    return words


def places(row: UInt64s) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist())


def test_bits_by_hand() -> None:
    element = (5 << 32) | 62  # begins at 62, goes on in steps of 5
    assert places(filters_of([{element}], 64, 3)[0]) == {62, 3, 8}
    assert places(filters_of([{element}], 128, 3)[0]) == {62, 67, 72}
    assert places(filters_of([{element & ~(1 << 32)}], 128, 3)[0]) == {62, 67, 72}  # steps are odd


@settings(deadline=None)
@given(SETS, SIZES, st.integers(1, 6))
def test_bits_are_those_of_the_twin(sets: list[set[int]], bits: int, hashes: int) -> None:
    assert list(map(places, filters_of(sets, bits, hashes))) == [twin.filter_of(each, bits, hashes) for each in sets]


@settings(deadline=None)
@given(SETS, SETS, SIZES)
def test_common_bits_are_counted(some: list[set[int]], others: list[set[int]], bits: int) -> None:
    a, b = filters_of(some, bits, 4), filters_of(others, bits, 4)
    expected = [[len(places(x) & places(y)) for y in b] for x in a]
    assert common_bits(a, b).tolist() == expected or not others


def zeros_of(words: UInt64s) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    zeros: np.ndarray[tuple[int], np.dtype[np.float64]] = 1 - np.bitwise_count(words).sum(axis=1) / (
        64.0 * words.shape[1]
    )
    return zeros


@settings(deadline=None, max_examples=300)
@given(SETS, SIZES, st.sampled_from([0.3, 0.5, 0.7, 1.0]), st.booleans())
def test_near_rows_are_those_of_the_twin(sets: list[set[int]], bits: int, threshold: float, triangle: bool) -> None:
    words = filters_of(sets, bits, 4)
    rows = [places(row) for row in words]
    assume(all(len(row) < bits for row in rows))
    few = (1 - 1 / bits) ** (4 * 3.5)
    found = set(map(tuple, near(words, words, zeros_of(words), zeros_of(words), threshold, few, triangle).tolist()))
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            if len(a | b) == bits or (triangle and j >= i):
                continue
            by = twin.is_near(a, b, bits, 4, threshold, 3.5)
            assert abs(by) < 1e-9 or ((i, j) in found) == (by > 0)


def test_there_is_room_for_many_pairs() -> None:
    words = filters_of([{1, 2, 3, 4, 5}] * 40, 512, 4)
    pairs = near(words, words, zeros_of(words), zeros_of(words), 0.7, 0.99, True)
    assert sorted(map(tuple, pairs.tolist())) == [(i, j) for i in range(40) for j in range(i)]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=14))
def test_roots_are_the_first_that_can_be_reached(pairs: list[tuple[int, int]]) -> None:
    parents: Int64s = np.arange(12)
    join(parents, np.array(pairs, np.int64).reshape(-1, 2))
    assert roots(parents).tolist() == twin.components(12, pairs)
