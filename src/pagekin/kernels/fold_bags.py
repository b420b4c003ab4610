"""Bags: the words of pages and the windows of the anchors that link to them, summed per term, weighted and sorted."""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.kernels.page_output import TRAILING
from pagekin.kernels.spans import permute
from pagekin.kernels.windows import Texts, block_at, distance_weight, next_block, window_bounds
from pagekin.model.arrays import Bytes, Float32s, Floats, Int32s, Int64s, UInt32s

# How far a window reaches to either side of an anchor, in tokens: for each word of its width, and at most.
TOKENS_PER_WORD, MOST_TOKENS = 64, 16_384
_LOW = np.uint64(0xFFFFFFFF)


class Citations(NamedTuple):
    """The pages of each node, and the anchors that link to it."""

    node_pages: Int64s
    link_offsets: Int64s
    link_page: UInt32s
    link_anchor: UInt32s
    link_counts: Bytes
    anchor_offsets: Int64s
    anchor_start: UInt32s
    anchor_end: UInt32s
    anchor_flags: Bytes
    node_of_page: UInt32s


class FoldPlan(NamedTuple):
    """What a bag consists of."""

    content: bool
    anchors: bool
    links: bool
    window: int
    width: int  # words on either side; negative: unlimited
    by_distance: bool
    lead: float = 0.0  # the number of words after which a word counts half as much as the first; 0: all count the same


class TermSums(NamedTuple):
    """Sums by term for the bag that is being folded, and the list of its terms."""

    occurrences: Int64s
    content: Floats
    around: Floats
    stamp: Int64s  # the node whose bag last contained the term
    terms: Int64s


@inlined
def add_term(term: int, node: int, stamp: Int64s, terms: Int64s, count: int) -> int:
    """Add `term` to the terms of the bag of `node`; their number."""
    if stamp[term] != node:
        stamp[term] = node
        terms[count] = term
        return count + 1
    return count


@inlined
def position_weight(place: int, lead: float) -> float:
    """The weight of a word that comes after `place` other words of its page."""
    return 1.0 if lead <= 0.0 else lead / (lead + place)


@inner
def fold_contents(page: int, node: int, lead: float, texts: Texts, sums: TermSums, count: int) -> int:
    """Add the words of a page outside excluded blocks; earlier words may count more."""
    place, begin = 0, texts.token_offsets[page]
    tokens = texts.token_offsets[page + 1] - begin
    terms, last_block = texts.terms[texts.language[page]], texts.block_offsets[page + 1]
    for block in range(texts.block_offsets[page], last_block):
        if texts.block_excluded[block]:
            continue
        end = texts.block_token[block + 1] if block + 1 < last_block else tokens
        for token in range(begin + texts.block_token[block], begin + end):
            term = terms[texts.form[token]]
            if term >= 0:
                count = add_term(term, node, sums.stamp, sums.terms, count)
                sums.occurrences[term] += 1
                sums.content[term] += position_weight(place, lead)
                place += 1
    return count


@inlined
def fold_forms(
    form: UInt32s, first: int, last: int, terms: Int32s, weight: float, node: int, sums: TermSums, count: int
) -> int:
    """Add the words form[first:last] of a title or an anchor, each with the same weight."""
    for k in range(first, last):
        term = terms[form[k]]
        if term >= 0:
            count = add_term(term, node, sums.stamp, sums.terms, count)
            sums.around[term] += weight
    return count


@inner
def fold_window(
    page: int, start: int, end: int, trailing: bool, node: int, plan: FoldPlan, texts: Texts, sums: TermSums, count: int
) -> int:
    """Add the words of an anchor (tokens start to end of its page) and of the window around it.

    Stop words and excluded blocks do not count, but so many of them end a window that a page of them takes linear time.
    """
    begin, terms = texts.token_offsets[page], texts.terms[texts.language[page]]
    first_block, last_block = texts.block_offsets[page], texts.block_offsets[page + 1]
    reach = MOST_TOKENS if plan.width < 0 else min(TOKENS_PER_WORD * (plan.width + 1), MOST_TOKENS)
    left, right = window_bounds(page, start, end, trailing, plan.window, reach, texts)
    left, right = max(left, start - reach), min(right, end + reach)
    weight = distance_weight(0, plan.by_distance)
    count = fold_forms(texts.form, begin + start, begin + end, terms, weight, node, sums, count)
    for step in (-1, 1):
        token = end if step > 0 else start - 1
        block = block_at(texts.block_token, first_block, last_block, token)
        distance = 0
        while left <= token < right:
            block = next_block(texts.block_token, first_block, last_block, block, token)
            term = terms[texts.form[begin + token]]
            token += step
            if term < 0 or texts.block_excluded[block]:
                continue
            distance += 1
            weight = distance_weight(distance, plan.by_distance)
            if (plan.width >= 0 and distance > plan.width) or weight <= 0.0:
                break
            count = add_term(term, node, sums.stamp, sums.terms, count)
            sums.around[term] += weight
    return count


