"""The decomposition, against that of numpy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.engines.local import WorkerPool
from pagekin.latent import svd
from pagekin.latent.build import SAMPLE
from pagekin.latent.matrix import COLUMNS, SparseRows
from pagekin.latent.svd import right_singular_vectors
from pagekin.latent.vectors import DIMENSIONS
from pagekin.model.arrays import Float32s, Floats, offsets_of
from pagekin.pipeline import LEAST_MEMORY


def sparse(matrix: Floats) -> SparseRows:
    """The matrix with its zeros left out."""
    row, column = np.nonzero(matrix)
    counts = np.bincount(row, minlength=len(matrix))
    return SparseRows(offsets_of(counts), column.astype(np.uint32), matrix[row, column].astype(np.float32))


def decomposed(matrix: Floats, most: int, seed: int = 1, workers: int = 1) -> Float32s:
    return right_singular_vectors(sparse(matrix), sparse(matrix.T), most, seed, WorkerPool(workers).map)


def random_matrix(rows: int, columns: int, rank: int, seed: int = 3) -> Floats:
    """A matrix of this rank with singular values that decrease, plus a little noise."""
    dice = np.random.default_rng(seed)
    left, right = dice.standard_normal((rows, rank)), dice.standard_normal((rank, columns))
    return left * np.geomspace(10.0, 1.0, rank) @ right + 0.01 * dice.standard_normal((rows, columns))


@given(st.integers(2, 12), st.integers(2, 12), st.integers(1, 5), st.integers(0, 99))
def test_no_projection_to_as_many_dimensions_is_nearer(rows: int, columns: int, rank: int, seed: int) -> None:
    """The best distance is the length of the singular values that are left out."""
    matrix = random_matrix(rows, columns, rank, seed)
    most = min(rank, rows, columns)
    found = decomposed(matrix, most).astype(np.float64)
    values = np.linalg.svd(matrix)[1]
    distance = np.linalg.norm(matrix - matrix @ found @ found.T)
    assert distance == pytest.approx(np.linalg.norm(values[most:]), abs=2e-3 * values[0])


def test_a_matrix_that_is_larger_than_the_subspace_is_decomposed_as_numpy_does_it() -> None:
    matrix = random_matrix(400, 330, 30)
    found = decomposed(matrix, 20).astype(np.float64)
    assert np.abs((np.linalg.svd(matrix)[2][:20] @ found).diagonal()) == pytest.approx(np.ones(20), abs=1e-3)


def test_singular_vectors_are_orthonormal() -> None:
    found = decomposed(random_matrix(400, 330, 60), 40).astype(np.float64)
    assert found.T @ found == pytest.approx(np.eye(40), abs=1e-3)


def test_a_decomposition_takes_no_more_memory_than_foretold_and_the_largest_less_than_any_build() -> None:
    rows, columns, most = 6000, 3000, 128
    matrix = random_matrix(rows, columns, 5) * (np.arange(columns) % 40 == 0)
    both = sparse(matrix), sparse(matrix.T)
    tracemalloc.start()
    try:
        right_singular_vectors(*both, most, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    foretold = svd.dense_bytes(rows, columns, most)
    assert 4 * rows * 256 < peak < foretold + (1 << 20)
    assert svd.dense_bytes(SAMPLE, COLUMNS, DIMENSIONS) < LEAST_MEMORY // 4


@pytest.mark.parametrize("rows", [60, 300])  # below and above the size of the subspace
def test_a_matrix_has_no_more_dimensions_than_its_rank(rows: int) -> None:
    dice = np.random.default_rng(5)
    matrix = dice.integers(1, 9, (rows, 3)).astype(np.float64) @ dice.integers(0, 3, (3, 40))
    found = decomposed(matrix, 30)
    assert found.shape == (40, 3)
    assert matrix @ found @ found.T == pytest.approx(matrix, rel=1e-3)


def test_the_result_does_not_depend_on_the_number_of_workers() -> None:
    matrix = random_matrix(700, 90, 30)
    one, other = (decomposed(matrix, 20, workers=workers) for workers in (1, 3))
    assert one.tobytes() == other.tobytes()


def test_dense_blocks_are_small_enough_for_one_thread_of_openblas() -> None:
    """It divides a product among threads from 4 * 65,536 multiplications on (interface/gemm.c)."""
    assert svd._ROWS * svd._SUBSPACE * svd._BLOCK <= 4 * 65_536
