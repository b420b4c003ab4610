"""Bits of 64-bit numbers, and eight bytes of an array as such a number."""

import numpy as np

from pagekin.kernels.characters import peek, poke
from pagekin.kernels.compile import inlined
from pagekin.model.arrays import Bytes

_SPACE = 32
_ONES, _HIGH_BITS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
_SPACES = np.uint64(_SPACE) * _ONES
_BYTE = np.uint64(8)


@inlined
def popcount(word: np.uint64) -> np.uint64:
    """The number of bits set in a word. The compiler knows this formula: it becomes a single instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@inlined
def first_bit(word: np.uint64) -> int:
    """The place of the lowest bit that is set in a word; 64 if there is none. This becomes a single instruction too."""
    return np.int64(popcount(~word & (word - np.uint64(1))))  # type: ignore[return-value]


@inlined
def word_at(array: Bytes, index: int) -> np.uint64:
    """Eight bytes as a number; the compiler makes one instruction of it."""
    word = np.uint64(0)
    for j in range(8):
        word |= np.uint64(peek(array, index + j)) << np.uint64(8 * j)
    return word


@inlined
def put_word(array: Bytes, index: int, word: np.uint64) -> None:
    """Write a number as eight bytes; this is one instruction too."""
    for j in range(8):
        poke(array, index + j, word >> np.uint64(8 * j))  # type: ignore[arg-type]


@inlined
def zero_bytes(word: np.uint64) -> np.uint64:
    """The highest bit of every byte that is 0. Bits above the lowest of them may be set as well."""
    return (word - _ONES) & ~word & _HIGH_BITS


@inlined
def find_byte(array: Bytes, i: int, end: int, byte: int) -> int:
    """The index of the first `byte` in array[i:end], or `end`."""
    wanted = np.uint64(byte) * _ONES
    while i + 8 <= end:
        equal = zero_bytes(word_at(array, i) ^ wanted)
        if equal:
            return i + (first_bit(equal) >> 3)
        i += 8
    while i < end and peek(array, i) != byte:
        i += 1
    return i


@inlined
def copy_plain(plain: Bytes, i: int, end: int, out: Bytes, n: int) -> tuple[int, int]:
    """Copy words and single spaces from plain[i:end] to out[n:]; the ends of both.

    The copy ends before a byte that is 0, white space before such a byte, and two spaces. Up to seven bytes more are
    written.
    """
    begin, space = i, np.uint64(0)
    while i + 8 <= end:
        word = word_at(plain, i)
        put_word(out, n, word)
        other = word ^ _SPACES
        before, space = space, ~(((other & ~_HIGH_BITS) + ~_HIGH_BITS) | other) & _HIGH_BITS
        stops = zero_bytes(word) | (space & (space << _BYTE | before >> np.uint64(56)))
        if stops:
            count = first_bit(stops) >> 3
            i += count
            n += count
            break
        i += 8
        n += 8
    else:
        while i < end and peek(plain, i) > _SPACE:
            poke(out, n, peek(plain, i))
            i += 1
            n += 1
    if i > begin and peek(plain, i - 1) == _SPACE:
        return i - 1, n - 1
    return i, n
