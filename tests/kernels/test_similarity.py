"""Similarities of bags."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pagekin.arrays import UInt32s
from pagekin.kernels.similarity import COSINE, JACCARD, similarities, similarity
from twins import similarity as twin

# Terms meet often; weights are those of bags, which sum to one and so are not all minute.
BAGS = st.dictionaries(st.integers(0, 12) | st.integers(0, 2**32 - 1), st.floats(2**-20, 1, width=32), max_size=10)
MEASURES = {JACCARD: twin.jaccard, COSINE: twin.cosine}
BOTH = pytest.mark.parametrize("measure", [JACCARD, COSINE], ids=["jaccard", "cosine"])
CLOSE = 1e-9


def arrays(bag: twin.Bag) -> tuple[UInt32s, NDArray[np.float32]]:
    terms = sorted(bag)
    return np.array(terms, np.uint32), np.array([bag[term] for term in terms], np.float32)


def similar(a: twin.Bag, b: twin.Bag, measure: int) -> float:
    return similarity(*arrays(a), *arrays(b), measure)


def test_jaccard_is_the_sum_of_minima_over_the_sum_of_maxima() -> None:
    a, b = {1: 0.5, 2: 0.5}, {2: 0.25, 3: 0.75}  # minima 1/4; maxima 1/2 + 1/2 + 3/4
    assert similar(a, b, JACCARD) == pytest.approx(1 / 7, rel=1e-12)


def test_cosine_is_the_product_over_the_lengths() -> None:
    assert similar({1: 3.0, 2: 4.0}, {1: 4.0, 2: 3.0}, COSINE) == pytest.approx(24 / 25, rel=1e-12)
    assert similar({1: 1.0, 2: 1.0}, {2: 1.0}, COSINE) == pytest.approx(1 / math.sqrt(2), rel=1e-12)


def test_cosine_does_not_mind_the_size_of_a_bag_and_jaccard_does() -> None:
    small, large = {1: 0.25, 2: 0.5}, {1: 0.5, 2: 1.0}
    assert similar(small, large, COSINE) == pytest.approx(1, rel=1e-12)
    assert similar(small, large, JACCARD) == pytest.approx(1 / 2, rel=1e-12)


@BOTH
def test_disjoint_and_empty_bags_have_nothing_in_common(measure: int) -> None:
    assert similar({1: 0.5, 3: 0.5}, {2: 0.5, 4: 0.5}, measure) == 0
    assert similar({}, {1: 1.0}, measure) == similar({1: 1.0}, {}, measure) == similar({}, {}, measure) == 0


@BOTH
def test_a_bag_without_weight_is_like_an_empty_one(measure: int) -> None:
    assert similar({1: 0.0}, {1: 0.0}, measure) == similar({1: 0.0}, {1: 1.0}, measure) == 0


@BOTH
@settings(deadline=None)
@given(a=BAGS, b=BAGS)
def test_similarity_is_symmetric(measure: int, a: twin.Bag, b: twin.Bag) -> None:
    assert similar(a, b, measure) == pytest.approx(similar(b, a, measure), rel=1e-12)


@BOTH
@settings(deadline=None)
@given(bag=BAGS.filter(bool))
def test_a_bag_is_wholly_similar_to_itself(measure: int, bag: twin.Bag) -> None:
    assert similar(bag, bag, measure) == pytest.approx(1, abs=CLOSE)


@BOTH
@settings(deadline=None)
@given(a=BAGS, b=BAGS)
def test_similarity_is_from_zero_to_one(measure: int, a: twin.Bag, b: twin.Bag) -> None:
    assert 0 <= similar(a, b, measure) <= 1 + CLOSE


@BOTH
@settings(deadline=None, max_examples=200)
@given(a=BAGS, others=st.lists(BAGS, max_size=4), data=st.data())
def test_similarities_are_those_of_the_twin(
    measure: int, a: twin.Bag, others: list[twin.Bag], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(range(len(others))), max_size=6)) if others else []
    offsets = np.cumsum([0, *map(len, others)]).astype(np.int64)
    terms, weights = (np.concatenate(column) for column in zip(*map(arrays, [*others, {}]), strict=True))
    found = similarities(*arrays(a), offsets, terms, weights, np.array(chosen, np.int64), measure)
    expected = [MEASURES[measure](a, others[k]) for k in chosen]
    assert found.tolist() == pytest.approx(expected, rel=CLOSE, abs=1e-15)
