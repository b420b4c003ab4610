"""How words and links are mixed, and which share of links is taken."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from learning.builders import counted, links, topical, whole
from pagekin.learning.corpus import CorpusPart, part_of
from pagekin.learning.link_share import SHARES, HiddenLinks, LinkShareTuner, hide_links, visible_similarity
from pagekin.learning.ranking import AP, MEASURES, Ranker, page_queries
from pagekin.links.link_graph import StoredLinks
from pagekin.links.measures import link_similarity
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.weighting import Learned, Network
from pagekin.search.text import shares_of_own

FLAT = Network(0.0, 1.0, (), (), (), 0.0)
EQUAL = Learned(FLAT, FLAT, FLAT)  # terms weigh the same: a similarity by words is the share of terms that are there
PAGES = [{1: 1, 2: 1, 3: 1}, {1: 1, 2: 1}, {3: 1, 4: 1}, {4: 1, 5: 2}]
HIDDEN = HiddenLinks(whole(PAGES, [(0, 3)]), whole(PAGES, [(0, 1)]))
LINKED = {0: 3, 3: 0}


def beside(page: int) -> tuple[Int64s, Floats]:
    """Pages 0 and 3 are half similar by links."""
    other = LINKED.get(page)
    return (np.empty(0, np.int64), np.empty(0)) if other is None else (np.array([other]), np.array([0.5]))


def pairs(part: CorpusPart) -> set[tuple[int, int]]:
    rows = np.repeat(np.arange(len(part)), np.diff(part.link_offsets))
    return set(zip(rows.tolist(), part.link.tolist(), strict=True))


def web(of: Iterable[tuple[int, int]], pages: int) -> StoredLinks:
    found = links(of)
    return StoredLinks(found.citing, found.cited, np.arange(len(found.citing)), np.ones(pages, bool), list)


def test_links_are_hidden_or_known_from_both_sides_about_half_of_them() -> None:
    counts, found = topical()
    part = part_of(np.arange(len(counts)), counts, found)
    hidden_links = hide_links(part, 1)
    hidden, known = pairs(hidden_links.hidden), pairs(hidden_links.known)
    assert hidden | known == pairs(part)
    assert not hidden & known
    assert hidden == {(b, a) for a, b in hidden}
    assert 0.4 < len(hidden) / len(pairs(part)) < 0.6
    assert pairs(hide_links(part, 1).hidden) == hidden != pairs(hide_links(part, 2).hidden)


def test_hidden_pairs_are_named_as_in_the_collection() -> None:
    part = part_of(np.array([3, 7, 9]), counted([{1: 1, 2: 1}] * 12), links([(3, 7)]))
    first, second = HiddenLinks(part, part).pairs()
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == [(3, 7), (7, 3)]


def test_hidden_links_and_those_of_the_other_part_say_nothing() -> None:
    there = [(0, 2), (1, 2), (1, 3), (4, 1), (3, 0), (2, 4)]
    every = [*there, (0, 1), (1, 0), (4, 5), (5, 4), (5, 4)]
    counts = counted([{1: 1, 2: 1}] * 6)
    first, other = (part_of(np.array(each), counts, links(every)) for each in ([0, 1], [4, 5]))
    say, wanted = (
        visible_similarity(web(every, 6), HiddenLinks(first, first), other),
        link_similarity(web(there, 6)).similar_to,
    )
    for page in range(6):
        for ours, theirs in zip(say(page), wanted(page), strict=True):
            assert ours.tolist() == theirs.tolist()


def test_a_similarity_by_words_is_a_share_of_what_the_page_itself_scores() -> None:
    """Page 0 has three terms, of which the pages have 3, 2, 1 and 0."""
    queries = page_queries(HIDDEN.hidden, np.array([0]))
    ((_, scores),) = Ranker(HIDDEN.hidden, EQUAL, queries).rows()
    assert shares_of_own(scores, queries.pages)[0].tolist() == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert shares_of_own(3.0 * np.array([[1.0, 2.0]]), np.array([0])).tolist() == [[1.0, 1.0]]
    assert shares_of_own(np.zeros((1, 2)), np.array([0])).tolist() == [[0.0, 0.0]]


def test_the_more_links_count_the_higher_comes_what_they_know() -> None:
    """For page 0, page 1 is known; page 2 has (1 - s) / 3 and page 3, which is right, s / 2: it comes first beyond 0.4.

    For page 3, page 2 has (1 - s) / 2 and page 0, which is right, s / 2: it comes first from 0.5 on, where they are
    equal.
    """
    tuner = LinkShareTuner(HIDDEN, EQUAL, beside, page_queries(HIDDEN.hidden))
    average = tuner.measure((0.0, 0.25, 0.45, 0.5))[:, :, MEASURES.index(AP)]
    assert average.tolist() == [[0.0, 0.0], [0.5, 0.5], [1.0, 0.5], [1.0, 1.0]]


def test_of_shares_that_do_equally_well_the_smallest_is_taken() -> None:
    tuner = LinkShareTuner(HIDDEN, EQUAL, beside, page_queries(HIDDEN.hidden))
    assert tuner.best_share() == (0.5, {"text": 0.0, "text_and_links": 1.0})


def test_where_nothing_is_hidden_links_have_no_share() -> None:
    nothing = HiddenLinks(whole(PAGES, []), whole(PAGES, [(0, 1)]))
    assert LinkShareTuner(nothing, EQUAL, beside, page_queries(nothing.hidden)).best_share() == (0.0, {})


def test_links_that_know_nothing_have_no_share() -> None:
    tuner = LinkShareTuner(
        HIDDEN, EQUAL, lambda _: (np.array([2]), np.array([1.0])), page_queries(HIDDEN.hidden, np.array([0]))
    )
    assert tuner.best_share()[0] == 0.0


def test_words_always_keep_a_say() -> None:
    assert SHARES[0] == 0.0
    assert 0.9 < max(SHARES) < 1.0
