"""Tags: finding their names, attributes and ends in the bytes of a page."""

from __future__ import annotations

import numpy as np

from pagekin.arrays import Bytes, Int64s, Integer
from pagekin.kernels.compile import kernel
from pagekin.kernels.hashing import OFFSET, find_row, fnv_of, fnv_step

# The attributes that matter.
(HREF, SRC, ALT, REL, LANG, NAME, CONTENT, HTTP_EQUIV) = range(8)
ATTRIBUTES = 8

LESS, GREATER, SLASH, BANG, QUESTION, DASH, DOUBLE, SINGLE, EQUAL = 60, 62, 47, 33, 63, 45, 34, 39, 61
LONGEST_NAME = 16  # no tag whose contents are raw has a longer name


def word(text: bytes) -> np.int64:
    """The FNV of a name, as kernels compare it."""
    return np.uint64(fnv_of(text)).astype(np.int64)


WORD_SCRIPT = word(b"script")


@kernel
def is_space(byte: int) -> bool:
    return byte == 32 or byte == 10 or byte == 9 or byte == 13 or byte == 12


@kernel
def is_letter(byte: int) -> bool:
    return 97 <= (byte | 32) <= 122


@kernel
def lower(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte


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
