"""What a scan of HTML writes: text, blocks, links and facts of pages; and how each of them is written."""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.bits import copy_plain
from pagekin.kernels.characters import AMPERSAND, decode_references, encode_character, peek, poke, read_reference
from pagekin.kernels.compile import inlined, inner
from pagekin.kernels.tags import LESS, REL, has_word, name_hash
from pagekin.model.arrays import Bytes, Int64s

# Kinds of block boundaries, as stored; a block has the kinds of all boundaries between it and the block before.
PARAGRAPH, CELL, ITEM, BREAK, HEADING, LIST_END, TABLE_END = 1, 2, 4, 8, 16, 32, 64
NAVIGATION = 128  # not a boundary: the block is navigation
SPACE = 256  # in PENDING, besides the kinds: white space that was read and not yet written

# Columns of a page. A fact is a span of `values`: its start, and its end in the next column.
(BASE_URL, CANONICAL, LANGUAGE, REFRESH, TITLE_TEXT) = 0, 2, 4, 6, 8
(GIVEN, FLAGS, DROPPED, TEXT_END, BLOCKS_END, LINKS_END) = range(10, 16)  # GIVEN: a bit for each fact
PAGE_COLUMNS = 16
NOINDEX, NOFOLLOW = 1, 2  # page flags; NOFOLLOW is also a link flag
FROM_AREA, FROM_FRAME, TOO_LONG, TRAILING = 4, 8, 16, 32  # link flags; TRAILING: text of the link's block precedes it
SEQUENTIAL = 64  # link flag: rel="prev", "next" or "up"

# Columns of blocks and links. They are positions in the text, except for the href, which is a span of `values`.
BLOCK_START, BLOCK_KINDS = 0, 1
LINK_START, LINK_END, LINK_HREF, LINK_HREF_END, LINK_FLAGS = range(5)

# The state of a scan, 0 before the first page: sizes of the output, what is open, and limits.
(N_TEXT, N_VALUES, N_BLOCKS, N_LINKS, PENDING, OPEN_LINK, OPEN_DEPTH, DEPTH) = range(8)
(HIDDEN, FOREIGN, PAGE_TEXT, PAGE_LINKS, MAX_LINKS, MAX_URL, N_PAGES) = range(8, 15)
# Navigation: the row of the tag that opened the region, its depth, its first block; open elements of the main text.
(REGION_TAG, REGION_DEPTH, REGION_BLOCK, MAIN_DEPTH) = range(15, 19)
STATE_SIZE = 19

# Modes of reading text: up to the next tag, all of it, as an attribute value, or without decoding references.
UP_TO_TAG, WHOLE, ATTRIBUTE, VERBATIM = range(4)
NOFOLLOW_HASH, PREV_HASH, PREVIOUS_HASH = name_hash(b"nofollow"), name_hash(b"prev"), name_hash(b"previous")
NEXT_HASH, UP_HASH = name_hash(b"next"), name_hash(b"up")


class PageOutput(NamedTuple):
    """The output of a scan of several pages; the row of each page has the ends of its parts."""

    text: Bytes
    values: Bytes  # decoded attribute values and titles
    blocks: Int64s
    links: Int64s
    pages: Int64s


