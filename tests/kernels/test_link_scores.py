"""Scores by links: kernels and their reference."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from links.builders import link_columns_of
from pagekin.model.link_columns import LIMITS, LinkColumns, LinkLimits
from pagekin.search.link_scorer import LinkScorer, NodeScores
from reference import link_scores as reference
from reference.link_scores import Anchor, Pages

NOT_LOW = LinkLimits(10**6, 256, 256, 10**6)


@st.composite
def collections(draw: st.DrawFn) -> Pages:
    """Few pages with many links. Some links do not count; links of a page to itself never do."""
    count = draw(st.integers(1, 6))
    link = st.tuples(st.integers(0, 600), st.integers(0, count - 1), st.integers(0, 3))
    pages = []
    for page in range(count):
        anchors = sorted(draw(st.lists(link, max_size=9)))
        pages.append([Anchor(word, target, counts > 0 and target != page) for word, target, counts in anchors])
    return pages


LIMITED = st.builds(
    LinkLimits, st.sampled_from([1, 2, 3, 2000]), st.just(256), st.sampled_from([0, 1, 2, 256]), st.integers(0, 30)
)


def as_dict(found: NodeScores) -> dict[int, float]:
    nodes, scores = found
    assert len(set(nodes.tolist())) == len(nodes)
    return dict(zip(nodes.tolist(), scores.tolist(), strict=True))


@given(collections(), st.just(NOT_LOW) | LIMITED)
def test_scores_are_those_of_the_reference(pages: Pages, limits: LinkLimits) -> None:
    columns = link_columns_of(pages)
    scorer = LinkScorer(columns, limits)
    for node in range(len(pages)):
        proximity = as_dict(scorer.proximity(node))
        cocitation = as_dict(scorer.cocitation(node))
        coupling = as_dict(scorer.coupling(node))
        shares = as_dict(scorer.link_shares(node))
        assert proximity == pytest.approx(reference.proximity(pages, node, limits))
        assert cocitation == pytest.approx(reference.cocitation(pages, node, limits))
        assert coupling == pytest.approx(reference.coupling(pages, node, limits))
        assert shares == pytest.approx(reference.link_shares(pages, node))
        every = (proximity, cocitation, coupling, shares)
        assert all(0.0 < score <= 1.0 for found in every for score in found.values())


@given(collections(), st.data())
def test_rarest_shared_targets_are_those_of_the_reference(pages: Pages, data: st.DataObject) -> None:
    """Node numbers from the number of pages on are known only from links: they link to nothing."""
    node, most = st.integers(0, len(pages)), data.draw(st.integers(1, 3))
    queries, nodes = data.draw(st.lists(node, min_size=1, max_size=2)), data.draw(st.lists(node, max_size=4))
    scorer = LinkScorer(link_columns_of(pages))
    known = [*pages, []]
    expected = [reference.rarest_shared(known, queries, node, most) for node in nodes]
    for _ in range(2):  # the first call leaves no trace
        found = scorer.rarest_shared(queries, np.array(nodes, np.int64), most)
        assert [[each for each in row if each >= 0] for row in found.tolist()] == expected


@given(collections())
def test_proximity_cocitation_and_coupling_are_symmetric(pages: Pages) -> None:
    scorer = LinkScorer(link_columns_of(pages), NOT_LOW)
    for score in (scorer.proximity, scorer.cocitation, scorer.coupling):
        rows = [as_dict(score(node)) for node in range(len(pages))]
        for node, row in enumerate(rows):
            assert row == pytest.approx(
                {other: rows[other][node] for other in range(len(pages)) if node in rows[other]}
            )


# Page 0 links to 1 (word 0), to 2 (word 64) and to 1 once more (word 96); page 3 links to 2 (word 200).
FOUR = [[Anchor(0, 1, True), Anchor(64, 2, True), Anchor(96, 1, True)], [], [], [Anchor(200, 2, True)]]


def test_proximity_by_hand() -> None:
    """The links to 1 and 2 are 32 words apart at the closest; one page cites 1, two cite 2."""
    scorer = LinkScorer(link_columns_of(FOUR))
    assert as_dict(scorer.proximity(1)) == pytest.approx({2: (64 / 96) / sqrt(4 * 5)})
    assert as_dict(scorer.proximity(0)) == {}


def test_cocitation_by_hand() -> None:
    """Page 0 cites both 1 and 2, however far apart; one page cites 1, two cite 2."""
    scorer = LinkScorer(link_columns_of(FOUR))
    assert as_dict(scorer.cocitation(1)) == pytest.approx({2: 1 / sqrt(4 * 5)})
    far = [[Anchor(7, 1, True), Anchor(100_007, 2, True)], [], []]
    assert as_dict(LinkScorer(link_columns_of(far)).cocitation(1)) == pytest.approx({2: 1 / 4})


def test_coupling_by_hand() -> None:
    """Both 0 and 3 link to 2. Its weight is ln(4 / 2), that of 1 is ln 4, and the shrinkage 3/2 of their squares."""
    two, one = log(2) ** 2, log(4) ** 2
    more = 3 * (one + two) / 2
    expected = two / sqrt((one + two + more) * (two + more))
    scorer = LinkScorer(link_columns_of(FOUR))
    assert as_dict(scorer.coupling(0)) == pytest.approx({3: expected})
    assert as_dict(scorer.coupling(3)) == pytest.approx({0: expected})


def test_link_shares_by_hand() -> None:
    """A link at word 200 has half of the weight of one at the beginning; 2 of 4 pages link to 2."""
    rarity = log(1 + 4 / 3) / log(5)
    scorer = LinkScorer(link_columns_of(FOUR))
    assert as_dict(scorer.link_shares(3)) == pytest.approx({2: sqrt(0.5) * rarity / (1 + sqrt(0.5) * rarity)})
    assert as_dict(scorer.link_shares(1)) == {}


def test_links_further_apart_than_256_words_are_not_close() -> None:
    def found(apart: int) -> list[int]:
        pages = [[Anchor(7, 1, True), Anchor(7 + apart, 2, True)], [], []]
        return list(as_dict(LinkScorer(link_columns_of(pages)).proximity(1)))

    assert (found(256), found(257)) == ([2], [])


def test_of_many_links_to_a_page_some_are_looked_at_evenly_spaced() -> None:
    """Ten pages link to 0, and to the next of pages 1 to 10 beside it; of the ten links, 0, 3 and 6 are taken."""
    pages: list[list[Anchor]] = [[] for _ in range(11)]
    pages += [[Anchor(5, 0, True), Anchor(6, k + 1, True)] for k in range(10)]
    scorer = LinkScorer(link_columns_of(pages), LIMITS._replace(links=3))
    assert sorted(as_dict(scorer.proximity(0))) == [1, 4, 7]


def test_scores_of_one_page_leave_nothing_to_those_of_the_next() -> None:
    columns = link_columns_of(FOUR)
    scorer = LinkScorer(columns)
    for node in (0, 1, 2, 3, 0):
        for name in ("proximity", "cocitation", "coupling", "link_shares"):
            fresh = getattr(LinkScorer(columns), name)(node)
            assert as_dict(getattr(scorer, name)(node)) == as_dict(fresh)


@given(st.data())
def test_scores_of_nodes_are_those_found_and_else_0(data: st.DataObject) -> None:
    scores = data.draw(st.dictionaries(st.integers(0, 3), st.floats(0.1, 1.0)))
    nodes = data.draw(st.lists(st.integers(0, 99)))  # from 4 on these are URLs that are known only from links
    found = np.array(list(scores), np.int64), np.array(list(scores.values()))
    scorer = LinkScorer(link_columns_of(FOUR))
    for _ in range(2):
        looked_up = scorer.looked_up(found, np.array(nodes, np.int64))
        assert looked_up.tolist() == [scores.get(node, 0.0) for node in nodes]


def damaged(columns: LinkColumns, name: str, place: int, value: int) -> LinkColumns:
    column = getattr(columns, name).copy()
    column[place % len(column)] = value
    column.flags.writeable = False
    return columns._replace(**{name: column})


@given(
    collections().filter(lambda pages: sum(map(len, pages)) > 0),
    st.sampled_from(["page", "anchor", "start", "target", "counting", "node_of_target", "in_degree"]),
    st.integers(0, 99),
    st.sampled_from([0, 1, 7, 200, 255, 2**31, 2**32 - 1]),
)
def test_numbers_that_are_out_of_range_are_skipped(pages: Pages, name: str, place: int, value: int) -> None:
    """With NUMBA_BOUNDSCHECK, which the campaign sets, a number that leads out of an array is an error."""
    columns = link_columns_of(pages)
    if len(getattr(columns, name)):
        most = {"counting": 255, "in_degree": len(pages)}.get(name, value)  # larger in-degrees are found at opening
        columns = damaged(columns, name, place, min(value, most))
    scorer = LinkScorer(columns)
    for node in range(len(pages)):
        for found in (scorer.proximity(node), scorer.coupling(node), scorer.link_shares(node)):
            assert set(as_dict(found)) <= set(range(len(pages)))
