"""Pages by words and links together."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pagekin.evaluation.blended import BlendedSystem
from pagekin.model.arrays import Floats, Int64s


class Words:
    """Scores of three pages: the first has more of the words of the second than that itself, and none of the third."""

    name, longest = "words", None
    rows = np.array([[4.0, 1.0, -math.inf], [3.0, 2.0, 1.0], [-math.inf, -math.inf, -math.inf]])

    def scores(self, sources: Int64s) -> Floats:
        return self.rows[sources]


def beside(node: int) -> tuple[Int64s, Floats]:
    """Node 5 is the first page, 7 the third; 6 is not compared."""
    return {
        5: (np.array([7, 6]), np.array([0.5, 0.4])),
        7: (np.array([5]), np.array([0.5])),
    }.get(node, (np.empty(0, np.int64), np.empty(0)))


def test_a_score_is_the_sum_of_similarities_times_their_shares() -> None:
    """By words the first page is 4/4, 1/4 and 0 similar to the others, the second 3/2, so 1, 1 and 1/2."""
    system = BlendedSystem(Words(), np.array([5, -1, 7]), beside, 0.2)
    assert system.scores(np.array([0, 1, 2])).tolist() == [
        pytest.approx([0.8, 0.2, 0.1]),
        pytest.approx([0.8, 0.8, 0.4]),
        pytest.approx([0.1, -math.inf, -math.inf]),
    ]
    assert system.name == "words, 0.2 by links"
