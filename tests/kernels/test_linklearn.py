"""The exact gradient of the loss of LinkLearn, and one step down it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning.builders import whole
from pagekin.kernels.linklearn import descend, loss_gradient
from pagekin.learning.corpus import CorpusPart
from pagekin.learning.networks import InputScales, layout_of, parameter_offsets
from pagekin.learning.options import Units
from pagekin.model.arrays import Floats
from reference import linklearn as reference

PLAIN = InputScales((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
UNITS: Units = (2, 3, 1)
Pages = list[dict[int, int]]


def gradient_of(part: CorpusPart, page: int, theta: Floats, units: Units = UNITS) -> tuple[float, Floats]:
    layout = layout_of(part)
    networks = layout.networks(PLAIN, units)
    gradient = np.zeros(len(theta))
    workspace = layout.workspace(networks)
    first = loss_gradient(page, layout.corpus, networks, theta, workspace, np.zeros(len(theta)))
    again = loss_gradient(page, layout.corpus, networks, theta, workspace, gradient)
    assert first == again  # the workspace is clean after a step
    return again, gradient


def reference_of(part: CorpusPart, page: int, theta: Floats, units: Units = UNITS) -> tuple[float, list[float]]:
    counts = part.counts
    pages = [
        dict(zip(counts.term[a:b].tolist(), counts.count[a:b].tolist(), strict=True))
        for a, b in zip(counts.offsets[:-1], counts.offsets[1:], strict=True)
    ]
    linked = [set(part.link[a:b].tolist()) for a, b in zip(part.link_offsets[:-1], part.link_offsets[1:], strict=True)]
    tf, idf, length = (
        theta[a:b].tolist() for a, b in zip(parameter_offsets(units)[:-1], parameter_offsets(units)[1:], strict=True)
    )
    return reference.loss((tf, idf, length), pages, linked, page, part.idf().tolist())


TERMS = st.dictionaries(st.integers(0, 7), st.integers(1, 3), max_size=6)
PAGES = st.lists(TERMS, min_size=3, max_size=9)


@settings(max_examples=30)
@given(PAGES, st.data())
def test_the_gradient_is_that_of_all_pairs(pages: Pages, data: st.DataObject) -> None:
    numbers = st.integers(0, len(pages) - 1)
    part = whole(pages, data.draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12)))
    theta = np.random.default_rng(data.draw(st.integers(0, 99))).normal(0.0, 1.0, parameter_offsets(UNITS)[-1])
    for page in part.linked().tolist():
        loss, gradient = gradient_of(part, page, theta)
        expected, slopes = reference_of(part, page, theta)
        assert loss == pytest.approx(expected, rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-10)


def test_the_gradient_is_what_finite_differences_say() -> None:
    pages: Pages = [{0: 2, 1: 1, 2: 1}, {0: 1, 2: 3}, {1: 2, 2: 1}, {3: 2, 0: 1}, {3: 1, 4: 2}, {4: 2}]
    part = whole(pages, [(0, 1), (0, 3), (2, 0), (4, 5)])
    theta = np.random.default_rng(7).normal(0.0, 0.8, parameter_offsets(UNITS)[-1])
    for page in (0, 1, 4):
        _, gradient = gradient_of(part, page, theta)
        assert np.abs(gradient).max() > 1e-3
        for k in range(len(theta)):
            up, down = theta.copy(), theta.copy()
            up[k] += 1e-6
            down[k] -= 1e-6
            difference = (gradient_of(part, page, up)[0] - gradient_of(part, page, down)[0]) / 2e-6
            assert gradient[k] == pytest.approx(difference, rel=1e-5, abs=1e-8)


def test_the_loss_by_hand() -> None:
    """All three functions say log 2 whatever comes, so that a shared term scores log(2)^6 = s. Page 0 shares two terms
    with page 1, which it is linked with, one with page 2 and none with page 3: (1 - 2s + s)/2 + (1 - 2s)/2.
    """
    part = whole([{0: 1, 1: 1}, {0: 1, 1: 1}, {1: 1}, {2: 2}], [(1, 0)])
    s = np.log(2.0) ** 6
    loss, _ = gradient_of(part, 0, np.zeros(parameter_offsets(UNITS)[-1]))
    assert loss == pytest.approx((1 - s) / 2 + (1 - 2 * s) / 2)


def test_a_step_goes_down_along_the_gradient() -> None:
    part = whole([{0: 2, 1: 1}, {0: 1, 1: 1}, {1: 3}, {2: 2, 0: 1}], [(1, 0), (2, 3)])
    theta = np.random.default_rng(3).normal(0.0, 1.0, parameter_offsets(UNITS)[-1])
    loss, gradient = gradient_of(part, 0, theta)
    layout = layout_of(part)
    networks = layout.networks(PLAIN, UNITS)
    moved = theta.copy()
    assert descend(np.array([0]), 0.01, layout.corpus, networks, moved, layout.workspace(networks)) == loss
    np.testing.assert_allclose(moved, theta - 0.01 * gradient)
    assert gradient_of(part, 0, moved)[0] < loss
