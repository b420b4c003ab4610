"""How well rows of scores rank the relevant (linked) pages above the others (paper, 4.1).

Ties go to the earlier page, as in the run files that other programs read. A page with the score 0 shares no term with
the query page and is not listed.
"""

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.model.arrays import Floats, Int64s, UInt32s

ERROR, P10, BREAK_EVEN, AVERAGE = range(4)
FIRST = 10


@kernel
def measure_rows(queries: Int64s, offsets: Int64s, relevant: UInt32s, scores: Floats, out: Floats) -> None:
    """For each row of scores: the share of pairs of a relevant and another page that are in the wrong order, the
    precision of the first ten, the R-precision (of the first R for R relevant pages), and average precision.

    The relevant pages of row k are relevant[offsets[k]:offsets[k + 1]], in ascending order. The page queries[k] is not
    listed (-1: the query is not a page).
    """
    above = np.empty(len(relevant) + 1, np.int64)
    for k in range(len(queries)):
        row, count, own = scores[k], offsets[k + 1] - offsets[k], relevant[offsets[k] : offsets[k + 1]]
        best = own[np.argsort(-row[own], kind="mergesort")]  # ties go to the earlier page
        wrong = _count_above(above, best, row, own, queries[k])
        others = len(row) - count - (1 if queries[k] >= 0 else 0)
        first = even = higher = 0
        average = 0.0
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
def _count_above(above: Int64s, best: UInt32s, row: Floats, relevant: UInt32s, query: int) -> float:
    """Write to above[r] the number of other pages between relevant pages r - 1 and r of the ranking.

    Returns the number of wrong pairs, in which the other page scores higher.
    """
    count = len(relevant)
    above[: count + 1] = 0
    wrong, next_relevant = 0.0, 0
    for e in range(len(row)):
        if next_relevant < count and relevant[next_relevant] == e:
            next_relevant += 1
            continue
        if e == query:
            continue
        low, high = 0, count  # the first relevant page after e
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
