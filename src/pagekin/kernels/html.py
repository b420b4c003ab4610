"""HTML -> visible text, blocks, links and facts of pages, in one pass over the bytes.

No tree is built: later stages need a stream, and a scanner without a stack has no nesting depth to overflow. Its time
is linear in the size of the page, for any input.

Beware: a call with array arguments costs more than reading a few bytes. Code that runs for every tag is inlined into
the loop over text and tags; only what is rarer than a tag is a function of its own.
"""

from typing import NamedTuple

import numpy as np

from pagekin.kernels import page_output as po
from pagekin.kernels import tags
from pagekin.kernels.characters import peek
from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.kernels.fnv import OFFSET, find_row, fnv, fnv_step
from pagekin.model.arrays import Bools, Bytes, Int64s

# The actions of tags, besides their block boundaries. From ANCHOR to HTML, attributes are read; from TABLE on, they may
# open navigation.
(NOTHING, SECTION, MAIN, HEADLINE, CELL_TAG, TEMPLATE, FOREIGN_TAG) = range(7)
(SCRIPT, HIDDEN_TEXT, PLAIN_TEXT, REST_IS_TEXT, DECODED_TEXT, TITLE) = range(7, 13)
(ANCHOR, AREA, IMAGE, FRAME, INLINE_FRAME, BASE, LINK, META, HTML) = range(13, 22)
(TABLE, CONTAINER, MARGIN, NAVIGATION_TAG) = range(22, 26)

# Columns of the table of tags, after the key.
TAG_ACTION, TAG_OPENS, TAG_CLOSES = 1, 2, 3

NOINDEX_HASH, NONE_HASH, ROBOTS_HASH = tags.name_hash(b"noindex"), tags.name_hash(b"none"), tags.name_hash(b"robots")
CANONICAL_HASH, REFRESH_HASH = tags.name_hash(b"canonical"), tags.name_hash(b"refresh")
CONTENT_LANGUAGE_HASH, CDATA_HASH = tags.name_hash(b"content-language"), tags.name_hash(b"[CDATA[")


class Markup(NamedTuple):
    """What the scanner knows of HTML: hash tables by name, made by `reading/markup.py`."""

    tags: Int64s
    attributes: Int64s
    entities: Int64s
    navigation: Int64s  # classes, ids and roles of elements
    navigation_shapes: Bools  # whether one of them has this length and first byte


@inner
def read_meta(html: Bytes, spans: Int64s, entities: Int64s, values: Bytes, page: Int64s, state: Int64s) -> None:
    """A <meta> tag: flags for robots, a refresh, or a language."""
    start, end = spans[tags.CONTENT, 0], spans[tags.CONTENT, 1]
    if tags.has_word(html, spans, tags.NAME, ROBOTS_HASH) and state[po.N_TEXT] == state[po.PAGE_TEXT]:
        none = tags.has_word(html, spans, tags.CONTENT, NONE_HASH)
        if none or tags.has_word(html, spans, tags.CONTENT, NOINDEX_HASH):
            page[po.FLAGS] |= po.NOINDEX
        if none or tags.has_word(html, spans, tags.CONTENT, po.NOFOLLOW_HASH):
            page[po.FLAGS] |= po.NOFOLLOW
    elif tags.has_word(html, spans, tags.HTTP_EQUIV, REFRESH_HASH):
        po.put_fact(html, start, end, po.REFRESH, entities, values, page, state)
    elif tags.has_word(html, spans, tags.HTTP_EQUIV, CONTENT_LANGUAGE_HASH):
        po.put_fact(html, start, end, po.LANGUAGE, entities, values, page, state)


@inlined
def use_attributes(
    html: Bytes,
    plain: Bytes,
    spans: Int64s,
    action: int,
    entities: Int64s,
    out: po.PageOutput,
    page: Int64s,
    state: Int64s,
) -> None:
    """A start tag whose attributes are read; `spans` are their values."""
    if action == ANCHOR:
        po.close_link(out.links, out.blocks, state)
        if po.open_link(html, spans, tags.HREF, 0, entities, out, page, state):
            state[po.OPEN_LINK] = state[po.N_LINKS] - 1
            state[po.OPEN_DEPTH] = state[po.DEPTH]
    elif action == IMAGE or action == AREA:
        state[po.PENDING] |= po.SPACE
        opened = False
        if action == AREA:
            opened = po.open_link(html, spans, tags.HREF, po.FROM_AREA, entities, out, page, state)
        if spans[tags.ALT, 0] >= 0:
            po.put_text(html, plain, spans[tags.ALT, 0], spans[tags.ALT, 1], po.ATTRIBUTE, entities, out, state)
        state[po.PENDING] |= po.SPACE
        if opened:
            out.links[state[po.N_LINKS] - 1, po.LINK_END] = state[po.N_TEXT]
    elif action == FRAME or action == INLINE_FRAME:
        po.open_link(html, spans, tags.SRC, po.FROM_FRAME, entities, out, page, state)
    elif action == BASE:
        po.put_fact(html, spans[tags.HREF, 0], spans[tags.HREF, 1], po.BASE_URL, entities, out.values, page, state)
    elif action == LINK:
        if state[po.N_TEXT] == state[po.PAGE_TEXT] and tags.has_word(html, spans, tags.REL, CANONICAL_HASH):
            po.put_fact(html, spans[tags.HREF, 0], spans[tags.HREF, 1], po.CANONICAL, entities, out.values, page, state)
    elif action == META:
        read_meta(html, spans, entities, out.values, page, state)
    elif action == HTML:
        po.put_fact(html, spans[tags.LANG, 0], spans[tags.LANG, 1], po.LANGUAGE, entities, out.values, page, state)


