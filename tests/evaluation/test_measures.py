"""Intervals and comparisons of ratios."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.evaluation.measures import Ratios, compare, estimates

Rows = list[tuple[float, float]]


def table(rows: Rows) -> Ratios:
    top, bottom = np.array(rows, np.float64).T
    return Ratios(["m"], top[:, np.newaxis], bottom[:, np.newaxis])


def value(rows: Rows) -> float:
    return sum(top for top, _ in rows) / sum(bottom for _, bottom in rows)


def test_an_interval_holds_the_middle_of_all_ways_to_draw_the_sources() -> None:
    """Of three sources with 0, 0 and 1 of 1: every way to draw three of them, 27 in number, has its share."""
    rows = [(0.0, 1.0), (0.0, 1.0), (1.0, 1.0)]
    context = [value(list(way)) for way in itertools.product(rows, repeat=3)]
    low, high = np.quantile(context, (0.025, 0.975), method="inverted_cdf").tolist()
    found = estimates(table(rows), resamples=4000)["m"]
    assert [found.value, found.low, found.high] == pytest.approx([1 / 3, low, high])


def test_an_interval_is_about_as_wide_as_the_normal_one_for_many_sources() -> None:
    rows = [(float(k % 2), 1.0) for k in range(400)]
    found = estimates(table(rows), resamples=4000)["m"]
    half = 1.96 * math.sqrt(0.25 / 400)
    assert [found.low, found.high] == pytest.approx([0.5 - half, 0.5 + half], abs=0.006)


def test_p_is_the_share_of_all_swaps_that_part_the_systems_as_far() -> None:
    """Ten sources of which eight prefer the first: of all 1024 swaps, those with 8 or more, or 2 or fewer."""
    a = [(1.0, 1.0)] * 8 + [(0.0, 1.0)] * 2
    b = [(0.0, 1.0)] * 8 + [(1.0, 1.0)] * 2
    exact = 2 * sum(math.comb(10, k) for k in (8, 9, 10)) / 1024
    found = compare(table(a), table(b), resamples=20000)["m"]
    assert found.value == pytest.approx(0.6)
    assert found.p == pytest.approx(exact, abs=0.01)
    assert found.low < 0.6 < found.high


def test_a_system_does_not_differ_from_itself() -> None:
    rows = [(0.25, 1.0), (0.5, 2.0), (3.0, 4.0)]
    found = compare(table(rows), table(rows))["m"]
    assert (found.value, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_what_was_not_measured_has_no_value_and_no_interval() -> None:
    rows = [(0.0, 0.0), (0.0, 0.0)]
    assert all(math.isnan(each) for each in vars(estimates(table(rows))["m"]).values())
    assert all(math.isnan(each) for each in vars(compare(table(rows), table(rows))["m"]).values())


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=8), st.integers(0, 5))
def test_the_same_seed_gives_the_same_and_intervals_lie_within_the_values_of_sources(
    counts: list[tuple[int, int]], seed: int
) -> None:
    rows = [(float(top), float(bottom)) for top, bottom in counts]
    found = estimates(table(rows), resamples=50, seed=seed)["m"]
    assert found == estimates(table(rows), resamples=50, seed=seed)["m"]
    shares = [top / bottom for top, bottom in rows]
    assert min(shares) - 1e-9 <= found.low <= found.high <= max(shares) + 1e-9


def test_batches_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = table([(1.0, 2.0), (0.0, 1.0), (3.0, 3.0)]), table([(2.0, 2.0), (0.0, 1.0), (1.0, 3.0)])
    whole = estimates(a, 64), compare(a, b, 64)
    monkeypatch.setattr("pagekin.evaluation.measures._BATCH", 9)
    assert (estimates(a, 64), compare(a, b, 64)) == whole
