"""Candidates and scores for many pages at a time: row k has the candidates of page k.

Scores come from the kernels that score the candidates of one page, so they are the same to the last bit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.kernels.int8_products import cosines as cosines_of
from pagekin.kernels.link_scores import LinkSums, coupling, link_shares, proximity
from pagekin.kernels.query import minima as minima_of
from pagekin.kernels.query import nth_smallest
from pagekin.kernels.sparse_products import list_cosines as list_cosines_of
from pagekin.kernels.sparse_products import row_products
from pagekin.model.arrays import Bools, Float32s, Floats, Int64s, Integer, UInt32s, Unsigned
from pagekin.model.link_columns import LinkColumns, LinkLimits

PROXIMITY, COUPLING, LINK_SHARES = range(3)  # kinds of link scores
_FEW = 64  # nodes that are chosen faster by insertion into an ordered list


class PageRows(NamedTuple):
    """Rows of candidates: those of page k are node[offsets[k]] to node[offsets[k + 1]]."""

    offsets: Int64s
    node: Int64s


class ScoredRows(NamedTuple):
    """Rows of candidates with their scores."""

    offsets: Int64s
    node: Int64s
    score: Floats


class SparseVectors(NamedTuple):
    """Sparse vectors: those of row k are column[offsets[k]] to column[offsets[k + 1]], ascending, and their values."""

    offsets: Int64s
    column: UInt32s
    value: Float32s


class ListedPages(NamedTuple):
    """Lists of pages: those of list k are page[offsets[k]] to page[offsets[k + 1]]."""

    offsets: Int64s
    page: UInt32s


class QueryVectors(NamedTuple):
    """Vectors of small integers, their lengths, and for each the node that it is the vector of, or -1."""

    row: NDArray[np.int8]
    norm: Float32s
    own: Int64s


@kernel
def choose(node: Int64s, score: Floats, most: int, chosen: Int64s) -> int:
    """Write the nodes with the largest scores, in any order; of equal ones the first nodes. Return their number."""
    count = len(node)
    if count <= most:
        for i in range(count):
            chosen[i] = node[i]
        return count
    if most <= _FEW:
        best, listed = np.empty(most, np.float64), 0
        for i in range(count):
            if listed < most or score[i] >= best[most - 1]:
                listed = insert_best(node[i], score[i], chosen, best, listed)
        return most
    last = nth_smallest(score.copy(), count - most)
    ties, equal, found = np.empty(count, np.int64), 0, 0
    for i in range(count):
        if score[i] > last:
            chosen[found] = node[i]
            found += 1
        elif score[i] == last:
            ties[equal] = node[i]
            equal += 1
    ties = np.sort(ties[:equal])
    for i in range(most - found):
        chosen[found + i] = ties[i]
    return most


@kernel
def best_of_rows(scored: ScoredRows, most: int) -> PageRows:
    """The nodes of each row with the largest scores, in any order."""
    ends = np.zeros(len(scored.offsets), np.int64)
    for k in range(len(ends) - 1):
        ends[k + 1] = ends[k] + min(most, scored.offsets[k + 1] - scored.offsets[k])
    chosen = np.empty(ends[-1], np.int64)
    for k in range(len(ends) - 1):
        begin, end = scored.offsets[k], scored.offsets[k + 1]
        choose(scored.node[begin:end], scored.score[begin:end], most, chosen[ends[k] : ends[k + 1]])
    return PageRows(ends, chosen)


@kernel
def ordered_best(values: Floats, offsets: Int64s, most: int) -> tuple[Int64s, Int64s]:
    """The places of the largest values of each row, the largest first, equal ones in order; and the offsets of rows."""
    ends = np.zeros(len(offsets), np.int64)
    for k in range(len(offsets) - 1):
        ends[k + 1] = ends[k] + min(most, offsets[k + 1] - offsets[k])
    places = np.empty(ends[-1], np.int64)
    for k in range(len(offsets) - 1):
        begin, count = offsets[k], offsets[k + 1] - offsets[k]
        row = places[ends[k] : ends[k + 1]]
        numbers = np.arange(begin, begin + count)
        choose(numbers, values[begin : begin + count], most, row)
        for i in range(1, len(row)):
            place, j = row[i], i
            while j > 0 and (
                values[row[j - 1]] < values[place] or (values[row[j - 1]] == values[place] and row[j - 1] > place)
            ):
                row[j] = row[j - 1]
                j -= 1
            row[j] = place
    return ends, places


@kernel
def link_rows(
    kind: int, half: float, pages: Int64s, links: LinkColumns, limits: LinkLimits, sums: LinkSums
) -> ScoredRows:
    """For each page the nodes with a score above 0 by its links."""
    offsets = np.zeros(len(pages) + 1, np.int64)
    node, score = np.empty(1 << 12, np.int64), np.empty(1 << 12, np.float64)
    for k in range(len(pages)):
        if kind == PROXIMITY:
            nodes, scores = proximity(pages[k], half, links, limits, sums)
        elif kind == COUPLING:
            nodes, scores = coupling(pages[k], links, limits, sums)
        else:
            nodes, scores = link_shares(pages[k], half, links, sums)
        begin, end = offsets[k], offsets[k] + len(nodes)
        offsets[k + 1] = end
        if end > len(node):
            wider_node, wider_score = np.empty(2 * end, np.int64), np.empty(2 * end, np.float64)
            for i in range(begin):
                wider_node[i], wider_score[i] = node[i], score[i]
            node, score = wider_node, wider_score
        for i in range(len(nodes)):
            node[begin + i], score[begin + i] = nodes[i], scores[i]
    return ScoredRows(offsets, node[: offsets[-1]], score[: offsets[-1]])


@kernel
def looked_up(scored: ScoredRows, rows: PageRows, dense: Floats, result: Floats) -> None:
    """The scores of candidates; 0 for those that have none. `dense` is zero before and after, and longer than nodes."""
    last = len(dense) - 1
    for k in range(len(rows.offsets) - 1):
        for i in range(scored.offsets[k], scored.offsets[k + 1]):
            dense[scored.node[i]] = scored.score[i]
        for i in range(rows.offsets[k], rows.offsets[k + 1]):
            result[i] = dense[min(rows.node[i], last)]
        for i in range(scored.offsets[k], scored.offsets[k + 1]):
            dense[scored.node[i]] = 0.0


@kernel
def nearest_vectors(
    queries: QueryVectors, vectors: NDArray[np.int8], norms: Float32s, lists: ListedPages, probed: PageRows, most: int
) -> PageRows:
    """For each query the nodes with the largest cosines above 0, the largest first; equal ones in order of nodes.

    Query k looks for them in the lists of row k of `probed`. Vectors are in the order of the lists.
    """
    offsets, chosen = np.zeros(len(queries.own) + 1, np.int64), np.empty(len(queries.own) * most, np.int64)
    cosine = np.empty(most, np.float64)
    for k in range(len(queries.own)):
        query, norm, own = queries.row[k], np.float64(queries.norm[k]), queries.own[k]
        nodes, found, least = chosen[offsets[k] : offsets[k] + most], 0, 0.0
        for j in range(probed.offsets[k], probed.offsets[k + 1]):
            for i in range(lists.offsets[probed.node[j]], lists.offsets[probed.node[j] + 1]):
                node, total = np.int64(lists.page[i]), np.int32(0)
                for d in range(len(query)):
                    total = np.int32(total + np.int32(vectors[i, d]) * np.int32(query[d]))
                length = np.float64(norms[i]) * norm
                if total > 0 and total >= least * length and length > 0.0 and node != own:
                    found = insert_best(node, np.rint(total / length * 1e9) / 1e9, nodes, cosine, found)
                    # The margin is larger than what rounding to nine places may add.
                    least = cosine[most - 1] - 2e-9 if found == most else 0.0
        offsets[k + 1] = offsets[k] + found
    return PageRows(offsets, chosen[: offsets[-1]])


@kernel
def insert_best(node: Integer, score: float, nodes: Int64s, scores: Floats, found: int) -> int:
    """Insert a node into the nodes with the largest scores, which are in order, if it is one; return their number."""
    place = found
    while place > 0 and (scores[place - 1] < score or (scores[place - 1] == score and nodes[place - 1] > node)):
        place -= 1
    for i in range(min(found, len(nodes) - 1), place, -1):
        nodes[i], scores[i] = nodes[i - 1], scores[i - 1]
    if place < len(nodes):
        nodes[place], scores[place] = node, score
    return min(found + 1, len(nodes))


@kernel
def cosines(pages: Int64s, vectors: NDArray[np.int8], norms: Float32s, rows: PageRows, result: Floats) -> None:
    """result[i, 0]: the cosine of candidate i with its page."""
    for k in range(len(pages)):
        begin, end, own = rows.offsets[k], rows.offsets[k + 1], pages[k]
        cosines_of(
            vectors[own : own + 1], norms[own : own + 1], vectors, norms, rows.node[begin:end], result[begin:end]
        )


@kernel
def products(pages: Int64s, vectors: SparseVectors, rows: PageRows, result: Floats) -> None:
    """The inner product of each candidate's sparse vector with that of its page."""
    for k in range(len(pages)):
        begin, end = rows.offsets[k], rows.offsets[k + 1]
        first, last = vectors.offsets[pages[k]], vectors.offsets[pages[k] + 1]
        own, worth = np.empty(last - first, np.int64), np.empty(last - first, np.float64)
        for i in range(last - first):
            own[i], worth[i] = vectors.column[first + i], vectors.value[first + i]
        row_products(
            own, worth, vectors.offsets, vectors.column, vectors.value, rows.node[begin:end], result[begin:end]
        )


