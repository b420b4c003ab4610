"""Candidates from the lists of rare elements."""

from __future__ import annotations

from math import ceil

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.duplicates.collection import invert_chunks
from pagekin.duplicates.filters import Chunks
from pagekin.kernels.rare_elements import NO_LIST, ShareBounds, probe, set_hashes
from pagekin.model.arrays import Int64s
from reference import rare_elements as reference

SETS = st.lists(st.lists(st.integers(0, 14), unique=True, max_size=8), min_size=1, max_size=10)
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


@settings(deadline=None, max_examples=300)
@given(SETS, st.sampled_from([0.3, 0.7, 1.0]), st.integers(2, 6), st.integers(0, 3), st.integers(1, 9), st.data())
def test_candidates_are_those_of_the_reference(
    sets: list[list[int]], share: float, most: int, few: int, room: int, data: st.DataObject
) -> None:
    groups = data.draw(st.lists(st.integers(0, len(sets) - 1), min_size=len(sets), max_size=len(sets)))
    parents = np.array([groups.index(group) for group in groups])
    wanted = [ceil(share * len(each)) for each in sets]
    found, cut = probed(sets, wanted, ShareBounds(most, few), parents, room)
    assert len(found) == len(set(found))
    assert (set(found), cut) == reference.candidates(sets, wanted, most, few, groups)


@settings(deadline=None, max_examples=300)
@given(SETS, st.sampled_from([0.3, 0.7, 1.0]))
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
@given(SETS)
def test_sums_go_by_elements_and_not_by_their_order(sets: list[list[int]]) -> None:
    turned = [each[::-1] for each in sets]
    sums = [set_hashes(chunks_of(some).elements, chunks_of(some).offsets).tolist() for some in (sets, turned)]
    assert sums[0] == sums[1]
    for a, one in zip(sets, sums[0], strict=True):
        for b, other in zip(sets, sums[0], strict=True):
            assert (one == other) == (set(a) == set(b))
