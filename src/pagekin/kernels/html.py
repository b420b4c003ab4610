"""HTML -> visible text, blocks, links and a page's own facts, in one pass over the bytes.

No tree is built: what later work needs is a stream, and a scanner without a stack cannot be made to
nest, recurse or blow up. Its time is linear in the size of the page, whatever the page holds.

Beware: a jitted function counts a reference to every array it is handed. The loop over text and tags
therefore stands in one function, and only what is rarer than a tag is a function of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pagekin.arrays import Bytes, Int64s, Integer
from pagekin.kernels.compile import kernel
from pagekin.kernels.entities import AMPERSAND, decode_references, put_character, reference
from pagekin.kernels.hashing import OFFSET, find_row, fnv, fnv_of, fnv_step

# Block boundaries, by kind; a block carries all that stand between it and the block before.
PARAGRAPH, CELL, ITEM, BREAK, HEADING, LIST_END, TABLE_END = 1, 2, 4, 8, 16, 32, 64
SPACE = 256  # beside the kinds in PENDING: white space seen, not yet written

# What a tag makes the scanner do, beyond its block boundaries. From ANCHOR on, attributes matter.
(NOTHING, TABLE, CELL_TAG, TEMPLATE, FOREIGN_TAG) = range(5)
(SCRIPT, HIDDEN_TEXT, PLAIN_TEXT, REST_IS_TEXT, DECODED_TEXT, TITLE) = range(5, 11)
(ANCHOR, AREA, IMAGE, FRAME, INLINE_FRAME, BASE, LINK, META, HTML) = range(11, 20)

# Columns of the table of tags, of which column 0 is the FNV of the name.
TAG_ACTION, TAG_OPENS, TAG_CLOSES = 1, 2, 3

# The attributes that matter.
(HREF, SRC, ALT, REL, LANG, NAME, CONTENT, HTTP_EQUIV) = range(8)
ATTRIBUTES = 8

# Columns of a page's row. A fact is a span of `values`: start and end.
(BASE_URL, CANONICAL, LANGUAGE, REFRESH, TITLE_TEXT) = 0, 2, 4, 6, 8
(GIVEN, FLAGS, DROPPED, TEXT_END, BLOCKS_END, LINKS_END) = range(10, 16)  # GIVEN: a bit for each fact
PAGE_COLUMNS = 16
NOINDEX, NOFOLLOW = 1, 2  # page flags; NOFOLLOW is a link flag, too
FROM_AREA, FROM_FRAME, TOO_LONG = 4, 8, 16  # more link flags

# Columns of blocks and links. Spans of the text, but for the href, which is a span of `values`.
BLOCK_START, BLOCK_KINDS = 0, 1
LINK_START, LINK_END, LINK_HREF, LINK_HREF_END, LINK_FLAGS = range(5)

# The running state.
(N_TEXT, N_VALUES, N_BLOCKS, N_LINKS, PENDING, OPEN_LINK, OPEN_DEPTH, DEPTH) = range(8)
(HIDDEN, FOREIGN, PAGE_TEXT, PAGE_LINKS, MAX_LINKS, MAX_URL) = range(8, 14)
STATE = 14

LESS, GREATER, SLASH, BANG, QUESTION, DASH, DOUBLE, SINGLE, EQUAL = 60, 62, 47, 33, 63, 45, 34, 39, 61
LONGEST_NAME = 16  # no tag whose contents are raw has a longer name


def _word(text: bytes) -> np.int64:
    return np.uint64(fnv_of(text)).astype(np.int64)


WORD_NOFOLLOW = _word(b"nofollow")
WORD_NOINDEX = _word(b"noindex")
WORD_NONE = _word(b"none")
WORD_ROBOTS = _word(b"robots")
WORD_CANONICAL = _word(b"canonical")
WORD_REFRESH = _word(b"refresh")
WORD_CONTENT_LANGUAGE = _word(b"content-language")
WORD_SCRIPT = _word(b"script")
WORD_CDATA = _word(b"[CDATA[")


class Markup(NamedTuple):
    """What the scanner knows of HTML, made by `reading/markup.py`: three tables of `rows_of`."""

    tags: Int64s
    attributes: Int64s
    entities: Int64s


class Sheet(NamedTuple):
    """What a scan writes: pages laid end to end, each page's row telling where its parts end."""

    text: Bytes
    values: Bytes  # decoded attribute values and titles
    blocks: Int64s
    links: Int64s
    pages: Int64s


