"""HTML -> visible text, blocks, links and facts of pages, in one pass over the bytes.

No tree is built: later stages need a stream, and a scanner without a stack has no nesting depth to overflow. Its time
is linear in the size of the page, for any input.

Beware: a call with array arguments costs more than reading a few bytes. Code that runs for every tag is inlined into
the loop over text and tags; only what is rarer than a tag is a function of its own.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.bits import peek
from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.kernels.fnv import OFFSET, find_row, fnv, fnv_step
from pagekin.kernels.page_output import (
    ATTRIBUTE,
    BASE_URL,
    CANONICAL,
    DEPTH,
    FLAGS,
    FOREIGN,
    FROM_AREA,
    FROM_FRAME,
    HIDDEN,
    LANGUAGE,
    LINK_END,
    MAX_LINKS,
    MAX_URL,
    N_LINKS,
    N_PAGES,
    N_TEXT,
    N_VALUES,
    NOFOLLOW,
    NOFOLLOW_HASH,
    NOINDEX,
    OPEN_DEPTH,
    OPEN_LINK,
    PAGE_TEXT,
    PARAGRAPH,
    PENDING,
    REFRESH,
    SPACE,
    TITLE_TEXT,
    UP_TO_TAG,
    VERBATIM,
    WHOLE,
    PageOutput,
    begin_page,
    close_cell,
    close_link,
    end_page,
    open_link,
    put_fact,
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
    name_hash,
    read_attributes,
    skip_attributes,
    skip_comment,
    skip_past,
)
from pagekin.model.arrays import Bytes, Int64s

# The actions of tags, besides their block boundaries. From ANCHOR on, attributes are read.
(NOTHING, TABLE, CELL_TAG, TEMPLATE, FOREIGN_TAG) = range(5)
(SCRIPT, HIDDEN_TEXT, PLAIN_TEXT, REST_IS_TEXT, DECODED_TEXT, TITLE) = range(5, 11)
(ANCHOR, AREA, IMAGE, FRAME, INLINE_FRAME, BASE, LINK, META, HTML) = range(11, 20)

# Columns of the table of tags, after the key.
TAG_ACTION, TAG_OPENS, TAG_CLOSES = 1, 2, 3

NOINDEX_HASH, NONE_HASH, ROBOTS_HASH = name_hash(b"noindex"), name_hash(b"none"), name_hash(b"robots")
CANONICAL_HASH, REFRESH_HASH = name_hash(b"canonical"), name_hash(b"refresh")
CONTENT_LANGUAGE_HASH, CDATA_HASH = name_hash(b"content-language"), name_hash(b"[CDATA[")


class Markup(NamedTuple):
    """What the scanner knows of HTML: three hash tables by name, made by `reading/markup.py`."""

    tags: Int64s
    attributes: Int64s
    entities: Int64s


@inner
def read_meta(html: Bytes, spans: Int64s, entities: Int64s, values: Bytes, page: Int64s, state: Int64s) -> None:
    """A <meta> tag: flags for robots, a refresh, or a language."""
    start = spans[CONTENT, 0]
    end = spans[CONTENT, 1]
    if has_word(html, spans[NAME, 0], spans[NAME, 1], ROBOTS_HASH) and state[N_TEXT] == state[PAGE_TEXT]:
        none = has_word(html, start, end, NONE_HASH)
        if none or has_word(html, start, end, NOINDEX_HASH):
            page[FLAGS] |= NOINDEX
        if none or has_word(html, start, end, NOFOLLOW_HASH):
            page[FLAGS] |= NOFOLLOW
    elif has_word(html, spans[HTTP_EQUIV, 0], spans[HTTP_EQUIV, 1], REFRESH_HASH):
        put_fact(html, start, end, REFRESH, entities, values, page, state)
    elif has_word(html, spans[HTTP_EQUIV, 0], spans[HTTP_EQUIV, 1], CONTENT_LANGUAGE_HASH):
        put_fact(html, start, end, LANGUAGE, entities, values, page, state)


@inlined
def use_attributes(
    html: Bytes, spans: Int64s, action: int, entities: Int64s, out: PageOutput, page: Int64s, state: Int64s
) -> None:
    """A start tag whose attributes are read; `spans` are their values."""
    if action == ANCHOR:
        close_link(out.links, state)
        if open_link(html, spans, HREF, 0, entities, out, page, state):
            state[OPEN_LINK] = state[N_LINKS] - 1
            state[OPEN_DEPTH] = state[DEPTH]
    elif action == IMAGE or action == AREA:
        state[PENDING] |= SPACE
        opened = False
        if action == AREA:
            opened = open_link(html, spans, HREF, FROM_AREA, entities, out, page, state)
        if spans[ALT, 0] >= 0:
            put_text(html, spans[ALT, 0], spans[ALT, 1], ATTRIBUTE, entities, out, state)
        state[PENDING] |= SPACE
        if opened:
            out.links[state[N_LINKS] - 1, LINK_END] = state[N_TEXT]
    elif action == FRAME or action == INLINE_FRAME:
        open_link(html, spans, SRC, FROM_FRAME, entities, out, page, state)
    elif action == BASE:
        put_fact(html, spans[HREF, 0], spans[HREF, 1], BASE_URL, entities, out.values, page, state)
    elif action == LINK:
        if state[N_TEXT] == state[PAGE_TEXT] and has_word(html, spans[REL, 0], spans[REL, 1], CANONICAL_HASH):
            put_fact(html, spans[HREF, 0], spans[HREF, 1], CANONICAL, entities, out.values, page, state)
    elif action == META:
        read_meta(html, spans, entities, out.values, page, state)
    elif action == HTML:
        put_fact(html, spans[LANG, 0], spans[LANG, 1], LANGUAGE, entities, out.values, page, state)


@inner
def skip_non_tag(
    html: Bytes,
    i: int,
    end: int,
    byte: int,
    closing: bool,
    shown: bool,
    entities: Int64s,
    out: PageOutput,
    state: Int64s,
) -> int:
    """The end of a comment, CDATA section, instruction or mere < that begins with the < at html[i]."""
    if byte == BANG and not closing:
        if state[FOREIGN] and i + 9 <= end and np.int64(fnv(html, i + 2, i + 9)) == CDATA_HASH:
            stop = find_section_end(html, i + 9, end)
            if shown:
                put_text(html, i + 9, stop, VERBATIM, entities, out, state)
            return min(stop + 3, end)
        return skip_comment(html, i, end)
    if byte == QUESTION or (closing and i + 2 < end):
        return skip_past(html, i + 1, end)
    if shown:
        put_text(html, i, i + 1, VERBATIM, entities, out, state)
    return i + 1


@inner
def find_raw_end(html: Bytes, i: int, end: int, action: int, name: np.uint64) -> int:
    """The end of the contents of an element without markup."""
    if action == SCRIPT:
        return find_script_end(html, i, end)
    if action == REST_IS_TEXT:
        return end
    return find_end_tag(html, i, end, name)


@inner
def put_raw_text(
    html: Bytes, i: int, end: int, action: int, entities: Int64s, out: PageOutput, page: Int64s, state: Int64s
) -> None:
    """The contents html[i:end] of an element without markup: script, style, title, textarea ..."""
    if action == TITLE and end > i and not state[FOREIGN]:
        put_fact(html, i, end, TITLE_TEXT, entities, out.values, page, state)
    elif action == PLAIN_TEXT or action == REST_IS_TEXT or action == DECODED_TEXT:
        state[PENDING] |= PARAGRAPH
        put_text(html, i, end, WHOLE if action == DECODED_TEXT else VERBATIM, entities, out, state)
        state[PENDING] |= PARAGRAPH


@inner
def scan_page(
    html: Bytes, i: int, end: int, spans: Int64s, markup: Markup, out: PageOutput, page: Int64s, state: Int64s
) -> None:
    """Scan one page, html[i:end]; `spans` is a buffer for the attributes of a tag."""
    tags, entities, links = markup.tags, markup.entities, out.links
    shown = True
    while i < end:
        if shown:
            i = put_text(html, i, end, UP_TO_TAG, entities, out, state)
        while i < end and peek(html, i) != LESS:
            i += 1
        if i >= end:
            break
        following = peek(html, i + 1) if i + 1 < end else 0
        closing = following == SLASH
        if closing and i + 2 < end:
            following = peek(html, i + 2)
        if not is_letter(following):
            i = skip_non_tag(html, i, end, following, closing, shown, entities, out, state)
            continue
        i += 2 if closing else 1
        name = OFFSET
        while i < end and not ENDS_NAME[peek(html, i)]:
            name = fnv_step(name, lower(peek(html, i)))
            i += 1
        row = find_row(tags, name)
        action = tags[row, TAG_ACTION] if row >= 0 else NOTHING
        if action >= ANCHOR and not closing:
            i, whole = read_attributes(html, i, end, markup.attributes, spans)
        else:
            i, whole = skip_attributes(html, i, end)
        if i < 0:
            break
        if row < 0:
            continue
        if action == TEMPLATE:
            state[HIDDEN] = max(0, state[HIDDEN] + (-1 if closing else 1))
        shown = state[HIDDEN] == 0
        if shown:
            state[PENDING] |= tags[row, TAG_CLOSES] if closing else tags[row, TAG_OPENS]
        if action == NOTHING:
            if tags[row, TAG_OPENS] & PARAGRAPH:
                state[FOREIGN] = 0  # a paragraph ends svg and math elements that were not closed
            continue
        if action == FOREIGN_TAG:
            state[FOREIGN] = max(0, state[FOREIGN] + (-1 if closing else 1 - whole))
        elif shown and (action == TABLE or action == CELL_TAG):
            if action == CELL_TAG or closing:
                close_cell(links, state)
            if action == TABLE:
                state[DEPTH] = max(0, state[DEPTH] + (-1 if closing else 1))
        elif closing:
            if shown and action == ANCHOR:
                close_link(links, state)
        else:
            if shown and action >= ANCHOR:
                use_attributes(html, spans, action, entities, out, page, state)
            # <style/> has no contents in svg and math; elsewhere the slash has no meaning.
            if (SCRIPT <= action <= TITLE or action == INLINE_FRAME) and not (whole and state[FOREIGN]):
                stop = find_raw_end(html, i, end, action, name)
                if shown:
                    put_raw_text(html, i, stop, action, entities, out, page, state)
                i = stop
    close_link(links, state)


@kernel
def scan_pages(
    html: Bytes, bounds: Int64s, markup: Markup, max_links: int, max_url: int, out: PageOutput, state: Int64s
) -> int:
    """Scan several pages, page k being html[bounds[k]:bounds[k + 1]].

    Of a page at most `max_links` links are kept; its row has the number of dropped links. A link whose href has more
    than `max_url` bytes is kept without the href and flagged. `state` is `new_state()`, or that of an earlier call, to
    whose output these pages are appended. Returns the used length of `out.values`.
    """
    spans = np.empty((ATTRIBUTES, 2), np.int64)
    state[MAX_LINKS] = max_links
    state[MAX_URL] = max_url
    for k in range(len(bounds) - 1):
        begin_page(state)
        page = out.pages[state[N_PAGES]]
        scan_page(html, bounds[k], bounds[k + 1], spans, markup, out, page, state)
        end_page(page, state)
    return int(state[N_VALUES])