@inner
def has_navigation_name(html: Bytes, i: int, end: int, spans: Int64s, markup: Markup) -> bool:
    """Whether a role, class or id in the attributes html[i:end] of a tag is a name of navigation."""
    tags.skip_attributes(html, i, end, True, markup.attributes, spans)
    for attribute in (tags.ROLE, tags.CLASS, tags.ID):
        if tags.has_word_of(html, spans, attribute, markup.navigation):
            return True
    return False


@inlined
def track_navigation(
    html: Bytes,
    i: int,
    end: int,
    row: int,
    action: int,
    closing: bool,
    spans: Int64s,
    markup: Markup,
    state: Int64s,
) -> None:
    """Follow regions of navigation, from a start tag to its end tag; html[i:end] are the attributes of a tag.

    Without a stack, the end tag is found by counting tags of the same name. A page may forget it, so `main` and `h1`
    also end a region.
    """
    if action == SECTION or action == MAIN:
        state[po.MAIN_DEPTH] = max(0, state[po.MAIN_DEPTH] + (-1 if closing else 1))
    if (action == MAIN or action == HEADLINE) and not closing:
        state[po.REGION_TAG] = -1
    elif row == state[po.REGION_TAG]:
        state[po.REGION_DEPTH] += -1 if closing else 1
        if state[po.REGION_DEPTH] == 0:
            state[po.REGION_TAG] = -1
    elif action >= TABLE and not closing and state[po.REGION_TAG] < 0:
        if (
            action == NAVIGATION_TAG
            or (action == MARGIN and state[po.MAIN_DEPTH] == 0)
            or (
                tags.may_have_word(html, i, end, markup.navigation_shapes)
                and has_navigation_name(html, i, end, spans, markup)
            )
        ):
            state[po.REGION_TAG], state[po.REGION_DEPTH], state[po.REGION_BLOCK] = row, 1, state[po.N_BLOCKS]


@inner
def skip_non_tag(
    html: Bytes,
    plain: Bytes,
    i: int,
    end: int,
    byte: int,
    closing: bool,
    entities: Int64s,
    out: po.PageOutput,
    state: Int64s,
) -> int:
    """The end of a comment, CDATA section, instruction or mere < that begins with the < at html[i]."""
    shown = state[po.HIDDEN] == 0
    if byte == tags.BANG and not closing:
        if state[po.FOREIGN] and i + 9 <= end and np.int64(fnv(html, i + 2, i + 9)) == CDATA_HASH:
            stop = tags.find_section_end(html, i + 9, end)
            if shown:
                po.put_text(html, plain, i + 9, stop, po.VERBATIM, entities, out, state)
            return min(stop + 3, end)
        return tags.skip_comment(html, i, end)
    if byte == tags.QUESTION or (closing and i + 2 < end):
        return tags.skip_past(html, i + 1, end)
    if shown:
        po.put_text(html, plain, i, i + 1, po.VERBATIM, entities, out, state)
    return i + 1


@inner
def put_raw_text(
    html: Bytes,
    plain: Bytes,
    i: int,
    end: int,
    action: int,
    entities: Int64s,
    out: po.PageOutput,
    page: Int64s,
    state: Int64s,
) -> None:
    """The contents html[i:end] of an element without markup: script, style, title, textarea ..."""
    if action == TITLE and end > i and not state[po.FOREIGN]:
        po.put_fact(html, i, end, po.TITLE_TEXT, entities, out.values, page, state)
    elif action == PLAIN_TEXT or action == REST_IS_TEXT or action == DECODED_TEXT:
        state[po.PENDING] |= po.PARAGRAPH
        po.put_text(html, plain, i, end, po.WHOLE if action == DECODED_TEXT else po.VERBATIM, entities, out, state)
        state[po.PENDING] |= po.PARAGRAPH