@kernel
def sharing_rare_columns(
    pages: Int64s, vectors: SparseVectors, postings: ListedPages, most_postings: int, seen: Bools
) -> PageRows:
    """For each page the nodes that share its rarest columns, those whose postings together are at most `most_postings`.

    `seen` has an entry for every node; all are false before and after.
    """
    offsets, node = np.zeros(len(pages) + 1, np.int64), np.empty(1 << 12, np.int64)
    for k in range(len(pages)):
        first, last = vectors.offsets[pages[k]], vectors.offsets[pages[k] + 1]
        by_count = np.empty(last - first, np.int64)
        for i in range(last - first):
            column = np.int64(vectors.column[first + i])
            by_count[i] = (postings.offsets[column + 1] - postings.offsets[column]) << 32 | column
        by_count = np.sort(by_count)
        found, left = offsets[k], most_postings
        if found + most_postings > len(node):
            wider = np.empty(2 * (found + most_postings), np.int64)
            for i in range(found):
                wider[i] = node[i]
            node = wider
        seen[pages[k]] = True
        for i in range(len(by_count)):
            column = by_count[i] & 0xFFFFFFFF
            left -= by_count[i] >> 32
            if left < 0:
                break
            for place in range(postings.offsets[column], postings.offsets[column + 1]):
                other = np.int64(postings.page[place])
                if not seen[other]:
                    seen[other] = True
                    node[found] = other
                    found += 1
        seen[pages[k]] = False
        for i in range(offsets[k], found):
            seen[node[i]] = False
        offsets[k + 1] = found
    return PageRows(offsets, node[: offsets[-1]])


