"""Bags: the words of pages and the windows of the anchors that link to them, summed per term, weighted and sorted."""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.kernels.page_output import TRAILING
from pagekin.kernels.sorting import MOST_COUNTS, sort_keys
from pagekin.kernels.spans import permute
from pagekin.kernels.windows import Texts, block_at, distance_weight, next_block, window_bounds
from pagekin.model.arrays import Bytes, Float32s, Floats, Int32s, Int64s, UInt32s

# How far a window reaches to either side of an anchor, in tokens: for each word of its width, and at most.
TOKENS_PER_WORD, MOST_TOKENS = 64, 16_384
_KEPT = 1 << 12  # terms of a page that are added at a time
_MOST_BITS = 0x7FFFFFFF  # of a positive number of 32 bits


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
    """Sums by term for the bag that is being folded, side by side since they are used together; and its terms."""

    of_term: Floats  # rows of the columns below; all are zero, but for the terms of the bag
    terms: Int64s  # with room for one more


PRESENT, OCCURRENCES, CONTENT, AROUND = range(4)  # columns of `TermSums.of_term`


@inlined
def add_term(term: int, of_term: Floats, terms: Int64s, count: int) -> int:
    """Add `term` to the terms of the bag, without a branch; their number."""
    terms[count] = term
    count += of_term[term, PRESENT] == 0.0
    of_term[term, PRESENT] = 1.0
    return count


@inlined
def position_weight(place: int, lead: float) -> float:
    """The weight of a word that comes after `place` other words of its page."""
    return 1.0 if lead <= 0.0 else lead / (lead + place)


@inner
def fold_contents(page: int, lead: float, texts: Texts, kept: Int32s, sums: TermSums, count: int) -> int:
    """Add the words of a page outside excluded blocks; earlier words may count more.

    Half of all words are stop words, in no order that a processor could predict: the others are collected in `kept`
    without a branch, and added when it is full.
    """
    place, n, begin = 0, 0, texts.token_offsets[page]
    tokens = texts.token_offsets[page + 1] - begin
    terms, last_block = texts.terms[texts.language[page]], texts.block_offsets[page + 1]
    for block in range(texts.block_offsets[page], last_block):
        if texts.block_excluded[block]:
            continue
        token = begin + texts.block_token[block]
        end = begin + (texts.block_token[block + 1] if block + 1 < last_block else tokens)
        while token < end:
            stop = min(end, token + len(kept) - n)
            for k in range(token, stop):
                term = terms[texts.form[k]]
                kept[n] = term
                n += term >= 0
            token = stop
            if n == len(kept):
                count = fold_kept(kept, n, place, lead, sums, count)
                place, n = place + n, 0
    return fold_kept(kept, n, place, lead, sums, count)


@inner
def fold_kept(kept: Int32s, n: int, place: int, lead: float, sums: TermSums, count: int) -> int:
    """Add the first `n` terms of `kept`, which come after `place` others of their page."""
    for k in range(n):
        term = kept[k]
        count = add_term(term, sums.of_term, sums.terms, count)
        sums.of_term[term, OCCURRENCES] += 1
        sums.of_term[term, CONTENT] += position_weight(place + k, lead)
    return count


@inlined
def fold_forms(form: UInt32s, first: int, last: int, terms: Int32s, weight: float, sums: TermSums, count: int) -> int:
    """Add the words form[first:last] of a title or an anchor, each with the same weight."""
    for k in range(first, last):
        term = terms[form[k]]
        if term >= 0:
            count = add_term(term, sums.of_term, sums.terms, count)
            sums.of_term[term, AROUND] += weight
    return count


@inlined
def fold_window(
    page: int, start: int, end: int, trailing: bool, plan: FoldPlan, texts: Texts, sums: TermSums, count: int
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
    count = fold_forms(texts.form, begin + start, begin + end, terms, weight, sums, count)
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
            count = add_term(term, sums.of_term, sums.terms, count)
            sums.of_term[term, AROUND] += weight
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
            count = fold_window(page, start, end, trailing, plan, texts, sums, count)
        citing = int(citations.node_of_page[page])
        if plan.links and citing != previous:
            previous = citing
            count = add_term(words + citing, sums.of_term, sums.terms, count)
            sums.of_term[words + citing, AROUND] = 1.0
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
    n, bits = 0, 1
    while (len(sums.of_term) - 1) >> bits:
        bits += 1
    found, spare, counts = sums.terms, np.empty(len(sums.terms), np.int64), np.empty(MOST_COUNTS, np.int64)
    kept = np.empty(_KEPT, np.int32)
    for node in range(first, last):
        count = 0
        if node + 1 < len(citations.node_pages):
            for page in range(citations.node_pages[node], citations.node_pages[node + 1]):
                if plan.content:
                    count = fold_contents(page, plan.lead, texts, kept, sums, count)
                if plan.anchors:  # a title has the weight of the words of an anchor (paper, 3.1)
                    begin, end = texts.title_offsets[page], texts.title_offsets[page + 1]
                    terms, weight = texts.terms[texts.language[page]], distance_weight(0, plan.by_distance)
                    count = fold_forms(texts.title_form, begin, end, terms, weight, sums, count)
        count = fold_citations(node, words, plan, texts, citations, sums, count)
        fits = n + count <= len(term_out)
        sort_keys(found, count, 0, bits, spare, counts)
        for k in range(count):
            term = found[k]
            if fits:
                term_out[n + k] = term
                count_out[n + k] = np.uint32(sums.of_term[term, OCCURRENCES])
                content_out[n + k] = sums.of_term[term, CONTENT]
                around_out[n + k] = sums.of_term[term, AROUND]
            for column in range(4):
                sums.of_term[term, column] = 0.0
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
    """Sort every bag in place by descending weight; terms with equal weights stay in order. No weight is negative."""
    longest = 0
    for node in range(len(offsets) - 1):
        longest = max(longest, offsets[node + 1] - offsets[node])
    keys, spare, counts = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(MOST_COUNTS, np.int64)
    bits = weight.view(np.uint32)  # numbers that are not negative have the order of their bits
    for node in range(len(offsets) - 1):
        begin, end = offsets[node], offsets[node + 1]
        for k in range(begin, end):
            keys[k - begin] = (_MOST_BITS - np.int64(bits[k])) << 32 | (k - begin)
        sort_keys(keys, end - begin, 32, 31, spare, counts)
        order = keys[: end - begin]
        for k in range(end - begin):
            order[k] &= 0xFFFFFFFF
        permute(term[begin:end], order)
        permute(weight[begin:end], order)
        permute(content[begin:end], order)
        permute(around[begin:end], order)


def make_sums(terms: int) -> TermSums:
    return TermSums(np.zeros((terms, 4)), np.empty(terms + 1, np.int64))
