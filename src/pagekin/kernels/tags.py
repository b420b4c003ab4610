"""Tags: their names, attributes and ends in the bytes of a page."""

import numpy as np

from pagekin.kernels.bits import find_byte
from pagekin.kernels.characters import peek
from pagekin.kernels.compile import inlined, inner
from pagekin.kernels.fnv import OFFSET, find_row, fnv_of, fnv_step
from pagekin.model.arrays import Bools, Bytes, Int64s, Integer

# Attributes that are read.
(HREF, SRC, ALT, REL, LANG, NAME, CONTENT, HTTP_EQUIV, ROLE, CLASS, ID) = range(11)
ATTRIBUTES = 11

LESS, GREATER, SLASH, BANG, QUESTION, DASH, DOUBLE, SINGLE, EQUAL = 60, 62, 47, 33, 63, 45, 34, 39, 61
LONGEST_NAME = 16  # no element with raw contents has a longer name


def name_hash(text: bytes) -> np.int64:
    """The FNV of a name as a signed number, as in hash tables."""
    return np.uint64(fnv_of(text)).astype(np.int64)


def word_shapes(words: list[str]) -> Bools:
    """By length and first byte, in any case, whether a word has them."""
    shapes = np.zeros((LONGEST_NAME, 256), bool)
    for word in words:
        shapes[len(word), [ord(word[0]), ord(word[0].upper())]] = True
    return shapes


def byte_table(which: bytes) -> Bools:
    """A lookup table of 256 booleans: whether each byte is one of these."""
    return np.isin(np.arange(256), list(which))


SCRIPT_HASH = name_hash(b"script")
SPACES = byte_table(b" \n\t\r\f")
ENDS_NAME = byte_table(b" \n\t\r\f/>")  # of a tag
ENDS_ATTRIBUTE = byte_table(b" \n\t\r\f/>=")
ENDS_WORD = byte_table(b" \n\t\r\f/>=\"'")  # of an attribute's name or value
ENDS_VALUE = byte_table(b" \n\t\r\f>")  # of an unquoted value


@inlined
def is_letter(byte: int) -> bool:
    return 97 <= (byte | 32) <= 122


@inlined
def lower(byte: int) -> int:
    return byte + 32 if 65 <= byte <= 90 else byte


@inner
def has_word(html: Bytes, spans: Int64s, attribute: int, word_hash: Integer) -> bool:
    """Whether a list such as rel="nofollow noopener" or content="noindex, follow" contains a word, given its hash."""
    value = OFFSET
    for i in range(max(spans[attribute, 0], 0), spans[attribute, 1]):
        byte = peek(html, i)
        if SPACES[byte] or byte == 44:
            if np.int64(value) == word_hash:
                return True
            value = OFFSET
        else:
            value = fnv_step(value, lower(byte))
    return bool(np.int64(value) == word_hash)


@inner
def has_word_of(html: Bytes, spans: Int64s, attribute: int, words: Int64s) -> bool:
    """Whether a list such as class="wide sphinxsidebar" contains a word of a hash table."""
    value, begin, end = OFFSET, max(spans[attribute, 0], 0), spans[attribute, 1]
    for i in range(begin, end + 1):
        byte = peek(html, i) if i < end else 32
        if SPACES[byte]:
            if value != OFFSET and find_row(words, value) >= 0:
                return True
            value = OFFSET
        else:
            value = fnv_step(value, lower(byte))
    return False


@inlined
def may_have_word(html: Bytes, i: int, end: int, shapes: Bools) -> bool:
    """Whether html[i:end] has a run of bytes with the length and first byte of a word, which is faster than hashing."""
    start = i
    while i < end:
        if ENDS_WORD[peek(html, i)]:
            if i - start < len(shapes) and shapes[i - start, peek(html, start)]:
                return True
            start = i + 1
        i += 1
    return False


