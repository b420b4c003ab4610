"""The map of vectors, compared with sums over all pairs and with groups that are known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pagekin.latent.layout import layout, nearest, principal, repulsion
from pagekin.model.arrays import Floats, Int64s


def drawn_groups(count: int, groups: int, seed: int = 1) -> tuple[Floats, Int64s]:
    random = np.random.default_rng(seed)
    group = np.arange(count) % groups
    return random.normal(size=(groups, 32))[group] + 0.3 * random.normal(size=(count, 32)), group


@pytest.mark.parametrize("spread", [0.1, 3.0, 12.0])
def test_repulsion_on_the_grid_is_near_to_the_sum_over_all_pairs(spread: float) -> None:
    points = spread * np.random.default_rng(2).normal(size=(300, 2))
    apart = points[:, np.newaxis] - points
    kernel = 1.0 / (1.0 + np.square(apart).sum(axis=2))
    push, total = repulsion(points)
    expected = (apart * np.square(kernel)[:, :, np.newaxis]).sum(axis=1)
    assert total == pytest.approx(kernel.sum() - len(points), rel=0.03)
    assert np.abs(push - expected).max() <= 0.1 * np.abs(expected).max()


def test_the_nearest_vectors_have_the_largest_cosines() -> None:
    vectors = np.random.default_rng(3).normal(size=(50, 8))
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -2.0)
    expected = np.argsort(-cosines, axis=1)[:, :5]
    assert [set(row) for row in nearest(unit, 5).tolist()] == [set(row) for row in expected.tolist()]


def test_principal_components_do_not_depend_on_signs() -> None:
    points = np.array([[3.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [-1.0, 0.0, 0.0]])
    assert principal(points)[0] == pytest.approx([1.0, 0.0])
    assert np.abs(principal(points)).max(axis=0) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("count", [24, 60])
def test_points_are_in_the_square_and_their_nearest_points_are_of_their_group(count: int) -> None:
    vectors, group = drawn_groups(count, 3)
    points = layout(vectors)
    assert points.min() >= 0.0 and points.max() <= 1.0 + 1e-9
    distance = np.square(points[:, np.newaxis] - points).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    assert (group[distance.argmin(axis=1)] == group).mean() > 0.97
    assert np.array_equal(points, layout(vectors))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 60])
def test_few_or_equal_vectors_have_points(count: int) -> None:
    points = layout(np.ones((count, 4)))
    assert points.shape == (count, 2) and np.isfinite(points).all()


def test_progress_is_reported_for_every_step() -> None:
    seen: list[int] = []

    def over(steps: range) -> Iterator[int]:
        for step in steps:
            seen.append(step)
            yield step

    layout(drawn_groups(50, 2)[0], over)
    assert seen == list(range(300))
