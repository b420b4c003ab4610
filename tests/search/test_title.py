"""Titles as evidence."""

from math import hypot, log
from pathlib import Path

import numpy as np
import pytest

from pagekin.index.titles import open_titles, write_titles
from pagekin.search.query import Bag, Query
from pagekin.search.title import TitleEvidence

TITLES = ["old oak", "oak trees", "the oak", "the elm", "", "rye"]


@pytest.fixture
def evidence(tmp_path: Path) -> TitleEvidence:
    write_titles(tmp_path, TITLES)
    return TitleEvidence(open_titles(tmp_path, len(TITLES)))


def query(*nodes: int, title: str = "") -> Query:
    return Query(
        nodes, Bag(np.empty(0, np.uint32), np.empty(0, np.float32)), np.empty(0, np.uint32), None, title, nodes
    )


def weights(*words: tuple[int, int]) -> list[float]:
    """Of the words of a title, each given by its place and the number of titles that have it."""
    raw = [4 / (4 + place) * log(len(TITLES) / df) ** 1.5 for place, df in words]
    return [weight / hypot(*raw) for weight in raw]


def test_the_score_is_the_cosine_of_rare_and_early_words(evidence: TitleEvidence) -> None:
    """`oak` is in three titles, `the` in two, `old` and `trees` in one each."""
    old_oak, oak_trees, the_oak = weights((0, 1), (1, 3)), weights((0, 3), (1, 1)), weights((0, 2), (1, 3))
    scores = evidence.scores(query(0), np.arange(len(TITLES)))
    assert scores.tolist() == pytest.approx(
        [1.0, old_oak[1] * oak_trees[0], old_oak[1] * the_oak[1], 0, 0, 0], abs=1e-6
    )


def test_all_pairs_have_the_scores_of_queries(evidence: TitleEvidence) -> None:
    nodes = np.array([3, 0, -1, 2, 5, 1])
    rows = evidence.pair_scores(nodes, lambda node: query(node)).scores(np.arange(len(nodes)))
    for row, node in zip(rows, nodes.tolist(), strict=True):
        expected = [
            float(evidence.scores(query(node), np.array([other]))[0]) if min(node, other) >= 0 else 0.0
            for other in nodes.tolist()
        ]
        assert row.tolist() == pytest.approx(expected, abs=1e-9)


def test_candidates_share_words_and_are_not_the_page_itself(evidence: TitleEvidence) -> None:
    assert sorted(evidence.candidates(query(2), 5).tolist()) == [0, 1, 3]
    assert sorted(evidence.candidates(query(2), 2).tolist()) == [1, 3]  # `the` is rarer than `oak`
    assert evidence.candidates(query(2), 1).tolist() == [3]
    assert evidence.candidates(query(4), 5).tolist() == []
    assert evidence.scores(query(4), np.arange(3)).tolist() == [0, 0, 0]


def test_several_pages_get_the_mean_of_their_scores(evidence: TitleEvidence) -> None:
    nodes = np.arange(len(TITLES))
    mean = (evidence.scores(query(0), nodes) + evidence.scores(query(3), nodes)) / 2
    assert evidence.scores(query(0, 3), nodes).tolist() == pytest.approx(mean.tolist(), abs=1e-9)


def test_a_title_from_outside_is_compared_by_the_words_that_are_known(evidence: TitleEvidence) -> None:
    assert evidence.scores(query(title="The Elm, unheard-of"), np.arange(6))[3] == pytest.approx(1.0)
    assert evidence.candidates(query(title="Elms"), 5).tolist() == []


def test_the_reason_is_the_words_that_both_titles_have(evidence: TitleEvidence) -> None:
    assert evidence.explain(query(2), np.array([3, 1, 5])) == [{"words": ["the"]}, {"words": ["oak"]}, {}]


def test_nodes_without_a_page_have_no_title(evidence: TitleEvidence) -> None:
    assert evidence.scores(query(0), np.array([6, 1]))[0] == 0
    assert evidence.explain(query(0), np.array([9])) == [{}]
