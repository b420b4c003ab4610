"""Flexible clustering: the generic algorithm does what looking at all pairs does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pagekin.kernels.flexible_clustering import merge_flexibly
from reference import flexible_clustering as reference

ALPHAS = st.one_of(st.sampled_from([0.02, 0.06, 0.25, 0.5, 0.8, 1.0]), st.floats(1e-6, 1.0))
# Few values, so that many pairs are equally near; most pages of a neighbourhood graph are 1 apart.
APART = st.one_of(st.just(1.0), st.sampled_from([0.1, 0.25, 0.5, 0.75]), st.floats(0.0, 1.0))


@st.composite
def matrices(draw: st.DrawFn, most: int = 12) -> NDArray[np.float64]:
    n = draw(st.integers(1, most))
    distance = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            distance[i, j] = distance[j, i] = draw(APART)
    return distance


@settings(deadline=None, max_examples=400)
@given(matrices(), ALPHAS)
def test_merges_are_those_of_the_reference_bit_for_bit(distance: NDArray[np.float64], alpha: float) -> None:
    merges, heights = merge_flexibly(distance, alpha, np.empty_like(distance))
    expected = reference.merge_flexibly(distance.tolist(), alpha)
    assert [(a, b, h) for (a, b), h in zip(merges.tolist(), heights.tolist(), strict=True)] == expected


@pytest.mark.parametrize("alpha", [0.02, 0.06, 0.25, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("crowded", [False, True])
def test_larger_matrices_are_merged_as_by_the_reference(alpha: float, crowded: bool) -> None:
    random = np.random.default_rng(7)
    distance = random.random((60, 60))
    if crowded:
        distance = np.ceil(distance * 4) / 4
    distance = np.minimum(distance, distance.T)
    np.fill_diagonal(distance, 0.0)
    merges, heights = merge_flexibly(distance, alpha, np.empty_like(distance))
    expected = reference.merge_flexibly(distance.tolist(), alpha)
    assert [(a, b, h) for (a, b), h in zip(merges.tolist(), heights.tolist(), strict=True)] == expected


@settings(deadline=None, max_examples=200)
@given(matrices(20), ALPHAS)
def test_heights_never_fall_and_are_numbers(distance: NDArray[np.float64], alpha: float) -> None:
    heights = merge_flexibly(distance, alpha, np.empty_like(distance))[1]
    assert np.isfinite(heights).all()
    assert (np.diff(heights) >= 0).all()
