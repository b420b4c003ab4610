"""Chunk ends by the definition: the remainder of 48 bytes, as a polynomial over GF(2), for every place anew."""

from __future__ import annotations

import math
from collections import Counter

POLYNOMIAL = 0xBFE6B8A5BF378D83


def times(a: int, b: int) -> int:
    """The product of two polynomials, modulo ours."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a, b = modulo(a << 1), b >> 1
    return product


def modulo(bits: int) -> int:
    """By long division."""
    for place in range(bits.bit_length() - 1, 62, -1):
        if bits >> place & 1:
            bits ^= POLYNOMIAL << (place - 63)
    return bits


def is_end(text: bytes, place: int, expected: int) -> bool:
    """Whether a chunk may end before text[place], but for the first 48 bytes; zeros are before the text."""
    window = (bytes(48) + text)[place : place + 48]
    return modulo(int.from_bytes(window, "big")) % expected == 0x78 % expected


def chunks(text: bytes, expected: int, minimum: int, maximum: int) -> list[bytes]:
    """The chunks of a text."""
    found, start = [], 0
    for place in range(1, len(text) + 1):
        size = place - start
        if size == maximum or (size >= minimum and place >= 48 and is_end(text, place, expected)):
            found.append(text[start:place])
            start = place
    return [*found, text[start:]] if start < len(text) else found


def times_counted(digests: list[int]) -> dict[int, int]:
    """How many elements each chunk of a page is: 1 + ln r for one that is there r times."""
    return {digest: 1 + math.floor(math.log(count)) for digest, count in Counter(digests).items()}
