"""Tags: finding their names, attributes and ends in the bytes of a page."""

from __future__ import annotations

import numpy as np

from pagekin.kernels.bits import peek
from pagekin.kernels.fnv import OFFSET, find_row, fnv_of, fnv_step
from pagekin.kernels.inline import inlined, inner
from pagekin.model.arrays import Bools, Bytes, Int64s, Integer

# The attributes that matter.
(HREF, SRC, ALT, REL, LANG, NAME, CONTENT, HTTP_EQUIV) = range(8)
ATTRIBUTES = 8

LESS, GREATER, SLASH, BANG, QUESTION, DASH, DOUBLE, SINGLE, EQUAL = 60, 62, 47, 33, 63, 45, 34, 39, 61
LONGEST_NAME = 16  # no tag whose contents are raw has a longer name


def word(text: bytes) -> np.int64:
    """The FNV of a name, as kernels compare it."""
    return np.uint64(fnv_of(text)).astype(np.int64)


def bytes_of(which: bytes) -> Bools:
    """Which of all bytes are among these: a look into a table is quicker than many questions."""
    return np.isin(np.arange(256), list(which))


WORD_SCRIPT = word(b"script")
SPACES = bytes_of(b" \n\t\r\f")
ENDS_NAME = bytes_of(b" \n\t\r\f/>")  # of a tag
ENDS_ATTRIBUTE = bytes_of(b" \n\t\r\f/>=")
ENDS_VALUE = bytes_of(b" \n\t\r\f>")  # without quotes


@inlined
def is_space(byte: int) -> bool:
    return bool(SPACES[byte])


@inlined
def is_letter(byte: int) -> bool:
    return 97 <= (byte | 32) <= 122