@kernel
def list_cosines(pages: Int64s, lists: Unsigned, rows: PageRows, result: Floats) -> None:
    """The cosine of each candidate's list with that of its page."""
    for k in range(len(pages)):
        begin, end, count = rows.offsets[k], rows.offsets[k + 1], 1
        members = np.empty(lists.shape[1] + 1, np.int64)
        members[-1] = pages[k]
        for j in range(lists.shape[1]):
            members[j] = lists[pages[k], j]
        members = np.sort(members)
        for j in range(1, len(members)):
            if members[j] != members[count - 1]:
                members[count] = members[j]
                count += 1
        list_cosines_of(members[:count], lists, rows.node[begin:end], result[begin:end])


@kernel
def minima(pages: Int64s, bags: SparseVectors, rows: PageRows, dense: Float32s, result: Floats) -> None:
    """The sum of the minima of the weights of each candidate's bag and that of its page.

    `dense` has an entry for every term and is zero before and after.
    """
    for k in range(len(pages)):
        begin, end = rows.offsets[k], rows.offsets[k + 1]
        first, last = bags.offsets[pages[k]], bags.offsets[pages[k] + 1]
        for i in range(first, last):
            if bags.column[i] < len(dense):  # else the file is damaged
                dense[bags.column[i]] = bags.value[i]
        minima_of(dense, bags.offsets, bags.column, bags.value, rows.node[begin:end], result[begin:end])
        for i in range(first, last):
            if bags.column[i] < len(dense):
                dense[bags.column[i]] = 0.0