@inlined
def skip_value(html: Bytes, i: int, end: int) -> tuple[int, int, int]:
    """The value, if any, of an attribute whose name ends at i: (its start, its end, the index after it)."""
    while i < end and SPACES[peek(html, i)]:
        i += 1
    if i >= end or peek(html, i) != EQUAL:
        return i, i, i
    i += 1
    while i < end and SPACES[peek(html, i)]:
        i += 1
    start = i
    if i < end and (peek(html, i) == DOUBLE or peek(html, i) == SINGLE):
        quote = peek(html, i)
        i += 1
        i = find_byte(html, i, end, quote)
        return start + 1, i, i + 1
    while i < end and not ENDS_VALUE[peek(html, i)]:
        i += 1
    return start, i, i


@inlined
def skip_attributes(html: Bytes, i: int, end: int, read: bool, attributes: Int64s, spans: Int64s) -> tuple[int, bool]:
    """The index after the tag's `>`, or -1 if the page ends inside the tag; and whether the tag ends in `/>`.

    With `read`, write the spans of the values of known attributes; the first of equal names counts. Every call gives a
    constant, so hashing is left out of the machine code of a call that does not read.
    """
    if read:
        spans[:] = -1
    slash = False
    while i < end:
        byte = peek(html, i)
        i += 1
        if byte == GREATER:
            return i, slash
        slash = byte == SLASH
        if SPACES[byte] or slash:
            continue
        name = fnv_step(OFFSET, lower(byte))
        while i < end and not ENDS_ATTRIBUTE[peek(html, i)]:
            name = fnv_step(name, lower(peek(html, i)))
            i += 1
        start, stop, i = skip_value(html, i, end)
        row = find_row(attributes, name) if read else -1
        if row >= 0 and spans[attributes[row, 1], 0] < 0:
            spans[attributes[row, 1], 0], spans[attributes[row, 1], 1] = start, min(stop, end)
    return -1, False


@inner
def skip_past(html: Bytes, i: int, end: int) -> int:
    """The index after the next `>`."""
    while i < end and peek(html, i) != GREATER:
        i += 1
    return min(i + 1, end)


@inner
def skip_comment(html: Bytes, i: int, end: int) -> int:
    """The index after the `<!...>` at html[i]."""
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
    """The FNV of the tag name at html[i]; 0 if it is too long or the page ends in it."""
    value = OFFSET
    for j in range(i, min(i + LONGEST_NAME, end)):
        if ENDS_NAME[peek(html, j)]:
            return np.int64(value)
        value = fnv_step(value, lower(peek(html, j)))
    return np.int64(0)


@inner
def find_end_tag(html: Bytes, i: int, end: int, name: np.uint64) -> int:
    """The index of the next `</name`, for elements whose contents are not markup; `end` if there is none."""
    while i + 2 < end:
        if peek(html, i) == LESS and peek(html, i + 1) == SLASH and short_name(html, i + 2, end) == np.int64(name):
            return i
        i += 1
    return end


@inner
def find_script_end(html: Bytes, i: int, end: int) -> int:
    """As `find_end_tag` for a script, which may contain `<!-- <script> ... </script> -->`."""
    escaped = nested = False
    while i + 2 < end:
        if peek(html, i) == LESS:
            if peek(html, i + 1) == SLASH:
                if short_name(html, i + 2, end) == SCRIPT_HASH:
                    if not nested:
                        return i
                    nested = False
            elif escaped:
                nested |= short_name(html, i + 1, end) == SCRIPT_HASH
            elif peek(html, i + 1) == BANG and i + 3 < end and peek(html, i + 2) == DASH and peek(html, i + 3) == DASH:
                escaped = True
                i += 1
        elif escaped and peek(html, i) == DASH and peek(html, i + 1) == DASH and peek(html, i + 2) == GREATER:
            escaped = nested = False
        i += 1
    return end


@inner
def find_section_end(html: Bytes, i: int, end: int) -> int:
    """The index of the `]]>` of a CDATA section; `end` if there is none."""
    while i + 2 < end:
        if peek(html, i) == 93 and peek(html, i + 1) == 93 and peek(html, i + 2) == GREATER:
            return i
        i += 1
    return end
