"""From the pages that agree in any coordinate to those that are compared."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.query import CandidateLimits, min_agreement, select_candidates
from pagekin.model.bags import Bags
from reference import query as reference

TERMS = 8
COORDINATES = 16
# Halves of halves, so that sums are exact in whatever order they are made.
WEIGHTS = st.integers(1, 8).map(lambda k: k / 16)
BAGS = st.dictionaries(st.integers(0, TERMS - 1), WEIGHTS, max_size=4)
SLACK = st.sampled_from([0.0, 0.5, 1.0, 2.0])


def threshold(agreements: list[int], wanted: int, slack: float, most: int) -> int:
    counts = np.bincount(np.array(agreements, np.int64), minlength=COORDINATES + 1)
    counts[0] = 0
    return min_agreement(counts, wanted, CandidateLimits(0, most, slack, 0.0))


def test_a_candidate_may_agree_less_often_than_the_last_one_wanted_by_so_many_deviations() -> None:
    # The second of those wanted agrees 9 times; sqrt 9 is 3, and twice that less is 3.
    assert threshold([16, 9, 5, 4, 2, 1], wanted=2, slack=2.0, most=9) == 3
    assert threshold([16, 9, 5, 4, 2, 1], wanted=2, slack=0.0, most=9) == 9


def test_there_are_no_more_candidates_than_most_unless_they_agree_as_often_as_those_wanted() -> None:
    assert threshold([9, 9, 5, 4, 3, 3], wanted=2, slack=2.0, most=4) == 4
    assert threshold([5, 5, 5, 5, 5], wanted=2, slack=2.0, most=1) == 5


def test_where_fewer_agree_than_are_wanted_all_are_candidates() -> None:
    assert threshold([3, 2, 1], wanted=10, slack=0.0, most=9) == 1
    assert threshold([], wanted=10, slack=2.0, most=9) == 1


@settings(deadline=None, max_examples=300)
@given(st.lists(st.integers(0, COORDINATES), max_size=30), st.integers(1, 12), SLACK, st.integers(0, 40))
def test_the_threshold_is_that_of_the_reference(agreements: list[int], wanted: int, slack: float, most: int) -> None:
    assert threshold(agreements, wanted, slack, most) == reference.min_agreement(agreements, wanted, slack, most)


@settings(deadline=None, max_examples=300)
@given(
    bags=st.lists(BAGS, max_size=12),
    query=BAGS,
    wanted=st.integers(1, 6),
    room=st.integers(1, 6),
    most=st.integers(0, 12),
    slack=SLACK,
    heavy=st.integers(0, 4),
    trust=st.sampled_from([0.0, 0.25, 1.0]),
    data=st.data(),
)
def test_candidates_are_those_of_the_reference(
    bags: list[dict[int, float]],
    query: dict[int, float],
    wanted: int,
    room: int,
    most: int,
    slack: float,
    heavy: int,
    trust: float,
    data: st.DataObject,
) -> None:
    # 0, 1, 3, 7 or 15 of 16: agreements whose guess is not far from exact either.
    often = st.sampled_from([0, 1, 3, 7, 15])
    touched = data.draw(st.permutations(range(len(bags))))
    agreements = {node: data.draw(often) for node in touched}
    weights_of_query = np.zeros(TERMS, np.float32)
    for term, weight in query.items():
        weights_of_query[term] = weight
    rows = [sorted(bag.items(), key=lambda item: -item[1]) for bag in bags]
    offsets = np.cumsum([0, *map(len, rows)])
    terms = np.array([term for row in rows for term, _ in row], np.uint32)
    weights = np.array([weight for row in rows for _, weight in row], np.float32)
    heads = Bags(offsets, terms, weights, np.zeros(len(terms), np.uint32), weights).heads(heavy)
    found = select_candidates(
        np.array(touched, np.int64),
        np.array([agreements[node] for node in touched], np.int64),
        wanted,
        CandidateLimits(room, most, slack, trust),
        COORDINATES,
        weights_of_query,
        heads.term,
        heads.weight,
    )
    expected = reference.select_candidates(
        agreements, wanted, room, most, slack, COORDINATES, query, rows, heavy, trust
    )
    assert found.tolist() == expected
