"""Names of array types, and ranges of indices."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
UInt32s: TypeAlias = NDArray[np.uint32]
Unsigned: TypeAlias = NDArray[np.unsignedinteger[Any]]  # 16 or 32 bits
UInt64s: TypeAlias = NDArray[np.uint64]
Int64s: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Float32s: TypeAlias = NDArray[np.float32]
Integer: TypeAlias = int | np.integer[Any]


def spans(first: Int64s, counts: Int64s) -> Int64s:
    """For each k in turn, counts[k] consecutive numbers from first[k] on.

    >>> spans(np.array([5, 2]), np.array([2, 3])).tolist()
    [5, 6, 2, 3, 4]
    """
    before = np.cumsum(counts) - counts
    numbers: Int64s = np.arange(int(counts.sum())) + np.repeat(first - before, counts)
    return numbers
