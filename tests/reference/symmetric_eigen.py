"""Eigenvalues of a symmetric matrix by Jacobi's rotations."""

import math
from collections.abc import Sequence


def eigenvalues(matrix: Sequence[Sequence[float]], sweeps: int = 12) -> list[float]:
    """The eigenvalues, the largest first.

    >>> [round(value, 9) for value in eigenvalues([[2.0, 1.0], [1.0, 2.0]])]
    [3.0, 1.0]
    """
    a = [list(row) for row in matrix]
    for _ in range(sweeps):
        for p in range(len(a)):
            for q in range(p):
                angle = 0.5 * math.atan2(2.0 * a[p][q], a[q][q] - a[p][p])
                c, s = math.cos(angle), math.sin(angle)
                for row in a:
                    row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
                for k in range(len(a)):
                    a[p][k], a[q][k] = c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]
    return sorted((a[k][k] for k in range(len(a))), reverse=True)
