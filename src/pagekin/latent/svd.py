"""The leading singular vectors of a sparse matrix A, by a block Lanczos method with a random start.

The Krylov subspace of A A' is built from blocks of 16 vectors, with full reorthogonalisation; its Ritz vectors are the
left singular vectors. With 256 vectors, the ten nearest pages agree with those of the exact decomposition as well as
after four power iterations of a randomised SVD (Halko et al. 2011), at half the work (Musco and Musco 2015).
"""

import numpy as np

from pagekin.kernels.symmetric_eigen import eigen
from pagekin.latent.matrix import SparseRows
from pagekin.model.arrays import Float32s, Floats
from pagekin.store.columns import Mapper

_BLOCK = 16  # 64 bytes, which is a cache line
_SUBSPACE = 256
_ROWS = 64  # of a dense matrix, multiplied at a time; for 64 x 256 x 16, OpenBLAS does not split sums among threads
_LEAST = 1e-10  # squared length of a vector that is new to the subspace, relative to that before the projection
_NULL = 1e-6  # squared singular values that count as 0, relative to the largest; float32 has seven digits


def dense_bytes(rows: int, columns: int, most: int) -> int:
    """The memory that a decomposition takes at most, besides the matrix and its transposed, which are memory-mapped.

    These are the basis of the subspace, blocks of 16 vectors, and the vectors of the result.
    """
    blocks = 6 * _BLOCK
    return 4 * (rows * (_SUBSPACE + max(most, blocks)) + columns * max(most, 2 * _BLOCK)) + 16 * _SUBSPACE**2


def right_singular_vectors(
    rows: SparseRows, transposed: SparseRows, most: int, seed: int, mapper: Mapper = map
) -> Float32s:
    """The right singular vectors of the largest singular values, a column each: `most` or as many as there are."""
    basis, inner = _subspace(rows, transposed, seed, mapper)
    values, vectors = eigen(inner)
    values, vectors = values[:most], vectors[:, :most]
    there = values > _NULL * values.max(initial=0.0)
    left = _times(basis, vectors[:, there] / np.sqrt(values[there]))
    del basis  # the largest matrix of all
    return transposed.times(left, mapper)


def _subspace(rows: SparseRows, transposed: SparseRows, seed: int, mapper: Mapper) -> tuple[Float32s, Floats]:
    """An orthonormal basis K of a subspace, and K' A A' K."""
    size = min(_SUBSPACE, len(rows))
    basis = np.zeros((len(rows), size), np.float32)
    inner = np.zeros((size, size))
    few = len(rows) == size
    start = np.random.default_rng(seed).standard_normal((len(rows), _BLOCK), np.float32)
    block = np.eye(size, _BLOCK, dtype=np.float32) if few else _orthonormal(start, 0.0)
    end = 0
    while block.shape[1] and end < size:
        block = block[:, : size - end]
        begin, end = end, end + block.shape[1]
        basis[:, begin:end] = block
        product = rows.times(transposed.times(block, mapper), mapper)
        shares = inner[:end, begin:end] = _inner(basis[:, :end], product)
        if few:  # the subspace is the whole space
            block = np.eye(size, _BLOCK, -end, dtype=np.float32)
        elif end < size:
            block = _new_directions(basis[:, :end], product, shares)
    upper = np.triu(inner[:end, :end])
    return basis[:, :end], upper + np.triu(upper, 1).T


def _new_directions(basis: Float32s, block: Float32s, shares: Floats) -> Float32s:
    """An orthonormal basis of what a block adds to a subspace, given its products with the basis of that."""
    least = _LEAST * float(np.trace(_inner(block, block)))
    block = _orthonormal(block - _times(basis, shares), least)
    return _orthonormal(block - _times(basis, _inner(basis, block)), 0.0)  # again, against rounding errors


def _orthonormal(block: Float32s, least: float) -> Float32s:
    """An orthonormal basis of the directions in which a block has more than the `least` squared length."""
    values, vectors = eigen(_inner(block, block))
    there = values > least
    return _times(block, vectors[:, there] / np.sqrt(values[there]))


def _inner(a: Float32s, b: Float32s) -> Floats:
    """The transposed of `a` times `b`."""
    total = np.zeros((a.shape[1], b.shape[1]))
    for begin in range(0, len(a), _ROWS):
        total += a[begin : begin + _ROWS].T @ b[begin : begin + _ROWS]
    return total


def _times(a: Float32s, b: Floats) -> Float32s:
    """`a` times a small matrix."""
    product, factor = np.empty((len(a), b.shape[1]), np.float32), b.astype(np.float32)
    for begin in range(0, len(a), _ROWS):
        for first in range(0, b.shape[1], _BLOCK):
            some = slice(begin, begin + _ROWS), slice(first, first + _BLOCK)
            product[some] = a[some[0]] @ factor[:, some[1]]
    return product
