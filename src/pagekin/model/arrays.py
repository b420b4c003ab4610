"""The array types that the whole house speaks of, and a word on them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
UInt32s: TypeAlias = NDArray[np.uint32]
Unsigned: TypeAlias = NDArray[np.unsignedinteger[Any]]  # of 16 or of 32 bits
UInt64s: TypeAlias = NDArray[np.uint64]
Int64s: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Integer: TypeAlias = int | np.integer[Any]


def spans(first: Int64s, counts: Int64s) -> Int64s:
    """The numbers from first[k] on, counts[k] of them, for one k after the other.

    >>> spans(np.array([5, 2]), np.array([2, 3])).tolist()
    [5, 6, 2, 3, 4]
    """
    before = np.cumsum(counts) - counts
    numbers: Int64s = np.arange(int(counts.sum())) + np.repeat(first - before, counts)
    return numbers


def offsets_of(counts: Int64s) -> Int64s:
    """The offsets of consecutive rows of these lengths: row k is offsets[k] to offsets[k+1].

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
