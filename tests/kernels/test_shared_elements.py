"""Bloom filters: bits, what rows share, near rows, union-find."""

from __future__ import annotations

from math import ceil

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.duplicates.collection import invert_chunks
from pagekin.duplicates.filters import BloomFilters, Chunks
from pagekin.kernels.graph import join, roots
from pagekin.kernels.shared_elements import (
    NO_LIST,
    FilterRows,
    ShareBounds,
    _longer,
    make_filter_rows,
    near,
    probe,
    set_bits,
    set_hashes,
)
from pagekin.model.arrays import Int64s, UInt64s
from reference import filters as reference
from reference import rare_elements

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


@given(
    st.lists(st.tuples(st.integers(), st.integers()).filter(lambda pair: max(map(abs, pair)) < 2**63)),
    st.integers(0, 9),
)
def test_a_longer_array_begins_with_the_same_pairs(pairs: list[tuple[int, int]], more: int) -> None:
    array = np.array(pairs, np.int64).reshape(-1, 2)
    longer = _longer(array, more)
    kept = reference.longer(pairs, more)
    assert len(longer) == len(kept)
    assert [pair for pair, expected in zip(longer.tolist(), kept, strict=True) if expected] == list(map(list, pairs))


def test_bits_by_hand() -> None:
    element = (5 << 32) | 62  # begins at 62, goes on in steps of 5
    assert places(filters_of([{element}], 64, 3)[0]) == {62, 3, 8}
    assert places(filters_of([{element}], 128, 3)[0]) == {62, 67, 72}
    assert places(filters_of([{element & ~(1 << 32)}], 128, 3)[0]) == {62, 67, 72}  # steps are odd


@settings(deadline=None)
@given(SETS, SIZES, st.integers(1, 6))
def test_bits_are_those_of_the_reference(sets: list[set[int]], bits: int, hashes: int) -> None:
    assert list(map(places, filters_of(sets, bits, hashes))) == [
        reference.filter_of(each, bits, hashes) for each in sets
    ]


def rows(sets: list[set[int]], bits: int, threshold: float) -> FilterRows:
    """Filters as `near` takes them."""
    counts = np.array([len(each) for each in sets], np.int64)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    elements = np.array([element for each in sets for element in each], np.uint64)
    made = BloomFilters.of(Chunks(offsets, elements, np.zeros((len(sets), 2), np.uint64)), bits, 4)
    return make_filter_rows(made.words, made.zeros(), made.powers(threshold), counts < 4)


@given(SETS, SETS, SIZES, st.sampled_from([0.3, 0.5, 0.7, 1.0]), st.booleans())
def test_near_rows_are_those_of_the_reference(
    some: list[set[int]], others: list[set[int]], bits: int, threshold: float, triangle: bool
) -> None:
    others = some if triangle else others
    a, b = rows(some, bits, threshold), rows(others, bits, threshold)
    found = set(map(tuple, near(a, b, triangle).tolist()))
    for i, mine in enumerate(map(places, a.words)):
        for j, theirs in enumerate(map(places, b.words)):
            if (triangle and j >= i) or not mine or not theirs or len(mine | theirs) == bits:
                continue
            counts = len(some[i]), len(others[j])
            by = reference.nearness(mine, theirs, counts, bits, 4, threshold)
            assert abs(by) < 1e-9 or ((i, j) in found) == (by > 0)


def test_there_is_room_for_many_pairs() -> None:
    same = rows([{1, 2, 3, 4, 5}] * 40, 512, 0.7)
    assert sorted(map(tuple, near(same, same, True).tolist())) == [(i, j) for i in range(40) for j in range(i)]


def test_a_sketch_is_the_filter_of_a_quarter_of_the_size() -> None:
    sets = [set(range(1, 9)), {7 << 32 | 500}]
    assert rows(sets, 512, 0.7).sketches.tolist() == filters_of(sets, 128, 4).tolist()


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=14))
def test_roots_are_the_first_that_can_be_reached(pairs: list[tuple[int, int]]) -> None:
    parents: Int64s = np.arange(12)
    joined = join(parents, np.array(pairs, np.int64).reshape(-1, 2))
    assert roots(parents).tolist() == reference.components(12, pairs)
    assert joined.sum() == 12 - len(set(roots(parents).tolist()))