@inlined
def lower(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte


@inner
def has_word(html: Bytes, start: int, end: int, word: Integer) -> bool:
    """Whether a list such as rel="nofollow noopener" or content="noindex, follow" holds `word`."""
    value = OFFSET
    for i in range(max(start, 0), end):
        byte = peek(html, i)
        if is_space(byte) or byte == 44:
            if np.int64(value) == word:
                return True
            value = OFFSET
        else:
            value = fnv_step(value, lower(byte))
    return bool(np.int64(value) == word)


@inlined
def skip_attributes(html: Bytes, i: int, end: int) -> tuple[int, bool]:
    """The place after the tag's `>`, or -1 where the page ends inside the tag; whether the tag ends in `/>`."""
    slash = False
    while i < end:
        byte = peek(html, i)
        i += 1
        if byte == GREATER:
            return i, slash
        slash = byte == SLASH
        if is_space(byte) or slash:
            continue
        while i < end and not ENDS_ATTRIBUTE[peek(html, i)]:
            i += 1
        while i < end and is_space(peek(html, i)):
            i += 1
        if i < end and peek(html, i) == EQUAL:
            i += 1
            while i < end and is_space(peek(html, i)):
                i += 1
            if i < end and (peek(html, i) == DOUBLE or peek(html, i) == SINGLE):
                quote = peek(html, i)
                i += 1
                while i < end and peek(html, i) != quote:
                    i += 1
                i += 1
            else:
                while i < end and not ENDS_VALUE[peek(html, i)]:
                    i += 1
    return -1, False


@inlined
def read_attributes(html: Bytes, i: int, end: int, attributes: Int64s, spans: Int64s) -> tuple[int, bool]:
    """As `skip_attributes`, noting where the values of known attributes stand; of two the first counts."""
    spans[:] = -1
    slash = False
    while i < end:
        byte = peek(html, i)
        i += 1
        if byte == GREATER:
            return i, slash
        slash = byte == SLASH
        if is_space(byte) or slash:
            continue
        value = fnv_step(OFFSET, lower(byte))
        while i < end and not ENDS_ATTRIBUTE[peek(html, i)]:
            value = fnv_step(value, lower(peek(html, i)))
            i += 1
        while i < end and is_space(peek(html, i)):
            i += 1
        start = stop = i
        if i < end and peek(html, i) == EQUAL:
            i += 1
            while i < end and is_space(peek(html, i)):
                i += 1
            start = i
            if i < end and (peek(html, i) == DOUBLE or peek(html, i) == SINGLE):
                start = i + 1
                quote = peek(html, i)
                i += 1
                while i < end and peek(html, i) != quote:
                    i += 1
                stop = i
                i += 1
            else:
                while i < end and not ENDS_VALUE[peek(html, i)]:
                    i += 1
                stop = i
        row = find_row(attributes, value)
        if row >= 0 and spans[attributes[row, 1], 0] < 0:
            spans[attributes[row, 1], 0] = start
            spans[attributes[row, 1], 1] = min(stop, end)
    return -1, False


@inner
def skip_past(html: Bytes, i: int, end: int) -> int:
    """The place after the next `>`."""
    while i < end and peek(html, i) != GREATER:
        i += 1
    return min(i + 1, end)


@inner
def skip_comment(html: Bytes, i: int, end: int) -> int:
    """The place after the `<!...>` at html[i]."""
    if not (i + 3 < end and peek(html, i + 2) == DASH and peek(html, i + 3) == DASH):
        return skip_past(html, i, end)
    i += 4
    if i < end and peek(html, i) == GREATER:
        return i + 1
    if i + 1 < end and peek(html, i) == DASH and peek(html, i + 1) == GREATER:
        return i + 2
    while i + 2 < end:
        if peek(html, i) == DASH and peek(html, i + 1) == DASH:
            if peek(html, i + 2) == GREATER:
                return i + 3
            if peek(html, i + 2) == BANG and i + 3 < end and peek(html, i + 3) == GREATER:
                return i + 4
        i += 1
    return end


@inner
def short_name(html: Bytes, i: int, end: int) -> np.int64:
    """The FNV of the tag name at html[i], or 0 if it is too long or runs into the end of the page."""
    value = OFFSET
    for j in range(i, min(i + LONGEST_NAME, end)):
        if ENDS_NAME[peek(html, j)]:
            return np.int64(value)
        value = fnv_step(value, lower(peek(html, j)))
    return np.int64(0)


@inner
def find_end_tag(html: Bytes, i: int, end: int, name: np.uint64) -> int:
    """Where `</name` stands next, for elements whose contents are no markup; `end` if nowhere."""
    while i + 2 < end:
        if peek(html, i) == LESS and peek(html, i + 1) == SLASH and short_name(html, i + 2, end) == np.int64(name):
            return i
        i += 1
    return end


@inner
def find_script_end(html: Bytes, i: int, end: int) -> int:
    """As `find_end_tag` for a script, in which `<!-- <script> ... </script> -->` may be quoted."""
    escaped = False
    quoted = False
    while i + 2 < end:
        if peek(html, i) == LESS:
            if peek(html, i + 1) == SLASH:
                if short_name(html, i + 2, end) == WORD_SCRIPT:
                    if not quoted:
                        return i
                    quoted = False
            elif escaped:
                quoted |= short_name(html, i + 1, end) == WORD_SCRIPT
            elif peek(html, i + 1) == BANG and i + 3 < end and peek(html, i + 2) == DASH and peek(html, i + 3) == DASH:
                escaped = True
                i += 1
        elif escaped and peek(html, i) == DASH and peek(html, i + 1) == DASH and peek(html, i + 2) == GREATER:
            escaped = False
            quoted = False
        i += 1
    return end


@inner
def find_section_end(html: Bytes, i: int, end: int) -> int:
    """Where the `]]>` of a CDATA section stands; `end` if nowhere."""
    while i + 2 < end:
        if peek(html, i) == 93 and peek(html, i + 1) == 93 and peek(html, i + 2) == GREATER:
            return i
        i += 1
    return end
