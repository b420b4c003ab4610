"""Eigenvalues and eigenvectors of symmetric matrices, against Jacobi's rotations, numpy and their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.symmetric_eigen import eigen
from pagekin.model.arrays import Floats
from reference import symmetric_eigen as reference


def assert_decomposed(matrix: Floats, expected: list[float]) -> None:
    """The eigenvalues are those expected, and matrix x vector = value x vector for orthonormal vectors."""
    values, vectors = eigen(matrix)
    size = max(1.0, float(np.abs(matrix).max(initial=0.0)))
    assert values == pytest.approx(np.array(expected), abs=1e-10 * size)
    assert matrix @ vectors == pytest.approx(vectors * values, abs=1e-10 * size)
    assert vectors.T @ vectors == pytest.approx(np.eye(len(matrix)), abs=1e-10)


@settings(max_examples=40)
@given(st.integers(1, 6), st.data())
def test_eigenvalues_are_those_of_the_reference(size: int, data: st.DataObject) -> None:
    """Small integers, so that many matrices are singular or have equal eigenvalues."""
    row = st.lists(st.integers(-3, 3).map(float), min_size=size, max_size=size)
    half = np.array(data.draw(st.lists(row, min_size=size, max_size=size)))
    matrix: Floats = half + half.T
    assert_decomposed(matrix, reference.eigenvalues(matrix.tolist()))


@pytest.mark.parametrize("rank", [1, 20, 60])
def test_a_large_matrix_is_decomposed_as_numpy_does_it(rank: int) -> None:
    half = np.random.default_rng(rank).standard_normal((60, rank)) * np.geomspace(1e6, 1.0, rank)
    matrix: Floats = half @ half.T
    assert_decomposed(matrix, np.linalg.eigvalsh(matrix)[::-1].tolist())


@pytest.mark.parametrize("matrix", [np.zeros((4, 4)), np.eye(5), np.diag([3.0, 1.0, 2.0])])
def test_a_diagonal_matrix_has_its_diagonal(matrix: Floats) -> None:
    assert_decomposed(matrix, sorted(matrix.diagonal().tolist(), reverse=True))
