"""Anchor windows, by the places of a page at which its blocks begin.

A boundary stands before the words of its block; blocks without words leave theirs to the next word.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pagekin.kernels import page_output
from pagekin.kernels import windows as kernel

_SYNTACTIC = page_output.PARAGRAPH | page_output.CELL | page_output.ITEM
_TOPICAL = page_output.HEADING | page_output.LIST_END | page_output.TABLE_END


@dataclass(frozen=True)
class Block:
    """How many words a block has, and the kinds of the boundary before it."""

    kinds: int
    size: int


def distance_weight(distance: int, by_distance: bool) -> float:
    """
    >>> distance_weight(0, True), distance_weight(3, True), distance_weight(99, True), distance_weight(99, False)
    (5.0, 3.0, 0.0, 1.0)
    """
    return max(0.0, 5 - math.log2(1 + distance)) if by_distance else 1.0


def starts(blocks: Sequence[Block]) -> list[int]:
    """Before which word each block begins."""
    return [0, *accumulate(block.size for block in blocks)][: len(blocks)]


def block_at(blocks: Sequence[Block], token: int) -> int:
    """The block of a word; of a place after the last word, the last block."""
    return max((number for number, start in enumerate(starts(blocks)) if start <= token), default=0)


def ends_window(kinds: int, sentence_end: bool, window: int) -> bool:
    """Whether a boundary ends a window."""
    if window == kernel.BASIC:
        return False
    if window == kernel.TOPICAL:
        return bool(kinds & _TOPICAL)
    return bool(kinds & _SYNTACTIC) or (bool(kinds & page_output.BREAK) and sentence_end)


def bounds(
    start: int, end: int, blocks: Sequence[Block], sentences: Collection[int], window: int, trailing: bool = False
) -> tuple[int, int]:
    """From the last cut before the anchor to the first one after it.

    An anchor without words leans on what follows, or, trailing, on what stands before.

    >>> item = page_output.ITEM
    >>> bounds(2, 3, [Block(0, 1), Block(item, 3), Block(item, 2)], [], kernel.SYNTACTIC)
    (1, 4)
    """
    places = starts(blocks)
    cuts = {place for place, b in zip(places, blocks, strict=True) if ends_window(b.kinds, place in sentences, window)}
    left = [cut for cut in cuts if cut < start or (cut == start and not trailing)]
    right = [cut for cut in cuts if cut >= end and (cut > start or trailing)]
    return max(left, default=0), min(right, default=sum(block.size for block in blocks))
