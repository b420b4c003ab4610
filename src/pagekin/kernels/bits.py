"""One byte of many, at a place that is never counted from the end: then numba need not ask, which takes a third off."""

from __future__ import annotations

import numpy as np

from pagekin.kernels.inline import inlined
from pagekin.model.arrays import Bytes


@inlined
def peek(array: Bytes, place: int) -> int:
    """array[place]."""
    return np.int64(array[np.uint64(place)])  # type: ignore[return-value]


@inlined
def poke(array: Bytes, place: int, value: int) -> None:
    """array[place] = value."""
    array[np.uint64(place)] = value
