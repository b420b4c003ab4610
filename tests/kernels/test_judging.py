"""Concordant, discordant and tied pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.judging import count_pairs
from twins import judging as twin

LEVELS = 4
# Few scores, that many tie; any, that few do.
PAGES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1), st.integers(0, LEVELS - 1)), max_size=40
)


def counted(scores: list[float], distances: list[int]) -> list[list[list[int]]]:
    counts = np.zeros((LEVELS, LEVELS, 3), np.int64)
    count_pairs(np.array(scores, np.float64), np.array(distances, np.uint8), counts)
    found: list[list[list[int]]] = counts.tolist()
    return found


def test_pairs_by_hand() -> None:
    """Same class .9 and .5; sibling .5; unrelated .7 and .1."""
    counts = counted([0.9, 0.5, 0.5, 0.7, 0.1], [0, 0, 1, 3, 3])
    assert counts[0][1] == [1, 0, 1]  # .9 over .5; .5 and .5
    assert counts[0][3] == [3, 1, 0]  # .9 over both, .5 over .1 but under .7
    assert counts[1][3] == [1, 1, 0]
    assert sum(map(sum, (row for level in counts for row in level))) == 2 + 4 + 2


def test_extremes() -> None:
    distances = [0, 0, 1, 2, 3, 3]
    for scores, kind in (([6, 5, 4, 3, 2, 1], 0), ([1, 2, 3, 4, 5, 6], 1), ([1] * 6, 2)):
        counts = np.array(counted([float(score) for score in scores], distances))
        assert counts[:, :, kind].sum() == counts.sum() == 13  # 15 pairs, of which 2 are of one distance


@settings(deadline=None, max_examples=200)
@given(PAGES)
def test_counts_are_those_of_the_twin(pages: list[tuple[float, int]]) -> None:
    scores, distances = [score for score, _ in pages], [distance for _, distance in pages]
    assert counted(scores, distances) == twin.count_pairs(scores, distances, LEVELS)


def test_counts_are_added_to_what_is_there() -> None:
    counts = np.zeros((LEVELS, LEVELS, 3), np.int64)
    for _ in range(2):
        count_pairs(np.array([0.5, 0.1]), np.array([0, 3], np.uint8), counts)
    assert counts[0, 3].tolist() == [2, 0, 0]
