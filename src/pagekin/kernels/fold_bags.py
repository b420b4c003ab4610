"""Fold the words of pages, and the windows of the anchors that lead to them, into bags."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined, inner
from pagekin.kernels.page_output import TRAILING
from pagekin.kernels.windows import block_at, loudness, window_bounds
from pagekin.model.arrays import Bytes, Int64s, UInt32s


class Texts(NamedTuple):
    """The token store, and what becomes of each form in each language: a term, or -1."""

    token_offsets: Int64s
    form: UInt32s
    terms: NDArray[np.int32]  # languages x forms
    language: Bytes  # of each page: a row of `terms`
    block_offsets: Int64s
    block_token: UInt32s
    block_kinds: Bytes
    block_silent: Bytes  # blocks whose words do not count
    sentence_offsets: Int64s
    sentence: UInt32s
    title_offsets: Int64s
    title_form: UInt32s


class Citations(NamedTuple):
    """Which pages a node has, and which anchors lead to it."""

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
    """What goes into a bag."""

    content: bool
    anchors: bool
    links: bool
    window: int
    width: int  # words to either side; negative is any
    by_distance: bool
    lead: float = 0.0  # words of a page after which the next one counts half; 0: all count the same


class Heap(NamedTuple):
    """The sums of the bag that is being folded, by term, and which terms have one."""

    times: Int64s
    content: NDArray[np.float64]
    around: NDArray[np.float64]
    stamp: Int64s  # the node that a term was last seen in
    seen: Int64s


@inlined
def note(term: int, node: int, stamp: Int64s, seen: Int64s, count: int) -> int:
    """Remember that the bag of `node` holds `term`; how many terms it holds."""
    if stamp[term] != node:
        stamp[term] = node
        seen[count] = term
        return count + 1
    return count


@inlined
def prominence(place: int, lead: float) -> float:
    """What a word of a page counts after so many others."""
    return 1.0 if lead <= 0.0 else lead / (lead + place)


@inner
def fold_contents(page: int, node: int, lead: float, texts: Texts, heap: Heap, count: int) -> int:
    """The words of a page outside of silent blocks; those that come first may count more."""
    place = 0
    begin = texts.token_offsets[page]
    tokens = texts.token_offsets[page + 1] - begin
    terms = texts.terms[texts.language[page]]
    last_block = texts.block_offsets[page + 1]
    for block in range(texts.block_offsets[page], last_block):
        if texts.block_silent[block]:
            continue
        end = texts.block_token[block + 1] if block + 1 < last_block else tokens
        for token in range(begin + texts.block_token[block], begin + end):
            term = terms[texts.form[token]]
            if term >= 0:
                count = note(term, node, heap.stamp, heap.seen, count)
                heap.times[term] += 1
                heap.content[term] += prominence(place, lead)
                place += 1
    return count


@inner
def fold_title(page: int, node: int, by_distance: bool, texts: Texts, heap: Heap, count: int) -> int:
    """The title of a page is in its anchor bag, as loud as an anchor (paper, 3.1)."""
    terms = texts.terms[texts.language[page]]
    for k in range(texts.title_offsets[page], texts.title_offsets[page + 1]):
        term = terms[texts.title_form[k]]
        if term >= 0:
            count = note(term, node, heap.stamp, heap.seen, count)
            heap.around[term] += loudness(0, by_distance)
    return count


@inner
def fold_window(
    page: int,
    start: int,
    end: int,
    trailing: bool,
    node: int,
    plan: FoldPlan,
    texts: Texts,
    heap: Heap,
    count: int,
) -> int:
    """The words of an anchor (tokens start to end of its page), and the kept words around it."""
    begin = texts.token_offsets[page]
    tokens = texts.token_offsets[page + 1] - begin
    terms = texts.terms[texts.language[page]]
    first_block = texts.block_offsets[page]
    last_block = texts.block_offsets[page + 1]
    left, right = window_bounds(
        start,
        end,
        trailing,
        tokens,
        plan.window,
        texts.block_token,
        texts.block_kinds,
        first_block,
        last_block,
        texts.sentence,
        texts.sentence_offsets[page],
        texts.sentence_offsets[page + 1],
    )
    for token in range(start, end):
        term = terms[texts.form[begin + token]]
        if term >= 0:
            count = note(term, node, heap.stamp, heap.seen, count)
            heap.around[term] += loudness(0, plan.by_distance)
    for side in range(2):
        step = 1 if side else -1
        token = end if side else start - 1
        block = block_at(texts.block_token, first_block, last_block, token)
        distance = 0
        while left <= token < right:
            while block > first_block and texts.block_token[block] > token:
                block -= 1
            while block + 1 < last_block and texts.block_token[block + 1] <= token:
                block += 1
            term = terms[texts.form[begin + token]]
            token += step
            if term < 0 or texts.block_silent[block]:
                continue
            distance += 1
            weight = loudness(distance, plan.by_distance)
            if (plan.width >= 0 and distance > plan.width) or weight <= 0.0:
                break
            count = note(term, node, heap.stamp, heap.seen, count)
            heap.around[term] += weight
    return count


@inner
def fold_citations(
    node: int, words: int, plan: FoldPlan, texts: Texts, citations: Citations, heap: Heap, count: int
) -> int:
    """The windows of all anchors that lead to a node; and, as terms after the words, the nodes that cite it."""
    previous = -1
    for link in range(citations.link_offsets[node], citations.link_offsets[node + 1]):
        if not citations.link_counts[link]:
            continue
        page = citations.link_page[link]
        if plan.anchors:
            anchor = citations.anchor_offsets[page] + citations.link_anchor[link]
            start = int(citations.anchor_start[anchor])
            end = int(citations.anchor_end[anchor])
            trailing = (citations.anchor_flags[anchor] & TRAILING) != 0
            count = fold_window(page, start, end, trailing, node, plan, texts, heap, count)
        citing = int(citations.node_of_page[page])
        if plan.links and citing != previous:
            previous = citing
            count = note(words + citing, node, heap.stamp, heap.seen, count)
            heap.around[words + citing] = 1.0
    return count


@kernel
def fold_nodes(
    first: int,
    last: int,
    words: int,
    plan: FoldPlan,
    texts: Texts,
    citations: Citations,
    heap: Heap,
    term_out: UInt32s,
    count_out: UInt32s,
    content_out: NDArray[np.float32],
    around_out: NDArray[np.float32],
    lengths: Int64s,
) -> tuple[int, int]:
    """Fold the bags of nodes first to last, in order, until one does not fit: (the next node, values written).

    Terms below `words` are words, those from there on are citing nodes. Each bag is sorted by term.
    """
    n = 0
    for node in range(first, last):
        count = 0
        if node + 1 < len(citations.node_pages):
            for page in range(citations.node_pages[node], citations.node_pages[node + 1]):
                if plan.content:
                    count = fold_contents(page, node, plan.lead, texts, heap, count)
                if plan.anchors:
                    count = fold_title(page, node, plan.by_distance, texts, heap, count)
        count = fold_citations(node, words, plan, texts, citations, heap, count)
        fits = n + count <= len(term_out)
        found = np.sort(heap.seen[:count])
        for k in range(count):
            term = found[k]
            if fits:
                term_out[n + k] = term
                count_out[n + k] = heap.times[term]
                content_out[n + k] = heap.content[term]
                around_out[n + k] = heap.around[term]
            heap.times[term] = 0
            heap.content[term] = 0.0
            heap.around[term] = 0.0
            heap.stamp[term] = -1
        if not fits:
            return node, n
        lengths[node] = count
        n += count
    return last, n


@kernel
def weigh(
    offsets: Int64s,
    term: UInt32s,
    content: NDArray[np.float64],
    around: NDArray[np.float32],
    factor: NDArray[np.float64],
    words: int,
    add_up: bool,
    anchor_share: NDArray[np.float64],
    link_share: NDArray[np.float64],
    weight: NDArray[np.float32],
) -> None:
    """Frequencies -> weights that sum to one in every bag.

    Contents are weighed already; `factor` is what the frequency of a term makes of the other parts. Either all parts
    are added up, or contents, windows and citing nodes get their shares, which each bag has its own of; a part that is
    empty leaves its share to the others.
    """
    sums = np.zeros(3)
    shares = np.zeros(3)
    for node in range(len(offsets) - 1):
        sums[:] = 0.0
        for k in range(offsets[node], offsets[node + 1]):
            part = 1 if term[k] < words else 2
            sums[0] += content[k]
            sums[part] += around[k] * factor[term[k]]
        shares[0] = max(0.0, 1.0 - anchor_share[node] - link_share[node])
        shares[1] = anchor_share[node]
        shares[2] = link_share[node]
        total = 0.0
        for part in range(3):
            if sums[part] <= 0.0:
                shares[part] = 0.0
            total += sums[part] if add_up else shares[part]
        apart = not add_up and total > 0.0
        if not add_up and not apart:  # only parts that have no share
            total = sums.sum()
        for part in range(3):
            if not apart:
                shares[part] = 1.0 / total if total > 0.0 else 0.0
            else:
                shares[part] = shares[part] / (total * sums[part]) if shares[part] > 0.0 else 0.0
        for k in range(offsets[node], offsets[node + 1]):
            part = 1 if term[k] < words else 2
            weight[k] = content[k] * shares[0] + around[k] * factor[term[k]] * shares[part]


def heap_for(terms: int) -> Heap:
    """An empty heap for terms below `terms`."""
    zeros = np.zeros(terms, np.int64)
    return Heap(zeros, np.zeros(terms), np.zeros(terms), np.full(terms, -1, np.int64), np.empty(terms, np.int64))
