"""How well an order by score accords with an order by familial distance, for one source (paper, definitions 2 and 3).

Pages at a smaller distance should score more. Of two pages at different distances the scores may say so (concordant),
say the contrary (discordant) or say nothing (tied). A page that a system does not list scores minus infinity.

A page is sorted as one number, its key: its score in the upper bits, its distance in the lowest eight. The score gives
these bits up, and is told apart to thirteen digits; what differs less, the order of additions may have parted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.kernels.familial_distance import distances_from
from pagekin.model.arrays import Bytes, Int64s

CONCORDANT, DISCORDANT, TIED = range(3)
ALL = 0  # the region of all pairs; in region e one page is at distance 0 and the other at distance e
NOBODY = 255  # a distance: of the source itself, and of what is not there
DISTANCE_BITS = 8
_LARGEST = 2**63 - 1


@kernel
def make_keys(bits: Int64s, distances: Bytes, keys: Int64s) -> None:
    """The keys of pages, whose scores are floats (and none of them -0.0) that are given as their bits."""
    for page in range(len(bits)):
        score = bits[page]
        if score < 0:
            score ^= _LARGEST  # of negative floats the larger bits are those of the smaller number
        keys[page] = score >> DISTANCE_BITS << DISTANCE_BITS | distances[page]


@kernel
def count_pairs(keys: Int64s, pairs: Int64s) -> None:
    """Add to pairs[region] the pairs of pages that are concordant, discordant and tied; keys are sorted."""
    levels = len(pairs)
    below = np.zeros(levels, np.int64)  # pages of smaller scores, by distance
    equal = np.zeros(levels, np.int64)  # pages of this score so far, the nearer ones first
    score = -_LARGEST
    for k in range(len(keys)):
        distance = keys[k] & NOBODY
        if distance == NOBODY:
            continue
        if keys[k] >> DISTANCE_BITS != score:
            score = keys[k] >> DISTANCE_BITS
            for e in range(levels):
                below[e] += equal[e]
                equal[e] = 0
        for e in range(distance):
            pairs[ALL, DISCORDANT] += below[e]
            pairs[ALL, TIED] += equal[e]
        for e in range(distance + 1, levels):
            pairs[ALL, CONCORDANT] += below[e]
        if distance == 0:
            for e in range(1, levels):
                pairs[e, CONCORDANT] += below[e]
        else:
            pairs[distance, DISCORDANT] += below[0]
            pairs[distance, TIED] += equal[0]
        equal[distance] += 1


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
def look_at_rows(
    sources: Int64s,
    scores: NDArray[np.float64],
    bits: Int64s,
    offsets: Int64s,
    classes: Int64s,
    lineage: NDArray[np.int32],
    depth: Int64s,
    whole_tree: bool,
    pages: Int64s,
    listed: Int64s,
    first: Bytes,
    keys: Int64s,
) -> None:
    """For each source, given its row of scores: how many pages and listed pages there are at each distance, the
    distances of the pages that it puts first, and the keys of all pages.
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
        first_pages(scores[row], distances, best)
        for k in range(len(best)):
            first[row, k] = distances[best[k]] if best[k] >= 0 else NOBODY
        make_keys(bits[row], distances, keys[row])


@kernel
def count_rows(keys: Int64s, pairs: Int64s) -> None:
    """The pairs of each source, given a row of sorted keys."""
    for row in range(len(keys)):
        count_pairs(keys[row], pairs[row])
