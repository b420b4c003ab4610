"""Near-duplicates of a collection, without comparing all pages with all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from duplicates.builders import pages
from pagekin.duplicates import collection
from pagekin.duplicates.collection import PageSets, _parts, find_pairs, first_copies, groups_of, invert_chunks
from pagekin.duplicates.fingerprints import Fingerprints, filters_of
from pagekin.duplicates.groups import Grouper
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError

# Sets that overlap much: from a few stretches of numbers, with some others.
STRETCHES = st.tuples(st.integers(0, 3), st.integers(1, 12), st.sets(st.integers(100, 140), max_size=6)).map(
    lambda drawn: [*range(20 * drawn[0], 20 * drawn[0] + drawn[1]), *sorted(drawn[2])]
)
CROWDS = st.lists(STRETCHES, max_size=12)
DEFAULT = GroupSettings()


def fingerprints_of(*sets: list[int], settings: GroupSettings = DEFAULT) -> Fingerprints:
    made = pages(*sets)
    return Fingerprints(settings, made, filters_of(made, settings))


@given(CROWDS, st.sampled_from([0.5, 0.7, 0.9]))
def test_every_pair_of_a_full_comparison_is_found(sets: list[list[int]], threshold: float) -> None:
    options = GroupSettings(threshold=threshold, link="complete")
    grouper = Grouper(options)
    expected = {(max(pair), min(pair)) for pair in grouper.add(pages(*sets)).tolist()}
    found = find_pairs(PageSets(fingerprints_of(*sets)), options, every=True)
    assert set(map(tuple, found.pairs.tolist())) == expected


@given(CROWDS, st.sampled_from(["single", "complete"]))
def test_groups_equal_those_of_a_full_comparison(sets: list[list[int]], link: str) -> None:
    options = GroupSettings(link=link)
    grouper = Grouper(options)
    grouper.add(pages(*sets))
    ranks = np.random.default_rng(len(sets)).permutation(len(sets))
    evidence = PageSets(fingerprints_of(*sets))
    found = find_pairs(evidence, options, every=link == "complete")
    made = groups_of(evidence, found, np.argsort(ranks), options)
    expected = [each for each in grouper.groups(ranks.tolist()) if each.members]
    assert [(each.anchor, [m.page for m in each.members]) for each in made] == [
        (each.anchor, [m.page for m in each.members]) for each in expected
    ]
    assert [m.overlap for each in made for m in each.members] == [m.overlap for each in expected for m in each.members]


def test_copies_are_found_without_comparing_all_pairs() -> None:
    copies = fingerprints_of(*([list(range(30))] * 500), list(range(100, 130)))
    found = find_pairs(PageSets(copies), DEFAULT)
    assert (len(found.pairs), found.compared) == (499, 499)


def test_pages_without_chunks_have_no_near_duplicates() -> None:
    assert len(find_pairs(PageSets(fingerprints_of([], [], [1, 2, 3, 4])), DEFAULT).pairs) == 0
    assert first_copies(pages([], [5], [], [5])).tolist() == [0, 1, 2, 1]


def test_large_pages_are_compared_in_larger_filters() -> None:
    """In 2,048 bits both would be all but full, and anything would be inside them."""
    large, other = list(range(3000)), list(range(10_000, 13_000))
    found = find_pairs(PageSets(fingerprints_of(large, other, large[:2900], list(range(5000, 5040)))), DEFAULT)
    assert found.pairs.tolist() == [[2, 0]]


def test_pages_with_too_frequent_chunks_are_counted() -> None:
    """A thousand and ten pages share all that they have but one chunk: each is compared with some before it."""
    crowd = fingerprints_of(*([*range(9), 1000 + k] for k in range(1010)))
    found = find_pairs(PageSets(crowd), DEFAULT)
    assert found.cut == 1010
    assert len(found.pairs) == 1009


def test_too_many_pairs_for_complete_linkage_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "MAX_PAIRS", 10)
    with pytest.raises(MisuseError, match="more than 10 pairs"):
        find_pairs(PageSets(fingerprints_of(*([[1, 2, 3, 4, 5]] * 10))), GroupSettings(link="complete"), every=True)


def test_inverted_lists_do_not_depend_on_sorting_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = pages(*([k, k + 1, k + 2] for k in range(40)))
    at_once = invert_chunks(crowd)
    monkeypatch.setattr("pagekin.duplicates.collection._BATCH_ELEMENTS", 16)
    assert len(list(_parts(crowd.elements))) == 8
    in_parts = invert_chunks(crowd)
    assert [each.tolist() for each in in_parts] == [each.tolist() for each in at_once]


# --- links ---------------------------------------------------------------------------------------


def test_similarity_is_the_weighted_sum_of_text_and_links() -> None:
    """By hand: 6 of 10 chunks in common and 8 of 8 links are .7 * .6 + .3 * 1 = .72; without links in common .42."""
    a, b = [*range(10)], [*range(6), *range(50, 54)]
    options = GroupSettings(link_weight=0.3)
    same = fingerprints_of([*range(200, 208)], [*range(200, 208)])
    other = fingerprints_of([*range(200, 208)], [*range(300, 308)])
    none = fingerprints_of([], [])
    texts = fingerprints_of(a, b)
    pair = np.array([[1, 0]])
    assert PageSets(texts, same, 0.3).similarities(pair).round(6).tolist() == [0.72]
    assert PageSets(texts, other, 0.3).similarities(pair).round(6).tolist() == [0.42]
    assert PageSets(texts, none, 0.3).similarities(pair).round(6).tolist() == [0.6]  # compared by text alone
    assert find_pairs(PageSets(texts, same, 0.3), options).pairs.tolist() == [[1, 0]]
    assert find_pairs(PageSets(texts, other, 0.3), options).pairs.tolist() == []


def test_links_cannot_decide_alone() -> None:
    with pytest.raises(MisuseError, match=r"link_weight is 0\.7"):
        GroupSettings(link_weight=0.7)