def sheet_for(size: int, pages: int) -> Sheet:
    """A sheet with room for all that `size` bytes of HTML in `pages` pages can hold.

    The bounds: a reference grows by at most six bytes for five; a block takes a tag of three bytes and a
    character; a link takes `<a href>`. What is not written costs no memory.
    """
    room = size + size // 4 + 16 * pages + 16
    return Sheet(
        text=np.empty(room, np.uint8),
        values=np.empty(room, np.uint8),
        blocks=np.empty((size // 4 + pages + 1, 2), np.int64),
        links=np.empty((size // 8 + pages + 1, 5), np.int64),
        pages=np.zeros((pages, PAGE_COLUMNS), np.int64),
    )


@kernel
def is_space(byte: int) -> bool:
    return byte == 32 or byte == 10 or byte == 9 or byte == 13 or byte == 12


@kernel
def is_letter(byte: int) -> bool:
    return 97 <= (byte | 32) <= 122


@kernel
def lower(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte


# --- writing text --------------------------------------------------------------------------------


@kernel
def settle(text: Bytes, blocks: Int64s, at: Int64s) -> None:
    """Write what is pending before a visible character: a new block, or one space."""
    n = at[N_TEXT]
    first = n == at[PAGE_TEXT]
    kinds = at[PENDING] & 255
    if kinds or first:
        if not first:
            text[n] = 10
            n += 1
        blocks[at[N_BLOCKS], BLOCK_START] = n
        blocks[at[N_BLOCKS], BLOCK_KINDS] = kinds
        at[N_BLOCKS] += 1
    elif at[PENDING] & SPACE:
        text[n] = 32
        n += 1
    at[PENDING] = 0
    at[N_TEXT] = n


@kernel
def put_point(point: int, text: Bytes, blocks: Int64s, at: Int64s) -> None:
    """Write a character that came as a reference; white space folds, soft hyphens go."""
    if point == 0xA0 or point == 0x2028 or point == 0x2029 or point == 127 or point <= 32:
        at[PENDING] |= SPACE
    elif point != 0xAD:
        if at[PENDING] or at[N_TEXT] == at[PAGE_TEXT]:
            settle(text, blocks, at)
        at[N_TEXT] = put_character(text, at[N_TEXT], point)


@kernel
def put_text(
    html: Bytes,
    i: int,
    end: int,
    decode: bool,
    in_attribute: bool,
    entities: Int64s,
    text: Bytes,
    blocks: Int64s,
    at: Int64s,
) -> None:
    """Write html[i:end] as visible text: white space and controls folded, references decoded, NULs dropped."""
    while i < end:
        byte = html[i]
        if byte <= 32 or byte == 127:
            if byte != 0:
                at[PENDING] |= SPACE
            i += 1
            continue
        if byte == AMPERSAND and decode:
            j, point, second = reference(html, i, end, in_attribute, entities)
            if point >= 0:
                put_point(point, text, blocks, at)
                if second > 0:
                    put_point(second, text, blocks, at)
                i = j
                continue
        if byte == 0xC2 and i + 1 < end and (html[i + 1] == 0xA0 or html[i + 1] == 0xAD):
            if html[i + 1] == 0xA0:
                at[PENDING] |= SPACE
            i += 2
            continue
        if byte == 0xE2 and i + 2 < end and html[i + 1] == 0x80 and (html[i + 2] == 0xA8 or html[i + 2] == 0xA9):
            at[PENDING] |= SPACE
            i += 3
            continue
        if at[PENDING] or at[N_TEXT] == at[PAGE_TEXT]:
            settle(text, blocks, at)
        n = at[N_TEXT]
        text[n] = byte  # also an ampersand, 0xC2 or 0xE2 that stands for itself
        n += 1
        i += 1
        while i < end:
            byte = html[i]
            if byte <= 32 or byte == AMPERSAND or byte == 127 or byte == 0xC2 or byte == 0xE2:
                break
            text[n] = byte
            n += 1
            i += 1
        at[N_TEXT] = n


# --- links and facts -----------------------------------------------------------------------------


@kernel
def has_word(html: Bytes, start: int, end: int, word: Integer) -> bool:
    """Whether a list such as rel="nofollow noopener" or content="noindex, follow" holds `word`."""
    value = OFFSET
    for i in range(max(start, 0), end):
        byte = html[i]
        if is_space(byte) or byte == 44:
            if np.int64(value) == word:
                return True
            value = OFFSET
        else:
            value = fnv_step(value, lower(byte))
    return bool(np.int64(value) == word)


@kernel
def put_fact(
    html: Bytes,
    start: int,
    end: int,
    fact: int,
    in_attribute: bool,
    entities: Int64s,
    values: Bytes,
    page: Int64s,
    at: Int64s,
) -> None:
    """Keep a page's own fact, unless the page gave one before."""
    if start >= 0 and not page[GIVEN] & (1 << fact):
        page[GIVEN] |= 1 << fact
        page[fact] = at[N_VALUES]
        at[N_VALUES] = decode_references(html, start, end, in_attribute, entities, values, at[N_VALUES])
        page[fact + 1] = at[N_VALUES]


@kernel
def open_link(
    html: Bytes,
    spans: Int64s,
    attribute: int,
    flags: int,
    entities: Int64s,
    values: Bytes,
    links: Int64s,
    page: Int64s,
    at: Int64s,
) -> bool:
    """Begin a link at the present place of the text; False where there is none or the page has had its share."""
    start = spans[attribute, 0]
    end = spans[attribute, 1]
    if start < 0:
        return False
    if at[PAGE_LINKS] >= at[MAX_LINKS]:
        page[DROPPED] += 1
        return False
    if has_word(html, spans[REL, 0], spans[REL, 1], WORD_NOFOLLOW):
        flags |= NOFOLLOW
    k = at[N_LINKS]
    links[k, LINK_START] = links[k, LINK_END] = at[N_TEXT]
    links[k, LINK_HREF] = at[N_VALUES]
    if end - start > at[MAX_URL]:
        flags |= TOO_LONG
    else:
        at[N_VALUES] = decode_references(html, start, end, True, entities, values, at[N_VALUES])
    links[k, LINK_HREF_END] = at[N_VALUES]
    links[k, LINK_FLAGS] = flags
    at[N_LINKS] += 1
    at[PAGE_LINKS] += 1
    return True


@kernel
def close_link(links: Int64s, at: Int64s) -> None:
    if at[OPEN_LINK] >= 0:
        links[at[OPEN_LINK], LINK_END] = at[N_TEXT]
        at[OPEN_LINK] = -1


@kernel
def close_cell(links: Int64s, at: Int64s) -> None:
    """A link that was opened inside this cell and never closed ends with the cell."""
    if at[OPEN_LINK] >= 0 and at[OPEN_DEPTH] == at[DEPTH]:
        close_link(links, at)


@kernel
def read_meta(html: Bytes, spans: Int64s, entities: Int64s, values: Bytes, page: Int64s, at: Int64s) -> None:
    start = spans[CONTENT, 0]
    end = spans[CONTENT, 1]
    if has_word(html, spans[NAME, 0], spans[NAME, 1], WORD_ROBOTS) and at[N_TEXT] == at[PAGE_TEXT]:
        none = has_word(html, start, end, WORD_NONE)
        if none or has_word(html, start, end, WORD_NOINDEX):
            page[FLAGS] |= NOINDEX
        if none or has_word(html, start, end, WORD_NOFOLLOW):
            page[FLAGS] |= NOFOLLOW
    elif has_word(html, spans[HTTP_EQUIV, 0], spans[HTTP_EQUIV, 1], WORD_REFRESH):
        put_fact(html, start, end, REFRESH, True, entities, values, page, at)
    elif has_word(html, spans[HTTP_EQUIV, 0], spans[HTTP_EQUIV, 1], WORD_CONTENT_LANGUAGE):
        put_fact(html, start, end, LANGUAGE, True, entities, values, page, at)


# --- reading markup ------------------------------------------------------------------------------


@kernel
def skip_attributes(html: Bytes, i: int, end: int) -> tuple[int, bool]:
    """The place after the tag's `>`, or -1 where the page ends inside the tag; whether the tag ends in `/>`."""
    slash = False
    while i < end:
        byte = html[i]
        i += 1
        if byte == GREATER:
            return i, slash
        slash = byte == SLASH
        if is_space(byte) or slash:
            continue
        while i < end and not (html[i] == GREATER or html[i] == SLASH or html[i] == EQUAL or is_space(html[i])):
            i += 1
        while i < end and is_space(html[i]):
            i += 1
        if i < end and html[i] == EQUAL:
            i += 1
            while i < end and is_space(html[i]):
                i += 1
            if i < end and (html[i] == DOUBLE or html[i] == SINGLE):
                quote = html[i]
                i += 1
                while i < end and html[i] != quote:
                    i += 1
                i += 1
            else:
                while i < end and html[i] != GREATER and not is_space(html[i]):
                    i += 1
    return -1, False


@kernel
def read_attributes(html: Bytes, i: int, end: int, attributes: Int64s, spans: Int64s) -> tuple[int, bool]:
    """As `skip_attributes`, noting where the values of known attributes stand; of two the first counts."""
    spans[:] = -1
    slash = False
    while i < end:
        byte = html[i]
        i += 1
        if byte == GREATER:
            return i, slash
        slash = byte == SLASH
        if is_space(byte) or slash:
            continue
        value = fnv_step(OFFSET, lower(byte))
        while i < end and not (html[i] == GREATER or html[i] == SLASH or html[i] == EQUAL or is_space(html[i])):
            value = fnv_step(value, lower(html[i]))
            i += 1
        while i < end and is_space(html[i]):
            i += 1
        start = stop = i
        if i < end and html[i] == EQUAL:
            i += 1
            while i < end and is_space(html[i]):
                i += 1
            start = i
            if i < end and (html[i] == DOUBLE or html[i] == SINGLE):
                start = i + 1
                quote = html[i]
                i += 1
                while i < end and html[i] != quote:
                    i += 1
                stop = i
                i += 1
            else:
                while i < end and html[i] != GREATER and not is_space(html[i]):
                    i += 1
                stop = i
        row = find_row(attributes, value)
        if row >= 0 and spans[attributes[row, 1], 0] < 0:
            spans[attributes[row, 1], 0] = start
            spans[attributes[row, 1], 1] = min(stop, end)
    return -1, False


@kernel
def skip_past(html: Bytes, i: int, end: int) -> int:
    """The place after the next `>`."""
    while i < end and html[i] != GREATER:
        i += 1
    return min(i + 1, end)


@kernel
def skip_comment(html: Bytes, i: int, end: int) -> int:
    """The place after the `<!...>` at html[i]."""
    if not (i + 3 < end and html[i + 2] == DASH and html[i + 3] == DASH):
        return skip_past(html, i, end)
    i += 4
    if i < end and html[i] == GREATER:
        return i + 1
    if i + 1 < end and html[i] == DASH and html[i + 1] == GREATER:
        return i + 2
    while i + 2 < end:
        if html[i] == DASH and html[i + 1] == DASH:
            if html[i + 2] == GREATER:
                return i + 3
            if html[i + 2] == BANG and i + 3 < end and html[i + 3] == GREATER:
                return i + 4
        i += 1
    return end


@kernel
def short_name(html: Bytes, i: int, end: int) -> np.int64:
    """The FNV of the tag name at html[i], or 0 if it is too long or runs into the end of the page."""
    value = OFFSET
    for j in range(i, min(i + LONGEST_NAME, end)):
        if html[j] == GREATER or html[j] == SLASH or is_space(html[j]):
            return np.int64(value)
        value = fnv_step(value, lower(html[j]))
    return np.int64(0)


@kernel
def find_end_tag(html: Bytes, i: int, end: int, name: np.uint64) -> int:
    """Where `</name` stands next, for elements whose contents are no markup; `end` if nowhere."""
    while i + 2 < end:
        if html[i] == LESS and html[i + 1] == SLASH and short_name(html, i + 2, end) == np.int64(name):
            return i
        i += 1
    return end


@kernel
def find_script_end(html: Bytes, i: int, end: int) -> int:
    """As `find_end_tag` for a script, in which `<!-- <script> ... </script> -->` may be quoted."""
    escaped = False
    quoted = False
    while i + 2 < end:
        if html[i] == LESS:
            if html[i + 1] == SLASH:
                if short_name(html, i + 2, end) == WORD_SCRIPT:
                    if not quoted:
                        return i
                    quoted = False
            elif escaped:
                quoted |= short_name(html, i + 1, end) == WORD_SCRIPT
            elif html[i + 1] == BANG and i + 3 < end and html[i + 2] == DASH and html[i + 3] == DASH:
                escaped = True
                i += 1
        elif escaped and html[i] == DASH and html[i + 1] == DASH and html[i + 2] == GREATER:
            escaped = False
            quoted = False
        i += 1
    return end


@kernel
def find_section_end(html: Bytes, i: int, end: int) -> int:
    """Where the `]]>` of a CDATA section stands; `end` if nowhere."""
    while i + 2 < end:
        if html[i] == 93 and html[i + 1] == 93 and html[i + 2] == GREATER:
            return i
        i += 1
    return end


# --- the scan ------------------------------------------------------------------------------------


@kernel
def telling_tag(
    html: Bytes,
    spans: Int64s,
    action: int,
    entities: Int64s,
    text: Bytes,
    values: Bytes,
    blocks: Int64s,
    links: Int64s,
    page: Int64s,
    at: Int64s,
) -> None:
    """A start tag whose attributes tell something; `spans` are their values."""
    if action == ANCHOR:
        close_link(links, at)
        if open_link(html, spans, HREF, 0, entities, values, links, page, at):
            at[OPEN_LINK] = at[N_LINKS] - 1
            at[OPEN_DEPTH] = at[DEPTH]
    elif action == IMAGE or action == AREA:
        at[PENDING] |= SPACE
        opened = False
        if action == AREA:
            opened = open_link(html, spans, HREF, FROM_AREA, entities, values, links, page, at)
        if spans[ALT, 0] >= 0:
            put_text(html, spans[ALT, 0], spans[ALT, 1], True, True, entities, text, blocks, at)
        at[PENDING] |= SPACE
        if opened:
            links[at[N_LINKS] - 1, LINK_END] = at[N_TEXT]
    elif action == FRAME or action == INLINE_FRAME:
        open_link(html, spans, SRC, FROM_FRAME, entities, values, links, page, at)
    elif action == BASE:
        put_fact(html, spans[HREF, 0], spans[HREF, 1], BASE_URL, True, entities, values, page, at)
    elif action == LINK:
        if at[N_TEXT] == at[PAGE_TEXT] and has_word(html, spans[REL, 0], spans[REL, 1], WORD_CANONICAL):
            put_fact(html, spans[HREF, 0], spans[HREF, 1], CANONICAL, True, entities, values, page, at)
    elif action == META:
        read_meta(html, spans, entities, values, page, at)
    elif action == HTML:
        put_fact(html, spans[LANG, 0], spans[LANG, 1], LANGUAGE, True, entities, values, page, at)


@kernel
def raw_text(
    html: Bytes,
    i: int,
    end: int,
    action: int,
    entities: Int64s,
    text: Bytes,
    values: Bytes,
    blocks: Int64s,
    page: Int64s,
    at: Int64s,
) -> None:
    """The contents, html[i:end], of an element that holds no markup: script, style, title, textarea ..."""
    if action == TITLE and end > i and not at[FOREIGN]:
        put_fact(html, i, end, TITLE_TEXT, False, entities, values, page, at)
    elif action == PLAIN_TEXT or action == REST_IS_TEXT or action == DECODED_TEXT:
        at[PENDING] |= PARAGRAPH
        put_text(html, i, end, action == DECODED_TEXT, False, entities, text, blocks, at)
        at[PENDING] |= PARAGRAPH


@kernel
def scan_page(
    html: Bytes,
    i: int,
    end: int,
    tags: Int64s,
    attributes: Int64s,
    entities: Int64s,
    text: Bytes,
    values: Bytes,
    blocks: Int64s,
    links: Int64s,
    page: Int64s,
    at: Int64s,
) -> None:
    """Scan one page, html[i:end]."""
    spans = np.empty((ATTRIBUTES, 2), np.int64)
    shown = True
    while i < end:
        start = i
        while i < end and html[i] != LESS:
            i += 1
        if i > start and shown:
            put_text(html, start, i, True, False, entities, text, blocks, at)
        if i >= end:
            break
        following = html[i + 1] if i + 1 < end else 0
        closing = following == SLASH
        if closing and i + 2 < end:
            following = html[i + 2]
        if not is_letter(following):
            if following == BANG and not closing:
                if at[FOREIGN] and i + 9 <= end and np.int64(fnv(html, i + 2, i + 9)) == WORD_CDATA:
                    stop = find_section_end(html, i + 9, end)
                    if shown:
                        put_text(html, i + 9, stop, False, False, entities, text, blocks, at)
                    i = min(stop + 3, end)
                else:
                    i = skip_comment(html, i, end)
            elif following == QUESTION or (closing and i + 2 < end):
                i = skip_past(html, i + 1, end)
            else:
                if shown:
                    put_text(html, i, i + 1, False, False, entities, text, blocks, at)
                i += 1
            continue
        i += 2 if closing else 1
        name = OFFSET
        while i < end and html[i] != GREATER and html[i] != SLASH and not is_space(html[i]):
            name = fnv_step(name, lower(html[i]))
            i += 1
        row = find_row(tags, name)
        action = tags[row, TAG_ACTION] if row >= 0 else NOTHING
        if action >= ANCHOR and not closing:
            i, whole = read_attributes(html, i, end, attributes, spans)
        else:
            i, whole = skip_attributes(html, i, end)
        if i < 0:
            break
        if row < 0:
            continue
        if action == TEMPLATE:
            at[HIDDEN] = max(0, at[HIDDEN] + (-1 if closing else 1))
        shown = at[HIDDEN] == 0
        if shown:
            at[PENDING] |= tags[row, TAG_CLOSES] if closing else tags[row, TAG_OPENS]
        if action == NOTHING:
            if tags[row, TAG_OPENS] & PARAGRAPH:
                at[FOREIGN] = 0  # a paragraph ends pictures and formulas that were not closed
            continue
        if action == FOREIGN_TAG:
            at[FOREIGN] = max(0, at[FOREIGN] + (-1 if closing else 1 - whole))
        elif shown and (action == TABLE or action == CELL_TAG):
            if action == CELL_TAG or closing:
                close_cell(links, at)
            if action == TABLE:
                at[DEPTH] = max(0, at[DEPTH] + (-1 if closing else 1))
        elif closing:
            if shown and action == ANCHOR:
                close_link(links, at)
        else:
            if shown and action >= ANCHOR:
                telling_tag(html, spans, action, entities, text, values, blocks, links, page, at)
            # <style/> has no contents in pictures and formulas; elsewhere the slash means nothing.
            if (SCRIPT <= action <= TITLE or action == INLINE_FRAME) and not (whole and at[FOREIGN]):
                if action == SCRIPT:
                    stop = find_script_end(html, i, end)
                elif action == REST_IS_TEXT:
                    stop = end
                else:
                    stop = find_end_tag(html, i, end, name)
                if shown:
                    raw_text(html, i, stop, action, entities, text, values, blocks, page, at)
                i = stop
    close_link(links, at)


@kernel
def scan_pages(html: Bytes, bounds: Int64s, markup: Markup, max_links: int, max_url: int, sheet: Sheet) -> int:
    """Scan pages laid end to end in `html`, page k being html[bounds[k]:bounds[k+1]], onto `sheet`.

    A page gives at most `max_links` links; how many were dropped is counted in the page's row. A link whose href
    has more than `max_url` bytes, as written, is kept without it and flagged.
    Returns how much of `sheet.values` is written.
    """
    at = np.zeros(STATE, np.int64)
    at[MAX_LINKS] = max_links
    at[MAX_URL] = max_url
    for k in range(len(bounds) - 1):
        at[PAGE_TEXT] = at[N_TEXT]
        at[PAGE_LINKS] = at[PENDING] = at[DEPTH] = at[HIDDEN] = at[FOREIGN] = 0
        at[OPEN_LINK] = -1
        page = sheet.pages[k]
        scan_page(
            html,
            bounds[k],
            bounds[k + 1],
            markup.tags,
            markup.attributes,
            markup.entities,
            sheet.text,
            sheet.values,
            sheet.blocks,
            sheet.links,
            page,
            at,
        )
        page[TEXT_END] = at[N_TEXT]
        page[BLOCKS_END] = at[N_BLOCKS]
        page[LINKS_END] = at[N_LINKS]
    return int(at[N_VALUES])
