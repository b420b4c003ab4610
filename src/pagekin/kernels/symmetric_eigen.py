"""Eigenvalues and -vectors of a symmetric matrix: Householder reduction and implicit QL (tred2 and tql2 of EISPACK).

LAPACK as numpy calls it divides this work among threads, with results that depend on their number, and is slow where
other processes keep the processors busy.
"""

import math

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Floats

_EPSILON = 2.0**-52
_ITERATIONS = 60  # for one eigenvalue; two are usual


@kernel
def tridiagonalise(matrix: Floats, diagonal: Floats, beside: Floats, basis: Floats) -> None:
    """Reduce `matrix`, which is overwritten, to Q' matrix Q: its diagonal, what is beside it, and Q' in `basis`."""
    size = len(matrix)
    reflection = np.zeros((size, size))
    row = np.zeros(size)
    for k in range(size - 1):
        square = 0.0
        for i in range(k + 1, size):
            square += matrix[k, i] * matrix[k, i]
        first = matrix[k, k + 1]
        length = math.sqrt(square)
        beside[k] = -length if first > 0.0 else length
        norm = math.sqrt(2.0 * (square - first * beside[k]))
        if norm > 0.0:
            for i in range(k + 1, size):
                reflection[k, i] = (matrix[k, i] - (beside[k] if i == k + 1 else 0.0)) / norm
        _reflect_both_sides(matrix, reflection[k], row, k + 1)
    for k in range(size):
        diagonal[k] = matrix[k, k]
        for i in range(size):
            basis[k, i] = 1.0 if i == k else 0.0
    for k in range(size - 1):  # Q' = H(n-2) ... H(0)
        _reflect(basis, reflection[k], row, k + 1)


@kernel
def _reflect(matrix: Floats, reflection: Floats, row: Floats, first: int) -> None:
    """(I - 2 v v') matrix, where v is 0 before `first`."""
    row[:] = 0.0
    for i in range(first, len(matrix)):
        for j in range(len(matrix)):
            row[j] += reflection[i] * matrix[i, j]
    for i in range(first, len(matrix)):
        for j in range(len(matrix)):
            matrix[i, j] -= 2.0 * reflection[i] * row[j]


@kernel
def _reflect_both_sides(matrix: Floats, reflection: Floats, row: Floats, first: int) -> None:
    """(I - 2 v v') matrix (I - 2 v v') for the rows and columns from `first` on."""
    size = len(matrix)
    row[:] = 0.0
    for i in range(first, size):
        for j in range(first, size):
            row[j] += reflection[i] * matrix[i, j]
    product = 0.0
    for i in range(first, size):
        product += reflection[i] * row[i]
    for i in range(first, size):
        row[i] -= product * reflection[i]
    for i in range(first, size):
        for j in range(first, size):
            matrix[i, j] -= 2.0 * (reflection[i] * row[j] + row[i] * reflection[j])


@kernel
def diagonalise(diagonal: Floats, beside: Floats, basis: Floats) -> None:
    """The eigenvalues of a tridiagonal matrix, in `diagonal`, and its eigenvectors, in the rows of `basis`."""
    size = len(diagonal)
    for low in range(size):
        for _ in range(_ITERATIONS):
            high = low
            while high < size - 1 and abs(beside[high]) > _EPSILON * (abs(diagonal[high]) + abs(diagonal[high + 1])):
                high += 1
            if high == low:
                break
            _step(low, high, diagonal, beside, basis)


@kernel
def _step(low: int, high: int, diagonal: Floats, beside: Floats, basis: Floats) -> None:
    """One step of the QL algorithm with an implicit shift, from row `high` up to row `low`."""
    g = (diagonal[low + 1] - diagonal[low]) / (2.0 * beside[low])
    r = math.sqrt(g * g + 1.0)
    g = diagonal[high] - diagonal[low] + beside[low] / (g + (r if g >= 0.0 else -r))
    sine, cosine, shift = 1.0, 1.0, 0.0
    for i in range(high - 1, low - 1, -1):
        f, b = sine * beside[i], cosine * beside[i]
        r = math.sqrt(f * f + g * g)
        beside[i + 1] = r
        if r == 0.0:
            diagonal[i + 1] -= shift
            beside[high] = 0.0
            return
        sine, cosine = f / r, g / r
        g = diagonal[i + 1] - shift
        r = (diagonal[i] - g) * sine + 2.0 * cosine * b
        shift = sine * r
        diagonal[i + 1] = g + shift
        g = cosine * r - b
        for j in range(basis.shape[1]):
            lower, upper = basis[i, j], basis[i + 1, j]
            basis[i + 1, j] = sine * lower + cosine * upper
            basis[i, j] = cosine * lower - sine * upper
    diagonal[low] -= shift
    beside[low] = g
    beside[high] = 0.0


def eigen(matrix: Floats) -> tuple[Floats, Floats]:
    """The eigenvalues of a symmetric matrix, the largest first, and its eigenvectors, a column each."""
    size = len(matrix)
    values, beside, basis = np.zeros(size), np.zeros(size), np.zeros((size, size))
    tridiagonalise(matrix.copy(), values, beside, basis)
    diagonalise(values, beside, basis)
    order = np.argsort(-values, kind="stable")
    return values[order], basis[order].T
