"""The sheet that a scan writes: text, blocks, links, facts; and how visible text is put on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pagekin.kernels.bits import peek, poke
from pagekin.kernels.entities import AMPERSAND, put_character, reference
from pagekin.kernels.inline import inlined, inner
from pagekin.model.arrays import Bytes, Int64s

# Block boundaries, by kind; a block carries all that stand between it and the block before.
PARAGRAPH, CELL, ITEM, BREAK, HEADING, LIST_END, TABLE_END = 1, 2, 4, 8, 16, 32, 64
LESS = 60
SPACE = 256  # beside the kinds in PENDING: white space seen, not yet written

# Columns of a page's row. A fact is a span of `values`: start and end.
(BASE_URL, CANONICAL, LANGUAGE, REFRESH, TITLE_TEXT) = 0, 2, 4, 6, 8
(GIVEN, FLAGS, DROPPED, TEXT_END, BLOCKS_END, LINKS_END) = range(10, 16)  # GIVEN: a bit for each fact
PAGE_COLUMNS = 16
NOINDEX, NOFOLLOW = 1, 2  # page flags; NOFOLLOW is a link flag, too
FROM_AREA, FROM_FRAME, TOO_LONG = 4, 8, 16  # more link flags
TRAILING = 32  # a link flag, too: text of the link's block stands before it

# Columns of blocks and links. Spans of the text, but for the href, which is a span of `values`.
BLOCK_START, BLOCK_KINDS = 0, 1
LINK_START, LINK_END, LINK_HREF, LINK_HREF_END, LINK_FLAGS = range(5)

# The running state.
(N_TEXT, N_VALUES, N_BLOCKS, N_LINKS, PENDING, OPEN_LINK, OPEN_DEPTH, DEPTH) = range(8)
(HIDDEN, FOREIGN, PAGE_TEXT, PAGE_LINKS, MAX_LINKS, MAX_URL, N_PAGES) = range(8, 15)
STATE = 15


# How text is read: up to the next tag, as a whole, as the value of an attribute, or with references left as they are.
UP_TO_TAG, WHOLE, ATTRIBUTE, AS_IT_IS = range(4)
# Bytes that are not simply copied: white space, controls, what may begin a tag, a reference, an odd space or hyphen.
SPECIAL = np.isin(np.arange(256), [*range(33), 127, AMPERSAND, LESS, 0xC2, 0xE2])


class PageOutput(NamedTuple):
    """What a scan writes: pages laid end to end, each page's row telling where its parts end."""

    text: Bytes
    values: Bytes  # decoded attribute values and titles
    blocks: Int64s
    links: Int64s
    pages: Int64s


def sheet_for(size: int, pages: int) -> PageOutput:
    """A sheet with room for all that `size` bytes of HTML in `pages` pages can hold.

    The bounds: a reference grows by at most six bytes for five; a block takes a tag of three bytes and a
    character; a link takes `<a href>`. What is not written costs no memory.
    """
    room = size + size // 4 + 16 * pages + 16
    return PageOutput(
        text=np.empty(room, np.uint8),
        values=np.empty(room, np.uint8),
        blocks=np.empty((size // 4 + pages + 1, 2), np.int64),
        links=np.empty((size // 8 + pages + 1, 5), np.int64),
        pages=np.zeros((pages, PAGE_COLUMNS), np.int64),
    )


def new_state() -> Int64s:
    """The running state before the first page of a sheet."""
    return np.zeros(STATE, np.int64)


@inner
def settle(text: Bytes, blocks: Int64s, at: Int64s) -> None:
    """Write what is pending before a visible character: a new block, or one space."""
    n = at[N_TEXT]
    first = n == at[PAGE_TEXT]
    kinds = at[PENDING] & 255
    if kinds or first:
        if not first:
            poke(text, n, 10)
            n += 1
        blocks[at[N_BLOCKS], BLOCK_START] = n
        blocks[at[N_BLOCKS], BLOCK_KINDS] = kinds
        at[N_BLOCKS] += 1
    elif at[PENDING] & SPACE:
        poke(text, n, 32)
        n += 1
    at[PENDING] = 0
    at[N_TEXT] = n


@inner
def put_point(point: int, text: Bytes, blocks: Int64s, at: Int64s) -> None:
    """Write a character that came as a reference; white space folds, soft hyphens go."""
    if point == 0xA0 or point == 0x2028 or point == 0x2029 or point == 127 or point <= 32:
        at[PENDING] |= SPACE
    elif point != 0xAD:
        if at[PENDING] or at[N_TEXT] == at[PAGE_TEXT]:
            settle(text, blocks, at)
        at[N_TEXT] = put_character(text, at[N_TEXT], point)


@inner
def put_special(
    html: Bytes,
    i: int,
    end: int,
    manner: int,
    entities: Int64s,
    text: Bytes,
    blocks: Int64s,
    at: Int64s,
) -> int:
    """Write the reference, odd space or soft hyphen at html[i]; its end, or i if what is there stands for itself."""
    byte = peek(html, i)
    if byte == AMPERSAND and manner != AS_IT_IS:
        j, point, second = reference(html, i, end, manner == ATTRIBUTE, entities)
        if point >= 0:
            put_point(point, text, blocks, at)
            if second > 0:
                put_point(second, text, blocks, at)
            return j
    elif byte == 0xC2 and i + 1 < end and (peek(html, i + 1) == 0xA0 or peek(html, i + 1) == 0xAD):
        if peek(html, i + 1) == 0xA0:
            at[PENDING] |= SPACE
        return i + 2
    elif byte == 0xE2 and i + 2 < end and peek(html, i + 1) == 0x80 and 0xA8 <= peek(html, i + 2) <= 0xA9:
        at[PENDING] |= SPACE
        return i + 3
    return i


@inlined
def put_text(
    html: Bytes,
    i: int,
    end: int,
    manner: int,
    entities: Int64s,
    text: Bytes,
    blocks: Int64s,
    at: Int64s,
) -> int:
    """Write html[i:end] as visible text, and say where it stopped.

    White space and controls are folded, references decoded, NULs dropped.
    """
    while i < end:
        byte = peek(html, i)
        if byte <= 32 or byte == 127:
            white = False
            while i < end and (peek(html, i) <= 32 or peek(html, i) == 127):
                white |= peek(html, i) != 0
                i += 1
            if white:
                at[PENDING] |= SPACE
            continue
        if SPECIAL[byte]:
            if byte == LESS and manner == UP_TO_TAG:
                break
            j = put_special(html, i, end, manner, entities, text, blocks, at)
            if j > i:
                i = j
                continue
        n = at[N_TEXT]
        if at[PENDING] == SPACE and n > at[PAGE_TEXT]:
            poke(text, n, 32)
            n += 1
            at[PENDING] = 0
        elif at[PENDING] or n == at[PAGE_TEXT]:
            settle(text, blocks, at)
            n = at[N_TEXT]
        poke(text, n, byte)  # also one that is special and stands for itself
        n += 1
        i += 1
        while i < end and not SPECIAL[peek(html, i)]:
            poke(text, n, peek(html, i))
            n += 1
            i += 1
        at[N_TEXT] = n
    return i
