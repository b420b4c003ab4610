"""Familial distance of pages from a source, and agreement of a ranking by score with it (paper, definitions 1 to 3).

Pages at a smaller distance should score higher. A pair of pages at different distances is concordant if their scores
agree with the distances, discordant if they disagree, and tied if the scores are equal. A page that a system does not
list has the score minus infinity.

Pages are sorted by a single number, the key: the score in the upper bits, the distance in the lowest eight. This leaves
thirteen digits of the score; smaller differences may be due to the order of additions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Bytes, Floats, Int64s

SAME, SIBLING, COUSIN, UNRELATED = range(4)
CONCORDANT, DISCORDANT, TIED = range(3)
ALL = 0  # the region of all pairs; in region e > 0 one page is at distance 0 and the other at distance e
NO_DISTANCE = 255  # the distance of the source itself, and of a missing page
DISTANCE_BITS = 8
_LARGEST = 2**63 - 1


class PageClasses(NamedTuple):
    """The classes of pages in a hierarchy. Page p has classes[offsets[p]:offsets[p + 1]], at least one.

    A class is a row of `lineage`: the numbers of its ancestors from the top down to itself, `depth` of them.
    """

    offsets: Int64s
    classes: Int64s
    lineage: NDArray[np.int32]
    depth: Int64s
    whole_tree: bool  # how distances are measured, see `familial`


@inlined
def familial(a: int, b: int, pages: PageClasses) -> int:
    """The distance from class a to class b (definition 1).

    With `whole_tree` it is the number of steps from a up to the lowest common ancestor. Otherwise it is SAME; SIBLING,
    for one parent below the root; COUSIN, for one top-level class; or UNRELATED.
    """
    lineage, depth = pages.lineage, pages.depth
    shared = 0
    while shared < depth[a] and shared < depth[b] and lineage[a, shared] == lineage[b, shared]:
        shared += 1
    if pages.whole_tree:
        return int(depth[a]) - shared
    if a == b:
        return SAME
    if depth[a] == depth[b] and shared == depth[a] - 1 and shared > 0:
        return SIBLING
    return COUSIN if shared > 0 else UNRELATED


@kernel
def distances_from(source: int, pages: PageClasses, class_distances: Bytes, distances: Bytes) -> None:
    """The distance of every page from a source page: the minimum over all pairs of their classes.

    `class_distances` is a buffer of one byte per class.
    """
    offsets, classes = pages.offsets, pages.classes
    for c in range(len(pages.depth)):
        class_distances[c] = 255
        for k in range(offsets[source], offsets[source + 1]):
            class_distances[c] = min(class_distances[c], familial(classes[k], c, pages))
    for page in range(len(distances)):
        smallest = class_distances[classes[offsets[page]]]
        for k in range(offsets[page] + 1, offsets[page + 1]):
            smallest = min(smallest, class_distances[classes[k]])
        distances[page] = smallest


@kernel
def make_keys(bits: Int64s, distances: Bytes, keys: Int64s) -> None:
    """The keys of pages. The scores are given as the bits of floats, and none is -0.0."""
    for page in range(len(bits)):
        score = bits[page]
        if score < 0:
            score ^= _LARGEST  # bits of negative floats ascend as the numbers descend
        keys[page] = score >> DISTANCE_BITS << DISTANCE_BITS | distances[page]


@kernel
def count_pairs(keys: Int64s, pairs: Int64s) -> None:
    """Add to pairs[region] the numbers of concordant, discordant and tied pairs of pages; keys are sorted."""
    levels = len(pairs)
    below = np.zeros(levels, np.int64)  # pages with smaller scores, by distance
    equal = np.zeros(levels, np.int64)  # pages with this score so far, in order of distance
    score = -_LARGEST
    for k in range(len(keys)):
        distance = keys[k] & NO_DISTANCE
        if distance == NO_DISTANCE:
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
def top_pages(scores: Floats, distances: Bytes, top: Int64s) -> None:
    """The listed pages with the highest scores, best first; ties go to the earlier page; -1 if there are fewer."""
    top[:] = -1
    last = len(top) - 1
    for page in range(len(scores)):
        score = scores[page]
        if score == -np.inf or distances[page] == NO_DISTANCE or (top[last] >= 0 and score <= scores[top[last]]):
            continue
        k = last
        while k > 0 and (top[k - 1] < 0 or scores[top[k - 1]] < score):
            top[k] = top[k - 1]
            k -= 1
        top[k] = page


@kernel
def rank_rows(
    sources: Int64s, scores: Floats, of_pages: PageClasses, pages: Int64s, listed: Int64s, top: Bytes, keys: Int64s
) -> None:
    """For each source, given its row of scores: the number of pages and of listed pages at each distance, the distances
    of its top pages, and the keys of all pages.
    """
    class_distances = np.empty(len(of_pages.depth), np.uint8)
    distances = np.empty(scores.shape[1], np.uint8)
    top_page = np.empty(top.shape[1], np.int64)
    for row in range(len(sources)):
        distances_from(sources[row], of_pages, class_distances, distances)
        distances[sources[row]] = NO_DISTANCE
        for page in range(len(distances)):
            if distances[page] != NO_DISTANCE:
                pages[row, distances[page]] += 1
                listed[row, distances[page]] += scores[row, page] > -np.inf
        top_pages(scores[row], distances, top_page)
        for k in range(len(top_page)):
            top[row, k] = distances[top_page[k]] if top_page[k] >= 0 else NO_DISTANCE
        make_keys((scores[row] + 0.0).view(np.int64), distances, keys[row])  # + 0.0 turns -0.0 into 0.0


@kernel
def count_rows(keys: Int64s, pairs: Int64s) -> None:
    """`count_pairs` for each source, given its row of sorted keys."""
    for row in range(len(keys)):
        count_pairs(keys[row], pairs[row])
