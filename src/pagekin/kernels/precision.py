"""How well rows of scores put the linked pages before the others (paper, 4.1).

Of equal scores the earlier page comes first, as in the files that other programs read. A page that shares nothing with
the one that asks scores 0 and is not listed.
"""

from __future__ import annotations

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Floats, Int64s, UInt32s

ERROR, P10, BREAK_EVEN, AVERAGE = range(4)
FIRST = 10


@kernel
def measure_rows(asking: Int64s, offsets: Int64s, right: UInt32s, scores: Floats, out: Floats) -> None:
    """For each row of scores: the share of pairs of a right and another page that are in the wrong order, the precision
    of the first ten and of the first R of R right pages, and average precision.

    The right pages of row k are right[offsets[k]:offsets[k + 1]], in order; asking[k] is not listed (-1: nobody).
    """
    most = 0
    for k in range(len(asking)):
        most = max(most, offsets[k + 1] - offsets[k])
    above = np.empty(most + 1, np.int64)
    for k in range(len(asking)):
        row = scores[k]
        count = offsets[k + 1] - offsets[k]
        mine = right[offsets[k] : offsets[k + 1]]
        best = _best_first(row, mine)
        wrong = _count_above(above, best, row, mine, asking[k])
        others = len(row) - count - (1 if asking[k] >= 0 else 0)
        first = even = 0
        average = 0.0
        higher = 0
        for r in range(count):
            higher += above[r]
            if row[best[r]] == 0.0:
                break
            place = higher + r + 1
            first += place <= FIRST
            even += place <= count
            average += (r + 1) / place
        out[k, ERROR] = wrong / (float(count) * others) if others > 0 else 0.0
        out[k, P10] = first / FIRST
        out[k, BREAK_EVEN] = even / count
        out[k, AVERAGE] = average / count


@kernel
def _best_first(row: Floats, right: UInt32s) -> UInt32s:
    """The right pages, the highest score first, of equal ones the earlier page."""
    return right[np.argsort(-row[right], kind="mergesort")]


@kernel
def _count_above(above: Int64s, best: UInt32s, row: Floats, right: UInt32s, asking: int) -> float:
    """Into above[r], how many other pages come right before the r-th right page and after the one before that; and how
    many pairs are wrong: the other page scores more.
    """
    count = len(right)
    above[: count + 1] = 0
    wrong = 0.0
    next_right = 0
    for e in range(len(row)):
        if next_right < count and right[next_right] == e:
            next_right += 1
            continue
        if e == asking:
            continue
        low, high = 0, count  # the first right page that comes after e
        while low < high:
            middle = (low + high) // 2
            if row[best[middle]] > row[e] or (row[best[middle]] == row[e] and best[middle] < e):
                low = middle + 1
            else:
                high = middle
        above[low] += 1
        while low < count and row[best[low]] == row[e]:
            low += 1
        wrong += count - low
    return wrong
