"""The signed-rank test, compared with scipy's and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pagekin.learning.report import signed_rank

VALUES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]) | st.floats(0.0, 1.0)


def test_by_hand() -> None:
    """Differences 1, -2, 3, 4: the ranks of gains sum to 8, where 5 is expected; the variance is 4 5 9 / 24 = 7.5."""
    p = signed_rank(np.array([1.0, 0.0, 3.0, 4.0]), np.array([0.0, 2.0, 0.0, 0.0]))
    assert p == pytest.approx(math.erfc(3 / math.sqrt(2 * 7.5)))


def test_without_a_difference_chance_explains_all() -> None:
    assert signed_rank(np.ones(5), np.ones(5)) == 1.0


@settings(deadline=None)
@given(st.lists(st.tuples(VALUES, VALUES), min_size=12, max_size=60))
def test_it_says_what_scipy_says(pairs: list[tuple[float, float]]) -> None:
    one, other = np.array(pairs).T
    if (one == other).all():
        return
    theirs = stats.wilcoxon(one, other, zero_method="wilcox", correction=False, method="approx").pvalue
    assert signed_rank(one, other) == pytest.approx(theirs, rel=1e-9, abs=1e-300)
