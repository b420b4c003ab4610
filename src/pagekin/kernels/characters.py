"""Characters: UTF-8, and references in HTML: `&eacute;`, `&#233;`, `&#xE9;`, and legacy ones without a semicolon.

Kernels take bytes by unsigned index, which spares numba the check for negative indices (a third of the time).
`entities` is a hash table made by `make_hash_table`, with rows (key, code point, second code point or 0). The key is
the FNV of the name, including its semicolon if it has one; or the number itself for `&#128;` to `&#159;`, which mean
characters of Windows-1252.
"""

import numpy as np

from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.kernels.fnv import OFFSET, find_row, fnv_step
from pagekin.model.arrays import Bytes, Int64s, UInt64s

REPLACEMENT = 0xFFFD
LONGEST_NAME = 32
LONGEST_LEGACY_NAME = 6
AMPERSAND, HASH, SEMICOLON, EQUALS = 38, 35, 59, 61
_HIGH_BITS = np.uint64(0x8080808080808080)


@inlined
def peek(array: Bytes, index: int) -> int:
    return np.int64(array[np.uint64(index)])  # type: ignore[return-value]


@inlined
def poke(array: Bytes, index: int, value: int) -> None:
    array[np.uint64(index)] = value


@kernel
def is_utf8(data: Bytes, words: UInt64s) -> bool:
    """Whether `data` is valid UTF-8; `words` are the same bytes as 64-bit numbers, without an incomplete last one."""
    i = 0
    while i < len(data):
        if i & 7 == 0:
            while i >> 3 < len(words) and words[i >> 3] & _HIGH_BITS == 0:
                i += 8
            if i >= len(data):
                return True
        lead = data[i]
        if lead < 0x80:
            i += 1
            continue
        size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        if lead < 0xC2 or lead > 0xF4 or i + size > len(data):
            return False
        second = data[i + 1]
        # Overlong encodings, surrogates, and code points beyond U+10FFFF.
        if (lead == 0xE0 and second < 0xA0) or (lead == 0xF0 and second < 0x90):
            return False
        if (lead == 0xED and second > 0x9F) or (lead == 0xF4 and second > 0x8F):
            return False
        for k in range(i + 1, i + size):
            if data[k] & 0xC0 != 0x80:
                return False
        i += size
    return True


@inlined
def decode_character(text: Bytes, i: int, end: int) -> tuple[int, int]:
    """The code point at text[i] and its length in bytes; an invalid sequence is U+FFFD with one byte.

    Most bytes are ASCII; a call for each of them would dominate the time.
    """
    return decode_multibyte(text, i, end) if peek(text, i) >= 0x80 else (int(peek(text, i)), 1)


@inner
def decode_multibyte(text: Bytes, i: int, end: int) -> tuple[int, int]:
    """As `decode_character`, for a byte that is not ASCII."""
    lead = peek(text, i)
    size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    if lead < 0xC2 or lead > 0xF4 or i + size > end:
        return REPLACEMENT, 1
    for k in range(i + 1, i + size):
        if peek(text, k) & 0xC0 != 0x80:
            return REPLACEMENT, 1
    if size == 2:
        return ((lead & 0x1F) << 6) | (peek(text, i + 1) & 0x3F), 2
    if size == 3:
        return ((lead & 0x0F) << 12) | ((peek(text, i + 1) & 0x3F) << 6) | (peek(text, i + 2) & 0x3F), 3
    point = ((lead & 0x07) << 18) | ((peek(text, i + 1) & 0x3F) << 12)
    point |= ((peek(text, i + 2) & 0x3F) << 6) | (peek(text, i + 3) & 0x3F)
    return min(point, 0x10FFFF), 4


