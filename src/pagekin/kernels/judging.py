"""How well an order by score accords with an order by familial distance, for one source (paper, definitions 2 and 3).

Pages at a smaller distance should score more. Of two pages at different distances the scores may say so (concordant),
say the contrary (discordant) or say nothing (tied).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.arrays import Bytes, Int64s
from pagekin.kernels.compile import kernel

CONCORDANT, DISCORDANT, TIED = range(3)


@kernel
def count_pairs(scores: NDArray[np.float64], distances: Bytes, counts: Int64s) -> None:
    """Add to counts[d, e], for distances d < e, the pairs of pages at these that are concordant, discordant and tied.

    Pages are looked at by rising score, those of one score together: n log n steps for n pages.
    """
    levels = counts.shape[0]
    order = np.argsort(scores)
    below = np.zeros(levels, np.int64)
    equal = np.zeros(levels, np.int64)
    k = 0
    while k < len(order):
        equal[:] = 0
        score = scores[order[k]]
        while k < len(order) and scores[order[k]] == score:
            equal[distances[order[k]]] += 1
            k += 1
        for d in range(levels):
            for e in range(d + 1, levels):
                counts[d, e, CONCORDANT] += equal[d] * below[e]
                counts[d, e, DISCORDANT] += equal[e] * below[d]
                counts[d, e, TIED] += equal[d] * equal[e]
        below += equal
