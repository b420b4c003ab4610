"""Character references of HTML: `&eacute;`, `&#233;`, `&#xE9;`, and the old ones without a semicolon.

`entities` is a table of rows (key, code point, second code point or 0), made by `rows_of`: the key is the FNV of
the name, with its semicolon where it has one; or the number itself for `&#128;` to `&#159;`, which mean
the characters of Windows-1252.
"""

from __future__ import annotations

from pagekin.kernels.bits import peek, poke
from pagekin.kernels.fnv import OFFSET, find_row, fnv_step
from pagekin.kernels.inline import inlined, inner
from pagekin.model.arrays import Bytes, Int64s

LONGEST_NAME = 32
LONGEST_OLD_NAME = 6
REPLACEMENT = 0xFFFD
AMPERSAND, HASH, SEMICOLON, EQUALS = 38, 35, 59, 61


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
def numeric_reference(data: Bytes, i: int, end: int, entities: Int64s) -> tuple[int, int]:
    """The reference whose `#` is at data[i]: (its end, its code point), or (i, -1) if it is none."""
    j = i + 1
    base = 10
    if j < end and (peek(data, j) | 32) == 120:
        base = 16
        j += 1
    begin = j
    point = 0
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
def reference(data: Bytes, i: int, end: int, in_attribute: bool, entities: Int64s) -> tuple[int, int, int]:
    """The reference that begins with the `&` at data[i]: (its end, code point, second code point or 0).

    Where there is none the answer is (i, -1, 0). An old name without a semicolon counts as far as it
    goes (`&copy2` is `©2`), but in an attribute only if no letter, digit or `=` follows (`?a=1&copy=2`).
    """
    if i + 1 < end and peek(data, i + 1) == HASH:
        j, point = numeric_reference(data, i + 1, end, entities)
        return (j, point, 0) if point >= 0 else (i, -1, 0)
    value = OFFSET
    old_place = -1
    old_end = i
    j = i + 1
    while j < end and j - i <= LONGEST_NAME and is_alphanumeric(peek(data, j)):
        value = fnv_step(value, peek(data, j))
        j += 1
        if j - i - 1 <= LONGEST_OLD_NAME:
            place = find_row(entities, value)
            if place >= 0:
                old_place = place
                old_end = j
    if j < end and peek(data, j) == SEMICOLON:
        place = find_row(entities, fnv_step(value, SEMICOLON))
        if place >= 0:
            return j + 1, entities[place, 1], entities[place, 2]
    if old_place < 0:
        return i, -1, 0
    if in_attribute and old_end < end and (peek(data, old_end) == EQUALS or is_alphanumeric(peek(data, old_end))):
        return i, -1, 0
    return old_end, entities[old_place, 1], entities[old_place, 2]


@inner
def put_character(out: Bytes, n: int, point: int) -> int:
    """Write `point` as UTF-8 at out[n]; the new end."""
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


@inner
def decode_references(
    data: Bytes, start: int, end: int, in_attribute: bool, entities: Int64s, out: Bytes, n: int
) -> int:
    """Copy data[start:end] to out[n:], references decoded; the new end."""
    i = start
    while i < end:
        if peek(data, i) == AMPERSAND:
            j, point, second = reference(data, i, end, in_attribute, entities)
            if point >= 0:
                n = put_character(out, n, point)
                if second > 0:
                    n = put_character(out, n, second)
                i = j
                continue
        poke(out, n, peek(data, i))
        n += 1
        i += 1
    return n