def allocate_output(size: int, pages: int) -> PageOutput:
    """An empty output with room for everything that `size` bytes of HTML in `pages` pages can contain.

    The bounds: a reference of five bytes becomes at most six; a block takes a tag of three bytes and a character; a
    link takes `<a href>`. Memory that is never written is not used.
    """
    room = size + size // 4 + 16 * pages + 16
    return PageOutput(
        text=np.empty(room, np.uint8),
        values=np.empty(room, np.uint8),
        blocks=np.empty((size // 4 + pages + 1, 2), np.int64),
        links=np.empty((size // 8 + pages + 1, 5), np.int64),
        pages=np.zeros((pages, PAGE_COLUMNS), np.int64),
    )


@inner
def flush_pending(text: Bytes, blocks: Int64s, state: Int64s) -> None:
    """Write what must precede the next visible character: the start of a block, or a space."""
    n = state[N_TEXT]
    first = n == state[PAGE_TEXT]
    kinds = state[PENDING] & 255
    if kinds or first:
        if not first:
            poke(text, n, 10)
            n += 1
        blocks[state[N_BLOCKS], BLOCK_START] = n
        blocks[state[N_BLOCKS], BLOCK_KINDS] = kinds | (NAVIGATION if state[REGION_TAG] >= 0 else 0)
        state[N_BLOCKS] += 1
    elif state[PENDING] & SPACE:
        poke(text, n, 32)
        n += 1
    state[PENDING] = 0
    state[N_TEXT] = n


@inner
def put_character(point: int, text: Bytes, blocks: Int64s, state: Int64s) -> None:
    """Write the character of a reference; white space is collapsed, soft hyphens are dropped."""
    if point == 0xA0 or point == 0x2028 or point == 0x2029 or point == 127 or point <= 32:
        state[PENDING] |= SPACE
    elif point != 0xAD:
        if state[PENDING] or state[N_TEXT] == state[PAGE_TEXT]:
            flush_pending(text, blocks, state)
        state[N_TEXT] = encode_character(point, text, state[N_TEXT])


@inner
def put_special(
    html: Bytes, i: int, end: int, mode: int, entities: Int64s, text: Bytes, blocks: Int64s, state: Int64s
) -> int:
    """Write the reference, Unicode space or soft hyphen at html[i]; its end, or i if the byte is ordinary text."""
    byte = peek(html, i)
    if byte == AMPERSAND and mode != VERBATIM:
        j, point, second = read_reference(html, i, end, mode == ATTRIBUTE, entities)
        if point >= 0:
            put_character(point, text, blocks, state)
            if second > 0:
                put_character(second, text, blocks, state)
            return j
    elif byte == 0xC2 and i + 1 < end and (peek(html, i + 1) == 0xA0 or peek(html, i + 1) == 0xAD):
        if peek(html, i + 1) == 0xA0:
            state[PENDING] |= SPACE
        return i + 2
    elif byte == 0xE2 and i + 2 < end and peek(html, i + 1) == 0x80 and 0xA8 <= peek(html, i + 2) <= 0xA9:
        state[PENDING] |= SPACE
        return i + 3
    return i


@inlined
def take_plain(html: Bytes, plain: Bytes) -> None:
    """Copy all bytes but controls, and those that may begin a tag, a reference, a space or a hyphen; they become 0.

    The compiler makes vector instructions of it.
    """
    for i in range(len(html)):
        byte = html[i]
        special = (byte < 32) | (byte == 127) | (byte == AMPERSAND) | (byte == LESS) | (byte == 0xC2) | (byte == 0xE2)
        plain[i] = 0 if special else byte


@inlined
def put_text(
    html: Bytes, plain: Bytes, i: int, end: int, mode: int, entities: Int64s, out: PageOutput, state: Int64s
) -> int:
    """Write html[i:end] as visible text; the index where it stopped. `plain` are its plain bytes.

    White space and controls are collapsed, references decoded, NULs dropped.
    """
    text, blocks = out.text, out.blocks
    while i < end:
        byte = peek(html, i)
        if byte <= 32 or byte == 127:
            white = False
            while i < end and (peek(html, i) <= 32 or peek(html, i) == 127):
                white |= peek(html, i) != 0
                i += 1
            if white:
                state[PENDING] |= SPACE
            continue
        if peek(plain, i) == 0:
            if byte == LESS and mode == UP_TO_TAG:
                break
            j = put_special(html, i, end, mode, entities, text, blocks, state)
            if j > i:
                i = j
                continue
        n = state[N_TEXT]
        if state[PENDING] == SPACE and n > state[PAGE_TEXT]:
            poke(text, n, 32)
            n += 1
            state[PENDING] = 0
        elif state[PENDING] or n == state[PAGE_TEXT]:
            flush_pending(text, blocks, state)
            n = state[N_TEXT]
        poke(text, n, byte)  # which may be special but ordinary text here
        i, n = copy_plain(plain, i + 1, end, text, n + 1)
        state[N_TEXT] = n
    return i


@inner
def put_fact(
    html: Bytes, start: int, end: int, fact: int, entities: Int64s, values: Bytes, page: Int64s, state: Int64s
) -> None:
    """Write a fact of a page, unless the page gave it before. Only titles are not attributes."""
    if start >= 0 and not page[GIVEN] & (1 << fact):
        page[GIVEN] |= 1 << fact
        page[fact] = state[N_VALUES]
        in_attribute = fact != TITLE_TEXT
        state[N_VALUES] = decode_references(html, start, end, in_attribute, entities, values, state[N_VALUES])
        page[fact + 1] = state[N_VALUES]


@inner
def flags_of_rel(html: Bytes, spans: Int64s) -> int:
    """The link flags that a `rel` attribute sets."""
    flags = NOFOLLOW if has_word(html, spans, REL, NOFOLLOW_HASH) else 0
    for word in (PREV_HASH, PREVIOUS_HASH, NEXT_HASH, UP_HASH):
        if has_word(html, spans, REL, word):
            flags |= SEQUENTIAL
    return flags


@inlined
def open_link(
    html: Bytes, spans: Int64s, name: int, flags: int, entities: Int64s, out: PageOutput, page: Int64s, state: Int64s
) -> bool:
    """Begin a link at the end of the text; False if it has no href or the page has too many links."""
    links, start, end = out.links, spans[name, 0], spans[name, 1]
    if start < 0:
        return False
    if state[PAGE_LINKS] >= state[MAX_LINKS]:
        page[DROPPED] += 1
        return False
    if spans[REL, 0] >= 0:
        flags |= flags_of_rel(html, spans)
    if not state[PENDING] & 255 and state[N_TEXT] > state[PAGE_TEXT]:
        flags |= TRAILING
    k = state[N_LINKS]
    links[k, LINK_START] = links[k, LINK_END] = state[N_TEXT]
    links[k, LINK_HREF] = state[N_VALUES]
    if end - start > state[MAX_URL]:
        flags |= TOO_LONG
    else:
        state[N_VALUES] = decode_references(html, start, end, True, entities, out.values, state[N_VALUES])
    links[k, LINK_HREF_END] = state[N_VALUES]
    links[k, LINK_FLAGS] = flags
    state[N_LINKS] += 1
    state[PAGE_LINKS] += 1
    return True


@inner
def close_link(links: Int64s, blocks: Int64s, state: Int64s) -> None:
    """End the open link, if any, at the end of the text; a block with a link to the next page is navigation."""
    k = state[OPEN_LINK]
    if k >= 0:
        links[k, LINK_END] = state[N_TEXT]
        state[OPEN_LINK] = -1
        if links[k, LINK_FLAGS] & SEQUENTIAL and (links[k, LINK_END] > links[k, LINK_START]):
            blocks[state[N_BLOCKS] - 1, BLOCK_KINDS] |= NAVIGATION