@inner
def encode_character(point: int, out: Bytes, n: int) -> int:
    """Write a code point at out[n]; the end of what is written."""
    if point < 0x80:
        poke(out, n, point)
        return n + 1
    if point < 0x800:
        poke(out, n, 0xC0 | (point >> 6))
        poke(out, n + 1, 0x80 | (point & 0x3F))
        return n + 2
    if point < 0x10000:
        poke(out, n, 0xE0 | (point >> 12))
        poke(out, n + 1, 0x80 | ((point >> 6) & 0x3F))
        poke(out, n + 2, 0x80 | (point & 0x3F))
        return n + 3
    poke(out, n, 0xF0 | (point >> 18))
    poke(out, n + 1, 0x80 | ((point >> 12) & 0x3F))
    poke(out, n + 2, 0x80 | ((point >> 6) & 0x3F))
    poke(out, n + 3, 0x80 | (point & 0x3F))
    return n + 4


@inlined
def is_alphanumeric(byte: int) -> bool:
    return 48 <= byte <= 57 or 65 <= byte <= 90 or 97 <= byte <= 122


@inlined
def hex_digit(byte: int) -> int:
    """The value of a hexadecimal digit, or -1."""
    if 48 <= byte <= 57:
        return int(byte) - 48
    if 97 <= (byte | 32) <= 102:
        return int(byte | 32) - 87
    return -1


@inner
def read_numeric_reference(data: Bytes, i: int, end: int, entities: Int64s) -> tuple[int, int]:
    """The reference whose `#` is at data[i]: (its end, its code point), or (i, -1) if it is not a reference."""
    j, base = i + 1, 10
    if j < end and (peek(data, j) | 32) == 120:
        j, base = j + 1, 16
    begin, point = j, 0
    while j < end:
        digit = hex_digit(peek(data, j))
        if digit < 0 or digit >= base:
            break
        point = min(point * base + digit, 0x110000)
        j += 1
    if j == begin:
        return i, -1
    if j < end and peek(data, j) == SEMICOLON:
        j += 1
    if 0x80 <= point < 0xA0:
        point = entities[find_row(entities, point), 1]
    if point == 0 or point > 0x10FFFF or 0xD800 <= point < 0xE000:
        point = REPLACEMENT
    return j, point


@inner
def read_reference(data: Bytes, i: int, end: int, in_attribute: bool, entities: Int64s) -> tuple[int, int, int]:
    """The reference that begins with the `&` at data[i]: (its end, code point, second code point or 0).

    (i, -1, 0) if it is not a reference. A legacy name needs no semicolon (`&copy2` is `©2`), but in an attribute it
    must not be followed by a letter, a digit or `=` (`?a=1&copy=2`).
    """
    if i + 1 < end and peek(data, i + 1) == HASH:
        j, point = read_numeric_reference(data, i + 1, end, entities)
        return (j, point, 0) if point >= 0 else (i, -1, 0)
    value = OFFSET
    legacy_row, legacy_end, j = -1, i, i + 1
    while j < end and j - i <= LONGEST_NAME and is_alphanumeric(peek(data, j)):
        value = fnv_step(value, peek(data, j))
        j += 1
        if j - i - 1 <= LONGEST_LEGACY_NAME:
            row = find_row(entities, value)
            if row >= 0:
                legacy_row, legacy_end = row, j
    if j < end and peek(data, j) == SEMICOLON:
        row = find_row(entities, fnv_step(value, SEMICOLON))
        if row >= 0:
            return j + 1, entities[row, 1], entities[row, 2]
    following = peek(data, legacy_end) if legacy_end < end else 0
    if legacy_row < 0 or (in_attribute and (following == EQUALS or is_alphanumeric(following))):
        return i, -1, 0
    return legacy_end, entities[legacy_row, 1], entities[legacy_row, 2]


@inner
def decode_references(
    data: Bytes, start: int, end: int, in_attribute: bool, entities: Int64s, out: Bytes, n: int
) -> int:
    """Copy data[start:end] to out[n:] with references decoded; the end of what is written."""
    i = start
    while i < end:
        if peek(data, i) == AMPERSAND:
            j, point, second = read_reference(data, i, end, in_attribute, entities)
            if point >= 0:
                n = encode_character(point, out, n)
                if second > 0:
                    n = encode_character(second, out, n)
                i = j
                continue
        poke(out, n, peek(data, i))
        n += 1
        i += 1
    return n
