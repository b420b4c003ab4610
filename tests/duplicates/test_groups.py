"""Incremental grouping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duplicates.builders import pages
from pagekin.duplicates import groups as grouper_module
from pagekin.duplicates.groups import DuplicateGroup, Grouper, complete_linkage, single_linkage
from pagekin.duplicates.settings import GroupSettings
from reference import filters as reference

CHAIN = [range(k, k + 40) for k in (0, 8, 16)]  # neighbours share 32 of 40, the ends 24


def grouped(sets: Sequence[Iterable[int]], ranks: list[float] | None = None, **wanted: object) -> list[list[int]]:
    grouper = Grouper(GroupSettings(**wanted))  # type: ignore[arg-type]
    grouper.add(pages(*sets))
    return named(grouper.groups(ranks))


def named(groups: list[DuplicateGroup[int]]) -> list[list[int]]:
    return [[group.anchor, *(member.page for member in group.members)] for group in groups]


# --- by hand -------------------------------------------------------------------------------------


def test_near_duplicates_are_grouped_under_the_best_ranked() -> None:
    sets = [range(40), range(100, 140), range(38)]
    assert grouped(sets) == [[0, 2], [1]]
    assert grouped(sets, ranks=[3, 2, 1]) == [[2, 0], [1]]
    assert grouped(sets, ranks=[1, 1, 1]) == [[0, 2], [1]]  # of equal ranks the first comes first


def test_single_linkage_groups_chains_and_complete_linkage_does_not() -> None:
    assert grouped(CHAIN) == [[0, 1, 2]]
    assert grouped(CHAIN, link="complete") in ([[0, 1], [2]], [[0], [1, 2]])


def test_members_carry_their_true_similarity_to_the_anchor_even_below_the_threshold() -> None:
    grouper = Grouper()
    grouper.add(pages(*CHAIN))
    near, far = grouper.groups()[0].members
    assert near.overlap.similarity == pytest.approx(32 / 40, abs=0.03)
    assert far.overlap.similarity == pytest.approx(24 / 40, abs=0.03)


def test_members_tell_whether_they_contain_or_are_contained() -> None:
    grouper = Grouper()
    grouper.add(pages(range(40), range(80), range(20)))
    larger, smaller = grouper.groups()[0].members
    assert (larger.overlap.a_in_b, larger.overlap.b_in_a) == (False, True)
    assert (smaller.overlap.a_in_b, smaller.overlap.b_in_a) == (True, False)


def test_the_threshold_decides() -> None:
    assert grouped(CHAIN[:2], threshold=0.7) == [[0, 1]]
    assert grouped(CHAIN[:2], threshold=0.9) == [[0], [1]]


def test_pages_without_chunks_are_alone() -> None:
    assert grouped([[], [], range(9), []]) == [[0], [1], [2], [3]]


def test_a_small_page_is_found_in_one_that_needs_a_larger_filter() -> None:
    small, large, other = range(50), range(3000), range(9000, 12_000)
    for order in ([small, large, other], [large, other, small], [other, small, large]):
        pairs = grouped(order)
        assert sorted(map(len, pairs)) == [1, 2]
        assert [order.index(other)] in pairs


def test_unrelated_pages_of_any_length_are_not_grouped() -> None:
    sets = [range(5000 * k, 5000 * k + 1 + k * k * k % 700) for k in range(1, 60)]
    assert all(len(group) == 1 for group in grouped(sets))


# --- laws ----------------------------------------------------------------------------------------

SETS = st.lists(
    st.builds(lambda start, size: range(start, start + size), st.integers(0, 30), st.integers(0, 60)), max_size=9
)


@settings(deadline=None, max_examples=60)
@given(SETS, st.data())
def test_groups_do_not_depend_on_the_batches_of_addition(ranges: list[range], data: st.DataObject) -> None:
    wanted = GroupSettings(filter_bits=256)  # then pages need filters of several sizes
    at_once, by_and_by = Grouper(wanted), Grouper(wanted)
    expected = sorted_pairs(at_once.add(pages(*ranges)).tolist())
    found: list[list[int]] = []
    place = 0
    while place < len(ranges):
        step = data.draw(st.integers(1, len(ranges) - place))
        found += by_and_by.add(pages(*ranges[place : place + step])).tolist()
        place += step
    assert sorted_pairs(found) == expected
    assert at_once.groups() == by_and_by.groups()


def sorted_pairs(pairs: list[list[int]]) -> list[tuple[int, ...]]:
    return sorted(tuple(sorted(pair)) for pair in pairs)


@settings(deadline=None, max_examples=60)
@given(SETS)
def test_pairs_are_those_whose_similarity_reaches_the_threshold(ranges: list[range]) -> None:
    grouper = Grouper(GroupSettings(filter_bits=256))
    found = grouper.add(pages(*ranges)).tolist()
    full = [k for k, each in enumerate(ranges) if len(each)]
    pairs = [(b, a) for b in full for a in full if a < b]
    overlaps = grouper.fingerprints.overlaps(np.array(pairs, np.int64).reshape(-1, 2))
    near = [tuple(sorted(pair)) for pair, each in zip(pairs, overlaps, strict=True) if each.similarity >= 0.7]
    assert sorted_pairs(found) == sorted(near)


def test_of_many_copies_few_pairs_are_kept() -> None:
    grouper = Grouper()
    for _ in range(3):
        grouper.add(pages(*[range(40)] * 10))
    assert len(grouper.pairs) == 29 and named(grouper.groups()) == [list(range(30))]


def test_groups_are_available_after_every_addition() -> None:
    grouper = Grouper()
    assert grouper.add(pages(range(40))).tolist() == []
    assert grouper.add(pages(range(40))).tolist() == [[1, 0]]
    assert named(grouper.groups()) == [[0, 1]]
    grouper.add(pages(range(90, 99)))
    assert named(grouper.groups()) == [[0, 1], [2]]


def test_smaller_filters_are_rebuilt_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [*(range(50 * k, 50 * k + 50) for k in range(6)), range(2000)]
    expected = grouped(sets)
    monkeypatch.setattr(grouper_module, "_BATCH_BYTES", 1)
    assert grouped(sets) == expected == [[0, 1, 2, 3, 4, 5, 6]]


PAIRS = st.dictionaries(
    st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1]),
    st.floats(0.1, 1.0),
    max_size=20,
)


@given(PAIRS)
def test_complete_linkage_equals_its_definition(similarity: dict[tuple[int, int], float]) -> None:
    # Each similarity once: of equal ones the definition leaves open which comes first.
    distinct = {pair: k for k, pair in enumerate(sorted(similarity, key=lambda p: (similarity[p], p)), 1)}
    pairs = np.array(list(distinct), np.int64).reshape(-1, 2)
    found = complete_linkage(8, pairs, list(distinct.values()))
    assert found.tolist() == reference.complete_links(8, {pair: float(value) for pair, value in distinct.items()})


@settings(deadline=None)
@given(PAIRS)
def test_complete_groups_are_cliques_and_lie_within_single_linkage_groups(pairs: dict[tuple[int, int], float]) -> None:
    rows = np.array(list(pairs), np.int64).reshape(-1, 2)
    complete, chains = complete_linkage(8, rows, list(pairs.values())), single_linkage(8, rows)
    for a in range(8):
        for b in range(a + 1, 8):
            if complete[a] == complete[b]:
                assert (a, b) in pairs and chains[a] == chains[b]
