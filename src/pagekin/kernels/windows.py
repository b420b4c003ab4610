"""Anchor windows: which words around an anchor speak of the page that it leads to, and how loudly.

Positions are positions in the whole token store; a page is its tokens `begin` to `end` and its blocks
`first_block` to `last_block`, of which `block_token` holds the first tokens, counted within the page.
"""

from __future__ import annotations

import numpy as np

from pagekin.kernels.inline import inlined, inner
from pagekin.kernels.page_output import BREAK, CELL, HEADING, ITEM, LIST_END, PARAGRAPH, TABLE_END
from pagekin.model.arrays import Bytes, UInt32s

BASIC, SYNTACTIC, TOPICAL = range(3)
LOUDEST = 5.0  # log2(32): what a word of the anchor itself counts
_LOUDNESS = np.log2(32.0 / (1.0 + np.arange(32)))  # by distance; reckoned anew for every word, it took half of the time


@inlined
def loudness(distance: int, by_distance: bool) -> float:
    """log2(32 / (1 + distance)), never negative; 1 where distance does not matter (paper, 5.2)."""
    if not by_distance:
        return 1.0
    return float(_LOUDNESS[distance]) if distance < len(_LOUDNESS) else 0.0


@inner
def block_at(block_token: UInt32s, first_block: int, last_block: int, token: int) -> int:
    """The block that holds the token of this number within its page: the last one that begins at or before it."""
    low = first_block
    high = last_block
    while low < high:
        middle = (low + high) // 2
        if block_token[middle] <= token:
            low = middle + 1
        else:
            high = middle
    return max(low - 1, first_block)


@inner
def ends_sentence(sentences: UInt32s, first: int, last: int, token: int) -> bool:
    """Whether a sentence ends just before the token of this number within its page."""
    low = first
    high = last
    while low < high:
        middle = (low + high) // 2
        if sentences[middle] < token:
            low = middle + 1
        else:
            high = middle
    return low < last and sentences[low] == token


@inner
def parts(kinds: int, sentence_end: bool, window: int) -> bool:
    """Whether a block boundary of these kinds ends a window of this kind (paper, 3.1)."""
    if window == SYNTACTIC:
        return (kinds & (PARAGRAPH | CELL | ITEM)) != 0 or ((kinds & BREAK) != 0 and sentence_end)
    return (kinds & (HEADING | LIST_END | TABLE_END)) != 0


@inner
def window_bounds(
    start: int,
    end: int,
    trailing: bool,
    tokens: int,
    window: int,
    block_token: UInt32s,
    block_kinds: Bytes,
    first_block: int,
    last_block: int,
    sentences: UInt32s,
    first_sentence: int,
    last_sentence: int,
) -> tuple[int, int]:
    """The tokens, counted within the page, between which the window around the anchor start..end must stay.

    An anchor without words is in the block of the word that follows it, or, if it is `trailing`, of the one before.
    """
    if window == BASIC or first_block == last_block:
        return 0, tokens
    inside = start - 1 if trailing else start
    left = block_at(block_token, first_block, last_block, inside)
    while left > first_block:
        sentence = ends_sentence(sentences, first_sentence, last_sentence, block_token[left])
        if parts(block_kinds[left], sentence, window):
            break
        left -= 1
    right = block_at(block_token, first_block, last_block, max(inside, end - 1)) + 1
    while right < last_block:
        sentence = ends_sentence(sentences, first_sentence, last_sentence, block_token[right])
        if parts(block_kinds[right], sentence, window):
            break
        right += 1
    limit = tokens if right >= last_block else int(block_token[right])
    return min(int(block_token[left]) if left > first_block else 0, start), max(limit, end)
