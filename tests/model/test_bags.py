"""Bags as columns."""

from __future__ import annotations

import numpy as np

from pagekin.model.bags import Bags


def bags() -> Bags:
    """Three terms, none, one."""
    weight = np.array([0.5, 0.25, 0.25, 1.0], np.float32)
    return Bags(np.array([0, 3, 3, 4]), np.array([7, 2, 9, 4], np.uint32), weight, np.zeros(4, np.uint32), weight)


def test_heads_are_the_first_terms_and_zeros_after_them() -> None:
    heads = bags().heads(2)
    assert heads.term.tolist() == [[7, 2], [0, 0], [4, 0]]
    assert heads.weight.tolist() == [[0.5, 0.25], [0, 0], [1, 0]]


def test_the_first_bags_are_all_none_or_some() -> None:
    assert [len(bags().first(count)) for count in (-2, 0, 2, 3, 9)] == [0, 0, 2, 3, 3]
    assert bags().first(-1).heads(2).term.shape == (0, 2)
