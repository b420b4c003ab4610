"""HTML -> visible text, blocks, links and a page's own facts, in one pass over the bytes.

No tree is built: what later work needs is a stream, and a scanner without a stack cannot be made to
nest, recurse or blow up. Its time is linear in the size of the page, whatever the page holds.

Beware: a call that hands arrays on costs more than to look at a few bytes. What runs for every tag is put into
the one loop over text and tags (`inlined`); only what is rarer than a tag is a function of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pagekin.kernels.bits import peek
from pagekin.kernels.compile import kernel
from pagekin.kernels.entities import decode_references
from pagekin.kernels.fnv import OFFSET, find_row, fnv, fnv_step
from pagekin.kernels.inline import inlined, inner
from pagekin.kernels.page_output import (
    AS_IT_IS,
    ATTRIBUTE,
    BASE_URL,
    BLOCKS_END,
    CANONICAL,
    DEPTH,
    DROPPED,
    FLAGS,
    FOREIGN,
    FROM_AREA,
    FROM_FRAME,
    GIVEN,
    HIDDEN,
    LANGUAGE,
    LINK_END,
    LINK_FLAGS,
    LINK_HREF,
    LINK_HREF_END,
    LINK_START,
    LINKS_END,
    MAX_LINKS,
    MAX_URL,
    N_BLOCKS,
    N_LINKS,
    N_PAGES,
    N_TEXT,
    N_VALUES,
    NOFOLLOW,
    NOINDEX,
    OPEN_DEPTH,
    OPEN_LINK,
    PAGE_LINKS,
    PAGE_TEXT,
    PARAGRAPH,
    PENDING,
    REFRESH,
    SPACE,
    TEXT_END,
    TITLE_TEXT,
    TOO_LONG,
    TRAILING,
    UP_TO_TAG,
    WHOLE,
    PageOutput,
    put_text,
)
from pagekin.kernels.tags import (
    ALT,
    ATTRIBUTES,
    BANG,
    CONTENT,
    ENDS_NAME,
    HREF,
    HTTP_EQUIV,
    LANG,
    LESS,
    NAME,
    QUESTION,
    REL,
    SLASH,
    SRC,
    find_end_tag,
    find_script_end,
    find_section_end,
    has_word,
    is_letter,
    lower,
    read_attributes,
    skip_attributes,
    skip_comment,
    skip_past,
    word,
)
from pagekin.model.arrays import Bytes, Int64s

# What a tag makes the scanner do, beyond its block boundaries. From ANCHOR on, attributes matter.
(NOTHING, TABLE, CELL_TAG, TEMPLATE, FOREIGN_TAG) = range(5)
(SCRIPT, HIDDEN_TEXT, PLAIN_TEXT, REST_IS_TEXT, DECODED_TEXT, TITLE) = range(5, 11)
(ANCHOR, AREA, IMAGE, FRAME, INLINE_FRAME, BASE, LINK, META, HTML) = range(11, 20)

# Columns of the table of tags, of which column 0 is the FNV of the name.
TAG_ACTION, TAG_OPENS, TAG_CLOSES = 1, 2, 3

WORD_NOFOLLOW = word(b"nofollow")
WORD_NOINDEX = word(b"noindex")
WORD_NONE = word(b"none")
WORD_ROBOTS = word(b"robots")
WORD_CANONICAL = word(b"canonical")
WORD_REFRESH = word(b"refresh")
WORD_CONTENT_LANGUAGE = word(b"content-language")
WORD_CDATA = word(b"[CDATA[")


class Markup(NamedTuple):
    """What the scanner knows of HTML, made by `reading/markup.py`: three tables of `rows_of`."""

    tags: Int64s
    attributes: Int64s
    entities: Int64s


@inner
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


@inlined
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
    if not at[PENDING] & 255 and at[N_TEXT] > at[PAGE_TEXT]:
        flags |= TRAILING
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


@inner
def close_link(links: Int64s, at: Int64s) -> None:
    if at[OPEN_LINK] >= 0:
        links[at[OPEN_LINK], LINK_END] = at[N_TEXT]
        at[OPEN_LINK] = -1


@inner
def close_cell(links: Int64s, at: Int64s) -> None:
    """A link that was opened inside this cell and never closed ends with the cell."""
    if at[OPEN_LINK] >= 0 and at[OPEN_DEPTH] == at[DEPTH]:
        close_link(links, at)


@inner
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


@inlined
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
            put_text(html, spans[ALT, 0], spans[ALT, 1], ATTRIBUTE, entities, text, blocks, at)
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


@inner
def no_tag(
    html: Bytes,
    i: int,
    end: int,
    following: int,
    closing: bool,
    shown: bool,
    entities: Int64s,
    text: Bytes,
    blocks: Int64s,
    at: Int64s,
) -> int:
    """Where it ends that begins with the < at html[i] and is no tag: a comment, a section, an instruction, a mere <."""
    if following == BANG and not closing:
        if at[FOREIGN] and i + 9 <= end and np.int64(fnv(html, i + 2, i + 9)) == WORD_CDATA:
            stop = find_section_end(html, i + 9, end)
            if shown:
                put_text(html, i + 9, stop, AS_IT_IS, entities, text, blocks, at)
            return min(stop + 3, end)
        return skip_comment(html, i, end)
    if following == QUESTION or (closing and i + 2 < end):
        return skip_past(html, i + 1, end)
    if shown:
        put_text(html, i, i + 1, AS_IT_IS, entities, text, blocks, at)
    return i + 1


@inner
def raw_end(html: Bytes, i: int, end: int, action: int, name: np.uint64) -> int:
    """Where the contents end of an element that holds no markup."""
    if action == SCRIPT:
        return find_script_end(html, i, end)
    if action == REST_IS_TEXT:
        return end
    return find_end_tag(html, i, end, name)


@inner
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
        put_text(html, i, end, WHOLE if action == DECODED_TEXT else AS_IT_IS, entities, text, blocks, at)
        at[PENDING] |= PARAGRAPH


@inner
def scan_page(
    html: Bytes,
    i: int,
    end: int,
    spans: Int64s,
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
    """Scan one page, html[i:end]; `spans` has room for the attributes of a tag."""
    shown = True
    while i < end:
        if shown:
            i = put_text(html, i, end, UP_TO_TAG, entities, text, blocks, at)
        while i < end and peek(html, i) != LESS:
            i += 1
        if i >= end:
            break
        following = peek(html, i + 1) if i + 1 < end else 0
        closing = following == SLASH
        if closing and i + 2 < end:
            following = peek(html, i + 2)
        if not is_letter(following):
            i = no_tag(html, i, end, following, closing, shown, entities, text, blocks, at)
            continue
        i += 2 if closing else 1
        name = OFFSET
        while i < end and not ENDS_NAME[peek(html, i)]:
            name = fnv_step(name, lower(peek(html, i)))
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
                stop = raw_end(html, i, end, action, name)
                if shown:
                    raw_text(html, i, stop, action, entities, text, values, blocks, page, at)
                i = stop
    close_link(links, at)


@kernel
def scan_pages(
    html: Bytes, bounds: Int64s, markup: Markup, max_links: int, max_url: int, sheet: PageOutput, at: Int64s
) -> int:
    """Scan pages laid end to end in `html`, page k being html[bounds[k]:bounds[k+1]], onto `sheet`.

    A page gives at most `max_links` links; how many were dropped is counted in the page's row. A link whose href
    has more than `max_url` bytes, as written, is kept without it and flagged. `at` is `new_state()`, or what an
    earlier call left, after whose pages these are written. Returns how much of `sheet.values` is written.
    """
    spans = np.empty((ATTRIBUTES, 2), np.int64)
    at[MAX_LINKS] = max_links
    at[MAX_URL] = max_url
    for k in range(len(bounds) - 1):
        at[PAGE_TEXT] = at[N_TEXT]
        at[PAGE_LINKS] = at[PENDING] = at[DEPTH] = at[HIDDEN] = at[FOREIGN] = 0
        at[OPEN_LINK] = -1
        page = sheet.pages[at[N_PAGES]]
        scan_page(
            html,
            bounds[k],
            bounds[k + 1],
            spans,
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
        at[N_PAGES] += 1
    return int(at[N_VALUES])
