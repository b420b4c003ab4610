"""UTF-8: validation of a whole text, and single characters decoded and encoded.

Kernels take bytes by unsigned index, which spares numba the check for negative indices (a third of the time).
"""

import numpy as np

from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.model.arrays import Bytes, UInt64s

REPLACEMENT = 0xFFFD
_HIGH_BITS = np.uint64(0x8080808080808080)


@inlined
def peek(array: Bytes, index: int) -> int:
    """array[index]."""
    return np.int64(array[np.uint64(index)])  # type: ignore[return-value]


@inlined
def poke(array: Bytes, index: int, value: int) -> None:
    """array[index] = value."""
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
