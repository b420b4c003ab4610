"""Grouping of one answer."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.duplicates.filters import Chunks
from pagekin.duplicates.fingerprints import Fingerprints, filters_of
from pagekin.duplicates.settings import GroupSettings
from pagekin.model.arrays import offsets_of
from pagekin.search.answer import group_answer

SETTINGS = GroupSettings()
CHUNKS = np.random.default_rng(5).integers(0, 2**64, 40, np.uint64)
# Stretches of the same chunks: some are in others, some share nearly all, some a chunk or two of many.
PAGES = st.tuples(st.integers(0, 27), st.integers(0, 12)).map(lambda page: range(page[0], sum(page)))


def fingerprints_of(pages: list[range], stored: bool = False) -> Fingerprints:
    elements = np.concatenate([np.empty(0, np.uint64), *(CHUNKS[page.start : page.stop] for page in pages)])
    offsets = offsets_of(np.array([len(page) for page in pages], np.int64))
    chunks = Chunks(offsets, elements, np.zeros((len(pages), 2), np.uint64))
    return Fingerprints(SETTINGS, chunks, filters_of(chunks, SETTINGS) if stored else None)


def first_by_all_pairs(fingerprints: Fingerprints, queries: int) -> list[int]:
    """The first page of each page's group, by comparing all pairs; the first pages are one group."""
    first = [0 if page < queries else page for page in range(len(fingerprints))]
    for a in range(len(first)):
        for b in range(a):
            if fingerprints.similarities(np.array([[a, b]]))[0] >= SETTINGS.threshold:
                keep, lose = sorted((first[a], first[b]))
                first = [keep if each == lose else each for each in first]
    return first


@given(st.lists(PAGES, max_size=2), st.lists(PAGES, max_size=7), st.integers(0, 2), st.booleans())
def test_lines_equal_those_of_comparing_all_pairs(
    asked: list[range], listed: list[range], fixed: int, stored: bool
) -> None:
    stay = range(len(asked), len(asked) + fixed)
    first = first_by_all_pairs(fingerprints_of([*asked, *listed]), len(asked))
    groups = [page if page in stay else each for page, each in enumerate(first)][len(asked) :]
    expected: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        expected.setdefault(0 if group < len(asked) else group, []).append(place)
    lines = group_answer(
        fingerprints_of(asked, stored), fingerprints_of(listed, stored), range(len(listed)), len(listed), fixed
    )
    assert [[line.anchor, *line.members] for line in lines] == list(expected.values())
    assert [line.is_duplicate for line in lines] == [group < len(asked) for group in expected]


def test_a_page_is_grouped_under_a_larger_page_that_contains_it() -> None:
    small, large, other = range(5), range(12), range(24, 32)
    [first, second] = group_answer(fingerprints_of([]), fingerprints_of([large, other, small]), range(3), 3, 0)
    assert (first.anchor, first.members, second.anchor, second.members) == (0, [2], 1, [])