@inner
def scan_page(
    html: Bytes,
    plain: Bytes,
    i: int,
    end: int,
    spans: Int64s,
    markup: Markup,
    out: po.PageOutput,
    page: Int64s,
    state: Int64s,
) -> None:
    """Scan one page, html[i:end]; `plain` are its plain bytes, `spans` is a buffer for the attributes of a tag."""
    entities, links = markup.entities, out.links
    shown = True
    while i < end:
        if shown:
            i = po.put_text(html, plain, i, end, po.UP_TO_TAG, entities, out, state)
        while i < end and peek(html, i) != tags.LESS:
            i += 1
        if i >= end:
            break
        following = peek(html, i + 1) if i + 1 < end else 0
        closing = following == tags.SLASH
        if closing and i + 2 < end:
            following = peek(html, i + 2)
        if not tags.is_letter(following):
            i = skip_non_tag(html, plain, i, end, following, closing, entities, out, state)
            continue
        i += 2 if closing else 1
        name = OFFSET
        while i < end and not tags.ENDS_NAME[peek(html, i)]:
            name = fnv_step(name, tags.lower(peek(html, i)))
            i += 1
        row = find_row(markup.tags, name)
        action = markup.tags[row, TAG_ACTION] if row >= 0 else NOTHING
        after_name = i
        if ANCHOR <= action < TABLE and not closing:
            i, whole = tags.skip_attributes(html, i, end, True, markup.attributes, spans)
        else:
            i, whole = tags.skip_attributes(html, i, end, False, markup.attributes, spans)
        if i < 0:
            break
        if row < 0:
            continue
        if action == TEMPLATE:
            state[po.HIDDEN] = max(0, state[po.HIDDEN] + (-1 if closing else 1))
        shown = state[po.HIDDEN] == 0
        if shown:
            state[po.PENDING] |= markup.tags[row, TAG_CLOSES] if closing else markup.tags[row, TAG_OPENS]
            track_navigation(html, after_name, i, row, action, closing, spans, markup, state)
        if action <= HEADLINE or action >= CONTAINER:
            if markup.tags[row, TAG_OPENS] & po.PARAGRAPH:
                state[po.FOREIGN] = 0  # a paragraph ends svg and math elements that were not closed
            continue
        if action == FOREIGN_TAG:
            state[po.FOREIGN] = max(0, state[po.FOREIGN] + (-1 if closing else 1 - whole))
        elif shown and (action == TABLE or action == CELL_TAG):
            # A link that was opened inside this cell and not closed.
            if (action == CELL_TAG or closing) and state[po.OPEN_DEPTH] == state[po.DEPTH]:
                po.close_link(links, out.blocks, state)
            if action == TABLE:
                state[po.DEPTH] = max(0, state[po.DEPTH] + (-1 if closing else 1))
        elif closing:
            if shown and action == ANCHOR:
                po.close_link(links, out.blocks, state)
        else:
            if shown and action >= ANCHOR:
                use_attributes(html, plain, spans, action, entities, out, page, state)
            # <style/> has no contents in svg and math; elsewhere the slash has no meaning.
            if (SCRIPT <= action <= TITLE or action == INLINE_FRAME) and not (whole and state[po.FOREIGN]):
                stop = end
                if action == SCRIPT:
                    stop = tags.find_script_end(html, i, end)
                elif action != REST_IS_TEXT:
                    stop = tags.find_end_tag(html, i, end, name)
                if shown:
                    put_raw_text(html, plain, i, stop, action, entities, out, page, state)
                i = stop
    po.close_link(links, out.blocks, state)
    if state[po.REGION_TAG] >= 0:  # its end is missing, so nobody knows where it ends
        for block in range(state[po.REGION_BLOCK], state[po.N_BLOCKS]):
            out.blocks[block, po.BLOCK_KINDS] &= ~po.NAVIGATION


@kernel
def scan_pages(
    html: Bytes, bounds: Int64s, markup: Markup, max_links: int, max_url: int, out: po.PageOutput, state: Int64s
) -> int:
    """Scan several pages, page k being html[bounds[k]:bounds[k + 1]].

    Of a page at most `max_links` links are kept; its row has the number of dropped links. A link whose href has more
    than `max_url` bytes is kept without the href and flagged. `state` is zeros, or that of an earlier call, to
    whose output these pages are appended. Returns the used length of `out.values`.
    """
    spans, plain = np.empty((tags.ATTRIBUTES, 2), np.int64), np.empty(len(html), np.uint8)
    po.take_plain(html, plain)
    state[po.MAX_LINKS], state[po.MAX_URL] = max_links, max_url
    for k in range(len(bounds) - 1):
        state[po.PAGE_LINKS] = state[po.PENDING] = state[po.DEPTH] = state[po.HIDDEN] = state[po.FOREIGN] = 0
        state[po.PAGE_TEXT], state[po.OPEN_LINK] = state[po.N_TEXT], -1
        state[po.REGION_TAG], state[po.MAIN_DEPTH] = -1, 0
        page = out.pages[state[po.N_PAGES]]
        scan_page(html, plain, bounds[k], bounds[k + 1], spans, markup, out, page, state)
        page[po.TEXT_END], page[po.BLOCKS_END] = state[po.N_TEXT], state[po.N_BLOCKS]
        page[po.LINKS_END] = state[po.N_LINKS]
        state[po.N_PAGES] += 1
    return int(state[po.N_VALUES])
