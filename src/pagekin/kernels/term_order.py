"""The order of terms in a bag: the heaviest first, so that its head tells most of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Int64s, UInt32s


@kernel
def heaviest_first(
    offsets: Int64s,
    term: UInt32s,
    weight: NDArray[np.float32],
    content: UInt32s,
    around: NDArray[np.float32],
) -> None:
    """Sort every bag, in place, by falling weight; terms of one weight stay in their order."""
    for node in range(len(offsets) - 1):
        begin = offsets[node]
        end = offsets[node + 1]
        order = np.argsort(-weight[begin:end], kind="mergesort")
        term[begin:end] = term[begin:end][order]
        weight[begin:end] = weight[begin:end][order]
        content[begin:end] = content[begin:end][order]
        around[begin:end] = around[begin:end][order]