@inner
def fold_citations(
    node: int, words: int, plan: FoldPlan, texts: Texts, citations: Citations, sums: TermSums, count: int
) -> int:
    """Add the windows of all anchors that link to a node; and, as terms after the words, the nodes that cite it."""
    previous = -1
    for link in range(citations.link_offsets[node], citations.link_offsets[node + 1]):
        if not citations.link_counts[link]:
            continue
        page = citations.link_page[link]
        if plan.anchors:
            anchor = citations.anchor_offsets[page] + citations.link_anchor[link]
            start, end = int(citations.anchor_start[anchor]), int(citations.anchor_end[anchor])
            trailing = (citations.anchor_flags[anchor] & TRAILING) != 0
            count = fold_window(page, start, end, trailing, node, plan, texts, sums, count)
        citing = int(citations.node_of_page[page])
        if plan.links and citing != previous:
            previous = citing
            count = add_term(words + citing, node, sums.stamp, sums.terms, count)
            sums.around[words + citing] = 1.0
    return count


@kernel
def fold_nodes(
    first: int,
    last: int,
    words: int,
    plan: FoldPlan,
    texts: Texts,
    citations: Citations,
    sums: TermSums,
    term_out: UInt32s,
    count_out: UInt32s,
    content_out: Floats,
    around_out: Floats,
    lengths: Int64s,
) -> tuple[int, int]:
    """Fold the bags of nodes first to last, in order, until one does not fit: (the next node, values written).

    Terms below `words` are words, the others are citing nodes. Each bag is sorted by term. The first of `lengths` is
    that of the bag of `first`.
    """
    n = 0
    for node in range(first, last):
        count = 0
        if node + 1 < len(citations.node_pages):
            for page in range(citations.node_pages[node], citations.node_pages[node + 1]):
                if plan.content:
                    count = fold_contents(page, node, plan.lead, texts, sums, count)
                if plan.anchors:  # a title has the weight of the words of an anchor (paper, 3.1)
                    begin, end = texts.title_offsets[page], texts.title_offsets[page + 1]
                    terms, weight = texts.terms[texts.language[page]], distance_weight(0, plan.by_distance)
                    count = fold_forms(texts.title_form, begin, end, terms, weight, node, sums, count)
        count = fold_citations(node, words, plan, texts, citations, sums, count)
        fits = n + count <= len(term_out)
        found = np.sort(sums.terms[:count])
        for k in range(count):
            term = found[k]
            if fits:
                term_out[n + k] = term
                count_out[n + k] = sums.occurrences[term]
                content_out[n + k] = sums.content[term]
                around_out[n + k] = sums.around[term]
            sums.occurrences[term], sums.stamp[term] = 0, -1
            sums.content[term] = sums.around[term] = 0.0
        if not fits:
            return node, n
        lengths[node - first] = count
        n += count
    return last, n


@kernel
def weigh(
    offsets: Int64s,
    term: UInt32s,
    content: Floats,
    around: Float32s,
    factor: Floats,
    words: int,
    add_up: bool,
    anchor_share: Floats,
    link_share: Floats,
    weight: Float32s,
) -> None:
    """Frequencies -> weights that sum to 1 in every bag.

    Contents are weighted already; the other parts are multiplied by the `factor` of each term. Either all parts are
    added up, or contents, windows and citing nodes get shares, which differ by bag. The share of an empty part is
    distributed over the others.
    """
    sums, shares = np.zeros(3), np.zeros(3)
    for node in range(len(offsets) - 1):
        sums[:] = 0.0
        for k in range(offsets[node], offsets[node + 1]):
            part = 1 if term[k] < words else 2
            sums[0] += content[k]
            sums[part] += around[k] * factor[term[k]]
        shares[1], shares[2] = anchor_share[node], link_share[node]
        shares[0] = max(0.0, 1.0 - shares[1] - shares[2])
        total = 0.0
        for part in range(3):
            if sums[part] <= 0.0:
                shares[part] = 0.0
            total += sums[part] if add_up else shares[part]
        by_shares = not add_up and total > 0.0
        if not add_up and not by_shares:  # no part that has a share is present
            total = sums.sum()
        for part in range(3):
            if not by_shares:
                shares[part] = 1.0 / total if total > 0.0 else 0.0
            else:
                shares[part] = shares[part] / (total * sums[part]) if shares[part] > 0.0 else 0.0
        for k in range(offsets[node], offsets[node + 1]):
            part = 1 if term[k] < words else 2
            weight[k] = content[k] * shares[0] + around[k] * factor[term[k]] * shares[part]


@kernel
def sort_by_weight(offsets: Int64s, term: UInt32s, weight: Float32s, content: UInt32s, around: Float32s) -> None:
    """Sort every bag in place by descending weight, which is at least 0; terms with equal weights stay in order."""
    bits = weight.view(np.uint32)  # they sort like the weights
    for node in range(len(offsets) - 1):
        begin, end = offsets[node], offsets[node + 1]
        keys = np.empty(end - begin, np.uint64)
        for k in range(begin, end):
            keys[k - begin] = (_LOW - np.uint64(bits[k])) << np.uint64(32) | np.uint64(k - begin)
        keys.sort()
        order = (keys & _LOW).astype(np.int64)
        permute(term[begin:end], order)
        permute(weight[begin:end], order)
        permute(content[begin:end], order)
        permute(around[begin:end], order)


def make_sums(terms: int) -> TermSums:
    zeros = np.zeros(terms, np.int64)
    return TermSums(zeros, np.zeros(terms), np.zeros(terms), np.full(terms, -1, np.int64), np.empty(terms, np.int64))
