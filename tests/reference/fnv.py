"""FNV-1a of 64 bits, as its authors define it."""

from __future__ import annotations

from functools import reduce

OFFSET_BASIS = 0xCBF29CE484222325
PRIME = 2**40 + 2**8 + 0xB3


def fnv(data: bytes) -> int:
    """For every byte: xor it in, then multiply by the prime.

    >>> hex(fnv(b"foobar"))
    '0x85944171f73967e8'
    """
    return reduce(lambda value, byte: (value ^ byte) * PRIME % 2**64, data, OFFSET_BASIS)
