"""Text as evidence: candidates, exact similarity and shared terms, on small indexes made by hand or drawn."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.builders import term_keys
from pagekin.index.index import Index, ValueType, invert, make_signatures, seeded, truncate
from pagekin.model.arrays import Strings
from pagekin.model.bags import HEAD, Bags, Contents, Terms
from pagekin.model.strategy import Strategy
from pagekin.search.blend import Blend
from pagekin.search.indexed_store import MEASURES as EVIDENCES
from pagekin.search.query import Bag, Query, bag_of, mean_bag, query_of_nodes
from pagekin.search.scorer import MOST, SLACK, TRUST, Scorer, ScorerPool
from pagekin.search.text import BagEvidence
from reference import postings
from reference import query as reference_query
from reference import similarity as reference

WORDS = 10
BAGS = st.dictionaries(st.integers(0, WORDS - 1), st.integers(1, 9), max_size=6)
MEASURES = st.sampled_from(["jaccard", "cosine"])
THIRD = 0.333333333


def normal(counts: dict[int, int]) -> dict[int, float]:
    """A bag that sums to one, its heaviest terms first."""
    total = sum(counts.values())
    return {term: count / total for term, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))}


def index_of(
    bags: list[dict[int, float]], words: int = WORDS, signature_length: int = 80, kind: ValueType = np.uint16
) -> Index:
    offsets = np.cumsum([0, *map(len, bags)])
    term = np.array([term for bag in bags for term in bag], np.uint32)
    weight = np.array([each for bag in bags for each in bag.values()], np.float32)
    strategy = Strategy(signature_length=signature_length)
    names = Strings.of(f"word{k}" for k in range(words))
    columns = Bags(offsets, term, weight, np.zeros(len(term), np.uint32), weight)
    keys = term_keys(names, len(bags))
    signatures = truncate(make_signatures(columns, seeded(keys, strategy.seed), strategy.signature_length), kind)
    frequency = np.bincount(term, minlength=words + len(bags))
    inverted = invert(signatures, np.arange(len(bags)))
    contents = Contents(np.zeros(words, np.int64), np.zeros(len(bags), np.int64))
    terms, heads = Terms(names, names, frequency), columns.heads(HEAD)
    return Index(strategy, columns, terms, contents, heads, signatures, inverted)


def text(index: Index, measure: str = "jaccard") -> BagEvidence:
    """Text as evidence."""
    return EVIDENCES[measure](index, ScorerPool(partial(Scorer, index)))


def nearest(evidence: BagEvidence, query: Query, limit: int) -> list[tuple[float, int]]:
    return Blend([evidence], {"text": 1.0}).nearest(query, limit)


def similarity(measure: str, a: dict[int, float], b: dict[int, float]) -> float:
    return reference.cosine(a, b) if measure == "cosine" else reference.jaccard(a, b)


HAND = [{0: 0.5, 1: 0.5}, {0: 0.5, 2: 0.5}, {1: 0.75, 0: 0.25}, {3: 1.0}]


def test_an_answer_by_hand() -> None:
    # 0 and 2: minima 1/4 + 1/2 over maxima 1/2 + 3/4; 0 and 1: 1/2 over 3/2.
    index = index_of(HAND)
    evidence, asked = text(index), query_of_nodes(index, [0])
    assert nearest(evidence, asked, 10) == [(0.6, 2), (THIRD, 1)]
    assert nearest(evidence, asked, 1) == [(0.6, 2)]
    assert nearest(evidence, replace(asked, min_similarity=0.5), 10) == [(0.6, 2)]
    assert nearest(evidence, replace(asked, allowed=lambda node: node != 2), 10) == [(THIRD, 1)]
    shared, nothing = evidence.explain(asked, np.array([2, 3]))
    assert [word for word, _ in shared["terms"]] == ["word1", "word0"]
    assert [share for _, share in shared["terms"]] == pytest.approx([2 / 3, 1 / 3])
    assert nothing == {"terms": []}


def test_a_query_leaves_nothing_for_the_next() -> None:
    index = index_of(HAND)
    work = Scorer(index)
    first = work.agreements(index.signatures[0])
    again = work.agreements(index.signatures[0])
    assert dict(zip(*map(np.ndarray.tolist, first), strict=True)) == dict(
        zip(*map(np.ndarray.tolist, again), strict=True)
    )
    work.load(bag_of(index, 0))
    work.load(bag_of(index, 3))
    assert work.asked.nonzero()[0].tolist() == [3]


@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
def test_the_pages_compared_are_those_of_the_reference(kind: ValueType) -> None:
    """More pages than are compared exactly, with bags of more terms than are looked at first."""
    random = np.random.default_rng(7)
    bags = []
    for _ in range(400):
        counts = random.integers(1, 30, 60)
        terms = random.choice(120, 60, replace=False)
        bags.append(normal(dict(zip(terms.tolist(), counts.tolist(), strict=True))))
    index = index_of(bags, words=120, kind=kind)
    scorer, signatures = Scorer(index), index.signatures.tolist()
    as_stored = [np.array(list(bag.values()), np.float32).tolist() for bag in bags]
    rows = [list(zip(bag, weights, strict=True)) for bag, weights in zip(bags, as_stored, strict=True)]
    for node in range(20):
        asked = query_of_nodes(index, [node])
        scorer.load(asked.bag)
        agreements = postings.agreements(signatures[node], signatures, range(400)) | {node: 0}
        assert len(agreements) > 200
        expected = reference_query.select_candidates(
            agreements, 10, 60, MOST, SLACK, 80, dict(rows[node]), rows, HEAD, TRUST
        )
        assert len(expected) == 60 and node not in expected
        assert scorer.narrowed(asked.signature, asked.exclude, 10).tolist() == expected


@settings(deadline=None)
@given(st.lists(BAGS, min_size=1, max_size=8), MEASURES)
def test_scores_are_those_of_the_reference(counts: list[dict[int, int]], measure: str) -> None:
    bags = [normal(each) for each in counts]
    index = index_of(bags)
    evidence = text(index, measure=measure)
    for node, bag in enumerate(bags):
        found = evidence.scores(query_of_nodes(index, [node]), np.arange(len(bags)))
        assert found.tolist() == pytest.approx([similarity(measure, bag, other) for other in bags], abs=1e-6)


@settings(deadline=None)
@given(st.lists(BAGS.filter(bool), min_size=2, max_size=8), st.integers(1, 4))
def test_an_answer_is_the_best_of_all_that_collide_in_order(counts: list[dict[int, int]], limit: int) -> None:
    index = index_of([normal(each) for each in counts])
    evidence, asked = text(index), query_of_nodes(index, [0])
    nodes = [node for node in sorted(Scorer(index).agreements(asked.signature)[0].tolist()) if node != 0]
    scores = evidence.scores(asked, np.array(nodes, np.int64)).tolist()
    answer = nearest(evidence, asked, limit)
    assert answer == sorted(zip(scores, nodes, strict=True), key=lambda each: (-each[0], each[1]))[:limit]


def many(count: int) -> Index:
    """Many bags, the later the less like the first; all share word 0 with it."""
    return index_of([{0: 1.0}, *({0: 1.0 - k / (2 * count), 1: k / (2 * count)} for k in range(1, count))])


def test_an_answer_is_filled_from_less_likely_candidates_when_filters_take_the_likely_ones() -> None:
    index = many(1200)
    found = nearest(text(index), replace(query_of_nodes(index, [0]), allowed=lambda node: node >= 1000), 5)
    assert [node for _, node in found] == [1000, 1001, 1002, 1003, 1004]


def test_pages_of_one_similarity_come_in_order() -> None:
    index = index_of([{0: 1.0}, *({0: 0.5, 1: 0.5} for _ in range(300))])
    # Minima 1/2, maxima 1 + 1/2.
    found = nearest(text(index), query_of_nodes(index, [0]), 4)
    assert found == [(THIRD, 1), (THIRD, 2), (THIRD, 3), (THIRD, 4)]


def test_the_mean_of_bags_is_that_of_their_weights() -> None:
    index = index_of(HAND)
    mean = mean_bag([bag_of(index, 1), bag_of(index, 2)])
    assert dict(zip(mean.term.tolist(), mean.weight.tolist(), strict=True)) == {0: 0.375, 1: 0.375, 2: 0.25}
    assert mean_bag([bag_of(index, 3)]).term.tolist() == [3]


def test_an_empty_bag_has_no_related_pages() -> None:
    index = index_of([{}, {0: 1.0}])
    empty = Query((), Bag(np.empty(0, np.uint32), np.empty(0, np.float32)), index.signatures[0])
    evidence = text(index, "cosine")
    assert nearest(evidence, empty, 3) == []
    assert evidence.scores(empty, np.array([0, 1])).tolist() == [0.0, 0.0]
