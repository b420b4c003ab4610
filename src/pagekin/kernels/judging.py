"""How well an order by score accords with an order by familial distance, for one source (paper, definitions 2 and 3).

Pages at a smaller distance should score more. Of two pages at different distances the scores may say so (concordant),
say the contrary (discordant) or say nothing (tied). A page that a system does not list scores minus infinity.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.arrays import Bytes, Int64s
from pagekin.kernels.compile import kernel
from pagekin.kernels.kinship import distances_from

CONCORDANT, DISCORDANT, TIED = range(3)
ALL = 0  # the region of all pairs; in region e one page is at distance 0 and the other at distance e
NOBODY = 255  # a distance: of the source itself, and of what is not there


@kernel
def count_pairs(scores: NDArray[np.float64], order: Int64s, distances: Bytes, pairs: Int64s) -> None:
    """Add to pairs[region] the pairs of pages that are concordant, discordant and tied.

    `order` has the pages by rising score, in any order where scores are equal; pages of one score are taken together.
    """
    levels = len(pairs)
    below = np.zeros(levels, np.int64)
    equal = np.zeros(levels, np.int64)
    k = 0
    while k < len(order):
        score = scores[order[k]]
        equal[:] = 0
        while k < len(order) and scores[order[k]] == score:
            if distances[order[k]] < levels:
                equal[distances[order[k]]] += 1
            k += 1
        nearer = nearer_equal = 0
        farther = below.sum()
        for e in range(levels):
            farther -= below[e]
            pairs[ALL, CONCORDANT] += equal[e] * farther
            pairs[ALL, DISCORDANT] += equal[e] * nearer
            pairs[ALL, TIED] += equal[e] * nearer_equal
            if e > 0:
                pairs[e, CONCORDANT] += equal[0] * below[e]
                pairs[e, DISCORDANT] += equal[e] * below[0]
                pairs[e, TIED] += equal[e] * equal[0]
            nearer += below[e]
            nearer_equal += equal[e]
        below += equal


@kernel
def first_pages(scores: NDArray[np.float64], distances: Bytes, first: Int64s) -> None:
    """The listed pages that score most, the best first; of equal ones the earlier page; -1 where there are no more."""
    first[:] = -1
    last = len(first) - 1
    for page in range(len(scores)):
        score = scores[page]
        if score == -np.inf or distances[page] == NOBODY or (first[last] >= 0 and score <= scores[first[last]]):
            continue
        k = last
        while k > 0 and (first[k - 1] < 0 or scores[first[k - 1]] < score):
            first[k] = first[k - 1]
            k -= 1
        first[k] = page


@kernel
def judge_rows(
    sources: Int64s,
    scores: NDArray[np.float64],
    order: Int64s,
    offsets: Int64s,
    classes: Int64s,
    lineage: NDArray[np.int32],
    depth: Int64s,
    whole_tree: bool,
    pairs: Int64s,
    pages: Int64s,
    listed: Int64s,
    first: Bytes,
) -> None:
    """For each source, given its row of scores: its pairs, how many pages and listed pages there are at each distance,
    and the distances of the pages that it puts first.
    """
    near = np.empty(len(depth), np.uint8)
    distances = np.empty(scores.shape[1], np.uint8)
    best = np.empty(first.shape[1], np.int64)
    for row in range(len(sources)):
        distances_from(sources[row], offsets, classes, lineage, depth, whole_tree, near, distances)
        distances[sources[row]] = NOBODY
        for page in range(len(distances)):
            if distances[page] != NOBODY:
                pages[row, distances[page]] += 1
                listed[row, distances[page]] += scores[row, page] > -np.inf
        count_pairs(scores[row], order[row], distances, pairs[row])
        first_pages(scores[row], distances, best)
        for k in range(len(best)):
            first[row, k] = distances[best[k]] if best[k] >= 0 else NOBODY
