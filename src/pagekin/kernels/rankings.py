"""Familial distance of pages from a source, and agreement of a ranking by score with it (paper, definitions 1 to 3).

Pages at a smaller distance should score higher. A pair of pages at different distances is concordant if their scores
agree with the distances, discordant if they disagree, and tied if the scores are equal. A page that a system does not
list has the score minus infinity.

Pages are sorted by a single number, the key: the score in the upper bits, the distance in the lowest eight. This leaves
thirteen digits of the score; smaller differences may be due to the order of additions.

`measure_rows` has the precision of rankings of linked pages (LinkLearn paper, 4.1).
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.model.arrays import Bytes, Floats, Int32s, Int64s, UInt32s

SAME, SIBLING, COUSIN, UNRELATED = range(4)
CONCORDANT, DISCORDANT, TIED = range(3)
ALL = 0  # the region of all pairs; in region e > 0 one page is at distance 0 and the other at distance e
NO_DISTANCE = 255  # the distance of the source itself, and of a missing page
DISTANCE_BITS = 8
_LARGEST = 2**63 - 1
ERROR, P10, BREAK_EVEN, AVERAGE = range(4)  # columns of `measure_rows`
FIRST = 10


class PageClasses(NamedTuple):
    """The classes of pages in a hierarchy. Page p has classes[offsets[p]:offsets[p + 1]], at least one.

    A class is a row of `lineage`: the numbers of its ancestors from the top down to itself, `depth` of them.
    """

    offsets: Int64s
    classes: Int64s
    lineage: Int32s
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


@kernel
def measure_rows(queries: Int64s, offsets: Int64s, relevant: UInt32s, scores: Floats, out: Floats) -> None:
    """For each row of scores: the share of pairs of a relevant and another page that are in the wrong order, the
    precision of the first ten, the R-precision (of the first R for R relevant pages), and average precision.

    The relevant (linked) pages of row k are relevant[offsets[k]:offsets[k + 1]], in ascending order. Ties go to the
    earlier page, as in the run files that other programs read. Not listed are the page queries[k] (-1: the query is not
    a page), and pages with the score 0, which share no term with it.
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
def rank_relevant(queries: Int64s, offsets: Int64s, relevant: UInt32s, scores: Floats, places: Int64s) -> None:
    """Write the places, from 1, of the relevant pages of each row in the ranking by score, the best first.

    Arguments are those of `measure_rows`. A page with the score minus infinity is not listed: its place is 0.
    """
    above = np.empty(len(relevant) + 1, np.int64)
    for k in range(len(queries)):
        row, own = scores[k], relevant[offsets[k] : offsets[k + 1]]
        best = own[np.argsort(-row[own], kind="mergesort")]
        _count_above(above, best, row, own, queries[k])
        higher = 0
        for r in range(len(own)):
            higher += above[r]
            places[offsets[k] + r] = higher + r + 1 if row[best[r]] > -np.inf else 0


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
