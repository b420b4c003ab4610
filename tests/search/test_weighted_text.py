"""Answers ordered by inner products, on small indexes: against the definition, for every page."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.builders import term_keys
from model.learned import DRAWN
from pagekin.errors import MisuseError
from pagekin.index.index import Index, invert, make_signatures, seeded
from pagekin.model.arrays import Strings
from pagekin.model.bags import HEAD, Bags, Contents, Terms
from pagekin.model.strategy import Strategy
from pagekin.model.weighting import STOP_PAGES, Learned, Okapi
from pagekin.search.blend import Blend
from pagekin.search.query import Query, QueryWeights, TermCounts, query_of_nodes
from pagekin.search.scorer import Scorer, ScorerPool
from pagekin.search.weighted_text import WeightedText
from reference import weighing as reference

WORDS = 8
PAGES = st.dictionaries(st.integers(0, WORDS - 1), st.integers(1, 9), max_size=6)
WEIGHTINGS = st.just(DRAWN) | st.builds(Okapi, st.floats(0, 3), st.floats(0, 1))


def index_of(pages: list[dict[int, int]], outside: int = 0, strategy: Strategy | None = None) -> Index:
    """Pages, and nodes without a page whose bags have windows alone."""
    strategy = strategy or Strategy()
    bags = [*pages, *({0: 0} for _ in range(outside))]
    offsets = np.cumsum([0, *map(len, bags)])
    term = np.array([term for bag in bags for term in bag], np.uint32)
    count = np.array([each for bag in bags for each in bag.values()], np.uint32)
    weight = np.array([1 / len(bag) for bag in bags for _ in bag], np.float32)
    columns = Bags(offsets, term, weight, count, weight)
    names = Strings.of(f"word{k}" for k in range(WORDS))
    frequency = np.array([sum(word in page for page in pages) for word in range(WORDS)], np.int64)
    most = max(STOP_PAGES, 10_000 / 150_625 * len(pages))
    lengths = [sum(n for word, n in page.items() if frequency[word] <= most) for page in pages]
    signatures = make_signatures(columns, seeded(term_keys(names, len(bags)), strategy.seed), strategy.signature_length)
    return Index(
        strategy,
        columns,
        Terms(names, names, np.bincount(term, minlength=WORDS + len(bags))),
        Contents(frequency, np.array(lengths, np.int64)),
        columns.heads(HEAD),
        signatures,
        invert(signatures, np.arange(len(bags))),
    )


def text(index: Index, kind: Okapi | Learned) -> WeightedText:
    """Weighted text as evidence."""
    return WeightedText(index, ScorerPool(partial(Scorer, index)), QueryWeights(index), kind)


def nearest(evidence: WeightedText, query: Query, limit: int) -> list[tuple[float, int]]:
    return Blend([evidence], {"text": 1.0}).nearest(query, limit)


def test_okapi_by_hand() -> None:
    """Four pages of 2, 2, 4 and 1 words, 9/4 in the mean. Words 0 and 1 are on three and two pages.

    K ((1 - B) + B l / (9/4)) is 1.4 for two words and 2.2 for four. Of page 0 with itself:
    2.5 ln(4/3) / 2.4 + 2.5 ln 2 / 2.4; with page 2: 2.5 ln(4/3) / 3.2 + 7.5 ln 2 / 5.2; with page 1: 2.5 ln(4/3) / 2.4.
    """
    index = index_of([{0: 1, 1: 1}, {0: 1, 2: 1}, {0: 1, 1: 3}, {3: 1}], outside=1)
    evidence, query = text(index, Okapi()), query_of_nodes(index, [0])
    often, rare = math.log(4 / 3), math.log(2)
    own = 2.5 * (often + rare) / 2.4
    scores = evidence.scores(query, np.arange(5)).tolist()
    answer = nearest(evidence, replace(query, allowed=lambda node: node < 4), 10)
    [shared] = evidence.explain(query, np.array([2]))
    expected = [own, 2.5 * often / 2.4, 2.5 * often / 3.2 + 7.5 * rare / 5.2, 0.0, 0.0]
    assert scores == pytest.approx(expected, abs=1e-9)
    # Page 2 scores more than page 0 itself would, and counts as wholly similar.
    assert answer == [(1.0, 2), (pytest.approx(expected[1] / own, abs=1e-9), 1)]
    assert [word for word, _ in shared["terms"]] == ["word1", "word0"]
    assert [share for _, share in shared["terms"]] == pytest.approx(
        [7.5 * rare / 5.2 / expected[2], 2.5 * often / 3.2 / expected[2]]
    )


@settings(deadline=None)
@given(st.lists(PAGES, min_size=1, max_size=14), WEIGHTINGS, st.integers(0, 2))
def test_scores_are_those_of_the_reference(pages: list[dict[int, int]], kind: Okapi | Learned, outside: int) -> None:
    """With more than ten pages, some words are stopped."""
    index = index_of(pages, outside)
    collection = reference.Collection(pages, STOP_PAGES)
    nodes = np.arange(len(pages) + outside)
    for node, page in enumerate(pages):
        query = query_of_nodes(index, [node])
        expected = [*(collection.score(page, other, kind) for other in pages), *[0.0] * outside]
        own = collection.score(page, page, kind)
        evidence = text(index, kind)
        scores = evidence.scores(query, nodes)
        similar = evidence.similarities(query, scores).tolist()
        answer = nearest(evidence, query, 20)
        assert scores.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-8)
        if own > 1e-6:
            assert similar == pytest.approx([min(1.0, each / own) for each in expected], abs=1e-6)
        assert [each for _, each in answer] == sorted((each for _, each in answer), key=lambda k: (-scores[k], k))


@given(st.lists(PAGES.filter(bool), min_size=2, max_size=6), WEIGHTINGS)
@settings(deadline=None)
def test_the_score_for_several_pages_is_the_mean_of_those_for_each(
    pages: list[dict[int, int]], kind: Okapi | Learned
) -> None:
    index = index_of(pages)
    evidence, nodes = text(index, kind), np.arange(len(pages))
    scores = [evidence.scores(query_of_nodes(index, asked), nodes) for asked in ([0], [1], [0, 1])]
    assert scores[2] == pytest.approx((scores[0] + scores[1]) / 2, abs=1e-8)


def test_a_text_may_say_a_word_more_often_than_any_page() -> None:
    index = index_of([{0: 1, 1: 1}, {2: 1}])
    word, count = np.array([0], np.uint32), np.array([500], np.uint32)
    weighted = QueryWeights(index).weighted(DRAWN, [TermCounts(word, count)])
    collection = reference.Collection([{0: 1, 1: 1}, {2: 1}], STOP_PAGES)
    assert weighted.own == pytest.approx(collection.score({0: 500}, {0: 500}, DRAWN))


def test_a_page_without_words_is_like_none() -> None:
    index = index_of([{}, {0: 2}])
    evidence, query = text(index, Okapi()), query_of_nodes(index, [0])
    assert evidence.similarities(query, evidence.scores(query, np.arange(2))).tolist() == [0.0, 0.0]


def test_an_index_without_contents_cannot_weigh_them() -> None:
    index = index_of([{0: 1}], strategy=Strategy(content=False))
    with pytest.raises(MisuseError, match="okapi weighs contents, but the bags of this index have none"):
        QueryWeights(index).weighted(Okapi(), [])


def test_pages_are_found_among_many_that_share_a_common_word() -> None:
    """More candidates than are compared: those that share a rare word as well are among them."""
    rare = {1: 2, 0: 1}
    pages = [rare, *({0: 1, 2 + k % 6: 1 + k % 3} for k in range(1200)), rare]
    index = index_of(pages)
    query = replace(query_of_nodes(index, [0]), min_similarity=0.5)
    assert nearest(text(index, Okapi()), query, 1) == [(1.0, 1201)]
