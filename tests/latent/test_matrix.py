"""The sums by which the terms of the matrix are chosen."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.bags.weigh import SpilledPiece
from pagekin.latent.matrix import _squares

BAGS = st.lists(st.dictionaries(st.integers(0, 5), st.floats(0.125, 50.0, width=32)), min_size=1, max_size=8)


def piece_of(bags: list[dict[int, float]]) -> SpilledPiece:
    lengths = np.array([len(bag) for bag in bags], np.int64)
    term = np.array([term for bag in bags for term in sorted(bag)], np.uint32)
    content = np.array([bag[term] for bag in bags for term in sorted(bag)], np.float32)
    return SpilledPiece(lengths, term, np.ones(len(term), np.uint32), content, np.zeros_like(content))


@given(BAGS, st.integers(0, 8))
def test_sums_of_squared_weights_are_the_same_however_pages_are_divided(bags: list[dict[int, float]], cut: int) -> None:
    """The weight of a term is log(1 + 20 lead) times its inverse document frequency, as `latent.build` says."""
    inverse = np.array([0.0, 0.3, 1.1, 2.7, 4.9, 9.3])
    whole, parted = np.zeros(6), np.zeros(6)
    for sums, pieces in ((whole, [bags]), (parted, [bags[cut:], bags[:cut]])):
        for piece in map(piece_of, pieces):
            found = _squares(inverse, (slice(0, len(piece.lengths)), piece))
            sums[found["term"]] += found["squares"]
    assert whole.tolist() == parted.tolist()
    exact = [
        sum((math.log(1 + 20 * bag[term]) * inverse[term]) ** 2 for bag in bags if term in bag) for term in range(6)
    ]
    assert np.allclose(whole, exact, atol=1e-4)
