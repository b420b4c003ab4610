"""Anchor windows: which words around an anchor describe the page that it links to, and with which weight."""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.kernels.page_output import BREAK, CELL, HEADING, ITEM, LIST_END, PARAGRAPH, TABLE_END
from pagekin.kernels.spans import lower_bound
from pagekin.model.arrays import Bytes, Int32s, Int64s, UInt32s

BASIC, SYNTACTIC, TOPICAL = range(3)
# By distance; computing them for every word took half of the time. As multiples of 2^-28 their sums, up to 2^25, are
# exact in any order, so that the windows of a page may be summed in parts.
_WEIGHTS = np.rint(np.log2(32.0 / (1.0 + np.arange(32))) * 2.0**28) / 2.0**28


class Texts(NamedTuple):
    """The tokens of all pages, their blocks and sentences, and the term of each form in each language (-1 for none)."""

    token_offsets: Int64s
    form: UInt32s
    terms: Int32s  # languages x forms
    language: Bytes  # per page, a row of `terms`
    block_offsets: Int64s
    block_token: UInt32s
    block_kinds: Bytes
    block_excluded: Bytes  # 1 for blocks whose words do not count
    sentence_offsets: Int64s
    sentence: UInt32s
    title_offsets: Int64s
    title_form: UInt32s


@inlined
def distance_weight(distance: int, by_distance: bool) -> float:
    """The weight of a word at this distance from the anchor: log2(32 / (1 + distance)), at least 0 (paper, 5.2)."""
    if not by_distance:
        return 1.0
    return float(_WEIGHTS[distance]) if distance < len(_WEIGHTS) else 0.0


@inner
def block_at(block_token: UInt32s, first_block: int, last_block: int, token: int) -> int:
    """The block of a token, which is numbered within its page: the last one that begins at or before the token."""
    return max(lower_bound(block_token, first_block, last_block, token + 1) - 1, first_block)


@kernel
def blocks_at(offsets: Int64s, block_token: UInt32s, page: Int64s, token: Int64s) -> Int64s:
    """`block_at` for tokens of pages; any block for a page without blocks."""
    found = np.empty(len(page), np.int64)
    for k in range(len(page)):
        first, last = offsets[page[k]], offsets[page[k] + 1]
        found[k] = min(block_at(block_token, first, last, token[k]), len(block_token) - 1)
    return found


@inlined
def next_block(block_token: UInt32s, first_block: int, last_block: int, block: int, token: int) -> int:
    """The same for a token next to one of `block`: mostly that block or the next one; others may have no tokens."""
    if block + 1 < last_block and block_token[block + 1] <= token:
        block += 1
    elif block > first_block and block_token[block] > token:
        block -= 1
    if (block + 1 < last_block and block_token[block + 1] <= token) or block_token[block] > token:
        block = block_at(block_token, first_block, last_block, token)
    return block


@inner
def ends_sentence(sentences: UInt32s, first: int, last: int, token: int) -> bool:
    """Whether a sentence ends just before a token, which is numbered within its page."""
    index = lower_bound(sentences, first, last, token)
    return index < last and sentences[index] == token


@inner
def ends_window(kinds: int, sentence_end: bool, window: int) -> bool:
    """Whether a block boundary of these kinds ends a window of this type (paper, 3.1)."""
    if window == SYNTACTIC:
        return (kinds & (PARAGRAPH | CELL | ITEM)) != 0 or ((kinds & BREAK) != 0 and sentence_end)
    return (kinds & (HEADING | LIST_END | TABLE_END)) != 0


@inlined
def ends_window_at(block: int, page: int, window: int, texts: Texts) -> bool:
    """Whether the boundary before a block of a page ends a window."""
    first, last = texts.sentence_offsets[page], texts.sentence_offsets[page + 1]
    sentence_end = ends_sentence(texts.sentence, first, last, texts.block_token[block])
    return ends_window(texts.block_kinds[block], sentence_end, window)


@inlined
def window_bounds(
    page: int, start: int, end: int, trailing: bool, window: int, reach: int, texts: Texts
) -> tuple[int, int]:
    """The tokens between which the window around the anchor start..end must stay; all are numbered within the page.

    An anchor without words is in the block of the word after it, or, if it is `trailing`, of the word before it. A
    window reaches over at most `reach` blocks to either side.
    """
    tokens = texts.token_offsets[page + 1] - texts.token_offsets[page]
    first_block, last_block = texts.block_offsets[page], texts.block_offsets[page + 1]
    if window == BASIC or first_block == last_block:
        return 0, tokens
    inside = start - 1 if trailing else start
    left = block_at(texts.block_token, first_block, last_block, inside)
    lowest = max(first_block, left - reach)
    while left > lowest and not ends_window_at(left, page, window, texts):
        left -= 1
    right = block_at(texts.block_token, first_block, last_block, max(inside, end - 1)) + 1
    highest = min(last_block, right + reach)
    while right < highest and not ends_window_at(right, page, window, texts):
        right += 1
    limit = tokens if right >= last_block else int(texts.block_token[right])
    return min(int(texts.block_token[left]) if left > first_block else 0, start), max(limit, end)