# --- rare elements ---------------------------------------------------------------------------------------

SMALL_SETS = st.lists(st.lists(st.integers(0, 14), unique=True, max_size=8), min_size=1, max_size=10)
NO_BOUNDS = ShareBounds(most=1000, few=0)


def chunks_of(sets: list[list[int]]) -> Chunks:
    elements = np.array([element for each in sets for element in each], np.uint64)
    return Chunks(np.cumsum([0, *map(len, sets)]), elements, np.zeros((len(sets), 2), np.uint64))


def probed(
    sets: list[list[int]], wanted: list[int], bounds: ShareBounds, parents: Int64s, room: int
) -> tuple[list[tuple[int, int]], int]:
    """All pairs, however many calls it takes, and how many sets met a cut list."""
    lists, seen = invert_chunks(chunks_of(sets)), np.full(len(sets), -1, np.int64)
    here, all_pairs, all_cut = 0, [], 0
    while here < len(sets):
        here, pairs, cut = probe(here, np.array(wanted), lists, bounds, parents, seen, room)
        all_pairs += [(a, b) for a, b in pairs.tolist()]
        all_cut += cut
    return all_pairs, all_cut


@given(SMALL_SETS, st.sampled_from([0.3, 0.7, 1.0]), st.integers(2, 6), st.integers(0, 3), st.integers(1, 9), st.data())
def test_candidates_are_those_of_the_reference(
    sets: list[list[int]], share: float, most: int, few: int, room: int, data: st.DataObject
) -> None:
    groups = data.draw(st.lists(st.integers(0, len(sets) - 1), min_size=len(sets), max_size=len(sets)))
    parents = np.array([groups.index(group) for group in groups])
    wanted = [ceil(share * len(each)) for each in sets]
    found, cut = probed(sets, wanted, ShareBounds(most, few), parents, room)
    assert len(found) == len(set(found))
    assert (set(found), cut) == rare_elements.candidates(sets, wanted, most, few, groups)


@given(SMALL_SETS, st.sampled_from([0.3, 0.7, 1.0]))
def test_no_two_sets_that_share_as_much_as_is_wanted_are_missed(sets: list[list[int]], share: float) -> None:
    wanted = [ceil(share * len(each)) for each in sets]
    found = set(probed(sets, wanted, NO_BOUNDS, np.arange(len(sets)), 4)[0])
    for a, some in enumerate(sets):
        for b, others in enumerate(sets):
            if a != b and some and len(set(some) & set(others)) >= wanted[a]:
                assert (a, b) in found


def test_a_set_whose_elements_are_mostly_its_own_is_compared_with_nobody() -> None:
    sets = [[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [1, 2, 3, 4, 5, 11, 12, 13, 14, 15]]
    assert probed(sets, [7, 7], NO_BOUNDS, np.arange(2), 4) == ([], 0)  # by hand: five of ten are shared
    assert probed(sets, [5, 5], NO_BOUNDS, np.arange(2), 4) == ([(0, 1), (1, 0)], 0)


def test_lists_are_of_elements_that_several_have() -> None:
    lists = invert_chunks(chunks_of([[7, 3], [9], [3, 9, 5]]))
    assert lists.numbers.tolist() == [NO_LIST, 0, 1, 0, 1, NO_LIST]
    assert [lists.sets[a:b].tolist() for a, b in zip(lists.begins[:-1], lists.begins[1:], strict=True)] == [
        [0, 2],
        [1, 2],
    ]


@settings(deadline=None)
@given(SMALL_SETS)
def test_sums_go_by_elements_and_not_by_their_order(sets: list[list[int]]) -> None:
    turned = [each[::-1] for each in sets]
    sums = [set_hashes(chunks_of(some).elements, chunks_of(some).offsets).tolist() for some in (sets, turned)]
    assert sums[0] == sums[1]
    for a, one in zip(sets, sums[0], strict=True):
        for b, other in zip(sets, sums[0], strict=True):
            assert (one == other) == (set(a) == set(b))
