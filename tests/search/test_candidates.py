"""Candidates, exact similarity and shared terms, on small indexes that are made by hand or drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.index.files import HEAD, Index
from pagekin.index.invert import ValueType, invert, truncate
from pagekin.model.arrays import Int64s
from pagekin.model.bags import Bags, Contents, Terms
from pagekin.model.strategy import Strategy
from pagekin.model.strings import Strings
from pagekin.search.candidates import Query, bag_of, exact, mean_bag, nearest, shared_terms
from pagekin.search.scorer import Bag, CompiledScorer, Scorer, ScorerPool
from pagekin.signatures.sign import make_signatures, seeded, term_keys
from reference import similarity as twin

WORDS = 10
BAGS = st.dictionaries(st.integers(0, WORDS - 1), st.integers(1, 9), max_size=6)
MEASURES = st.sampled_from(["jaccard", "cosine"])
THIRD = 0.333333333
DESKS = pytest.mark.parametrize("desk", [Scorer, CompiledScorer])


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


def query(index: Index, node: int, measure: str = "jaccard") -> Query:
    return Query(bag_of(index, node), index.signatures[node], measure, but=(node,))


def similarity(measure: str, a: dict[int, float], b: dict[int, float]) -> float:
    return twin.cosine(a, b) if measure == "cosine" else twin.jaccard(a, b)


HAND = [{0: 0.5, 1: 0.5}, {0: 0.5, 2: 0.5}, {1: 0.75, 0: 0.25}, {3: 1.0}]


@DESKS
def test_an_answer_by_hand(scorer: type[Scorer]) -> None:
    # 0 and 2: minima 1/4 + 1/2 over maxima 1/2 + 3/4; 0 and 1: 1/2 over 3/2.
    index = index_of(HAND)
    work = scorer(index)
    asked = query(index, 0)
    with work.asking(asked.bag):
        assert nearest(work, asked, 10, 0.0) == [(0.6, 2), (THIRD, 1)]
        assert nearest(work, asked, 1, 0.0) == [(0.6, 2)]
        assert nearest(work, asked, 10, 0.5) == [(0.6, 2)]
        assert nearest(work, asked, 10, 0.0, allowed=lambda node: node != 2) == [(THIRD, 1)]
        shared, nothing = shared_terms(work, asked, np.array([2, 3]), 5)
    assert [each.term for each in shared] == [1, 0]
    assert [each.share for each in shared] == pytest.approx([2 / 3, 1 / 3])
    assert nothing == []


@DESKS
def test_a_desk_is_empty_after_a_question(scorer: type[Scorer]) -> None:
    index = index_of(HAND)
    work = scorer(index)
    first = work.agreements(index.signatures[0])
    again = work.agreements(index.signatures[0])
    assert dict(zip(*map(np.ndarray.tolist, first), strict=True)) == dict(
        zip(*map(np.ndarray.tolist, again), strict=True)
    )
    with work.asking(bag_of(index, 0)):
        pass
    assert not work.asked.any()


@settings(deadline=None)
@given(st.lists(BAGS, min_size=1, max_size=8), MEASURES, st.sampled_from([np.uint16, np.uint32]))
def test_both_desks_give_the_same_to_the_last_bit(counts: list[dict[int, int]], measure: str, kind: ValueType) -> None:
    index = index_of([normal(each) for each in counts], signature_length=7, kind=kind)
    nodes = np.arange(len(counts))
    for node in range(len(counts)):
        assert_same(index, query(index, node, measure), nodes, 3)


def assert_same(index: Index, asked: Query, nodes: Int64s, wanted: int) -> None:
    """Both desks do the same."""
    plain, compiled = Scorer(index), CompiledScorer(index)
    agreements = [scorer.agreements(asked.signature) for scorer in (plain, compiled)]
    assert len({tuple(sorted(zip(a.tolist(), b.tolist(), strict=True))) for a, b in agreements}) == 1
    with plain.asking(asked.bag), compiled.asking(asked.bag):
        assert plain.minima(nodes).tolist() == compiled.minima(nodes).tolist()
        for a, b in zip(plain.products(nodes), compiled.products(nodes), strict=True):
            assert a.tolist() == b.tolist()
        both = [scorer.compared(asked.signature, asked.but, wanted) for scorer in (plain, compiled)]
        for a, b in zip(*both, strict=True):
            assert a.tolist() == b.tolist()
        assert nearest(plain, asked, wanted, 0.0) == nearest(compiled, asked, wanted, 0.0)


def test_both_desks_narrow_many_candidates_down_alike() -> None:
    """More pages than are compared exactly, with bags of more terms than are looked at first."""
    random = np.random.default_rng(7)
    bags = []
    for _ in range(400):
        counts = random.integers(1, 30, 60)
        terms = random.choice(120, 60, replace=False)
        bags.append(normal(dict(zip(terms.tolist(), counts.tolist(), strict=True))))
    index = index_of(bags, words=120)
    assert len(Scorer(index).agreements(index.signatures[0])[0]) > 200
    for node in range(20):
        asked = query(index, node)
        assert_same(index, asked, np.arange(400), 10)
        plain = Scorer(index)
        with plain.asking(asked.bag):
            assert len(plain.narrowed(asked.signature, asked.but, 10)) == 60
            assert node not in plain.narrowed(asked.signature, asked.but, 10).tolist()


@settings(deadline=None)
@given(st.lists(BAGS, min_size=1, max_size=8), MEASURES)
def test_exact_is_the_measure_of_the_twin(counts: list[dict[int, int]], measure: str) -> None:
    bags = [normal(each) for each in counts]
    index = index_of(bags)
    scorer = Scorer(index)
    for node, bag in enumerate(bags):
        asked = query(index, node, measure)
        with scorer.asking(asked.bag):
            found = exact(scorer, asked, np.arange(len(bags)))
        assert found.tolist() == pytest.approx([similarity(measure, bag, other) for other in bags], abs=1e-6)


@settings(deadline=None)
@given(st.lists(BAGS.filter(bool), min_size=2, max_size=8), st.integers(1, 4))
def test_an_answer_is_the_best_of_all_that_collide_in_order(counts: list[dict[int, int]], limit: int) -> None:
    index = index_of([normal(each) for each in counts])
    scorer = Scorer(index)
    asked = query(index, 0)
    with scorer.asking(asked.bag):
        nodes = [node for node in sorted(scorer.agreements(asked.signature)[0].tolist()) if node != 0]
        scores = exact(scorer, asked, np.array(nodes, np.int64)).tolist()
        answer = nearest(scorer, asked, limit, 0.0)
    assert answer == sorted(zip(scores, nodes, strict=True), key=lambda each: (-each[0], each[1]))[:limit]


def many(count: int) -> Index:
    """Many bags, the later the less like the first; all share word 0 with it."""
    return index_of([{0: 1.0}, *({0: 1.0 - k / (2 * count), 1: k / (2 * count)} for k in range(1, count))])


def test_an_answer_is_filled_from_less_likely_candidates_when_filters_take_the_likely_ones() -> None:
    index = many(1200)
    scorer = Scorer(index)
    asked = query(index, 0)
    with scorer.asking(asked.bag):
        found = nearest(scorer, asked, 5, 0.0, allowed=lambda node: node >= 1000)
    assert [node for _, node in found] == [1000, 1001, 1002, 1003, 1004]


def test_pages_of_one_similarity_come_in_order() -> None:
    index = index_of([{0: 1.0}, *({0: 0.5, 1: 0.5} for _ in range(300))])
    scorer = Scorer(index)
    asked = query(index, 0)
    with scorer.asking(asked.bag):
        # Minima 1/2, maxima 1 + 1/2.
        assert nearest(scorer, asked, 4, 0.0) == [(THIRD, 1), (THIRD, 2), (THIRD, 3), (THIRD, 4)]


def test_the_mean_of_bags_is_that_of_their_weights() -> None:
    index = index_of(HAND)
    mean = mean_bag([bag_of(index, 1), bag_of(index, 2)])
    assert dict(zip(mean.term.tolist(), mean.weight.tolist(), strict=True)) == {0: 0.375, 1: 0.375, 2: 0.25}
    assert mean_bag([bag_of(index, 3)]).term.tolist() == [3]


def test_who_goes_on_asking_gets_kernels() -> None:
    scorer_pool = ScorerPool(index_of(HAND))
    assert {type(scorer_pool.scorer()) for _ in range(20)} == {CompiledScorer}  # numba is loaded in this process


def test_an_empty_bag_has_no_kin() -> None:
    index = index_of([{}, {0: 1.0}])
    for scorer in (Scorer(index), CompiledScorer(index)):
        empty = Query(Bag(np.empty(0, np.uint32), np.empty(0, np.float32)), index.signatures[0], "cosine")
        with scorer.asking(empty.bag):
            assert nearest(scorer, empty, 3, 0.0) == []
            assert exact(scorer, empty, np.array([0, 1])).tolist() == [0.0, 0.0]
