"""The array types of the package, and arithmetic on offsets."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Bytes: TypeAlias = NDArray[np.uint8]
UInt32s: TypeAlias = NDArray[np.uint32]
Unsigned: TypeAlias = NDArray[np.unsignedinteger[Any]]  # 16 or 32 bits
UInt64s: TypeAlias = NDArray[np.uint64]
Int64s: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Float32s: TypeAlias = NDArray[np.float32]
Integer: TypeAlias = int | np.integer[Any]


def offsets_of(lengths: Int64s) -> Int64s:
    """The offsets of rows of these lengths, with the end of the last row.

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def spans(first: Int64s, counts: Int64s) -> Int64s:
    """For each k in turn, counts[k] consecutive numbers from first[k] on.

    >>> spans(np.array([5, 2]), np.array([2, 3])).tolist()
    [5, 6, 2, 3, 4]
    """
    before = np.cumsum(counts) - counts
    numbers: Int64s = np.arange(int(counts.sum())) + np.repeat(first - before, counts)
    return numbers


def distinct(numbers: Int64s) -> Int64s:
    """The distinct numbers, ascending. `np.unique` alone imports numpy.ma, which takes longer than a query.

    >>> distinct(np.array([5, 2, 5])).tolist()
    [2, 5]
    """
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]
