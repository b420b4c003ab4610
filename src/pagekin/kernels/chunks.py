"""Content-defined chunks and their digests.

A chunk ends where the fingerprint of the last 48 bytes has a marker in its low bits. The fingerprint of bytes, read as
a polynomial over GF(2), is the remainder modulo an irreducible polynomial of degree 63 (Rabin 1981), here that of LBFS
(Muthitacharoen, Chen, Mazières 2001). To roll the window, the new byte is appended and the oldest is subtracted, both
by table lookup. Each step depends on the one before, so four lanes of the text are processed in parallel to hide the
latency.
"""

import numpy as np

from pagekin.kernels.characters import peek, poke
from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.kernels.minhash import GOLDEN, mix
from pagekin.model.arrays import Bools, Bytes, Int64s, UInt64s

WINDOW = 48  # bytes
POLYNOMIAL = 0xBFE6B8A5BF378D83
DEGREE = 63
MARKER = 0x78
_BEYOND = np.uint64(WINDOW)  # unsigned, so numba skips the negative-index check

_BLOCK = 128  # bytes that BLAKE2b takes at a time
_DIGEST = 64  # bytes of a full digest without a key
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_INITIAL = """
6a09e667f3bcc908 bb67ae8584caa73b 3c6ef372fe94f82b a54ff53a5f1d36f1
510e527fade682d1 9b05688c2b3e6c1f 1f83d9abfb41bd6b 5be0cd19137e2179
"""
IV = np.array([int(word, 16) for word in _INITIAL.split()], np.uint64)
# The message schedule SIGMA: the order in which each of the twelve rounds takes the words of a block.
_SIGMA = """
0123456789abcdef ea489fd61c02b753 b8c052fdae367194 7931dcbe265a40f8 905724afe1bc683d 2c6a0b834d75fe19
c51fed4a0763928b db7ec13950f4862a 6fe9b308c2d714a5 a2847615fb9e3cd0 0123456789abcdef ea489fd61c02b753
"""
SIGMA = np.array([[int(word, 16) for word in order] for order in _SIGMA.split()], np.uint8)


def rabin_tables() -> tuple[UInt64s, UInt64s]:
    """What to add (xor) when a byte leaves the top of the fingerprint, and when it leaves the window."""
    top = _of_bytes([remainder(1 << bit + DEGREE) ^ (1 << bit + DEGREE & 0xFFFFFFFFFFFFFFFF) for bit in range(8)])
    return top, _of_bytes([remainder(1 << bit + 8 * WINDOW) for bit in range(8)])


def _of_bytes(of_bits: list[int]) -> UInt64s:
    """The sums (xor) of the numbers of the bits of each byte: remainders are linear."""
    sums = np.zeros(1, np.uint64)
    for number in of_bits:
        sums = np.concatenate([sums, sums ^ np.uint64(number)])
    return sums


def remainder(bits: int) -> int:
    """The remainder of a polynomial modulo POLYNOMIAL; bit i is the coefficient of x^i.

    >>> remainder(POLYNOMIAL << 5 | 1)
    1
    """
    while (surplus := bits.bit_length() - DEGREE - 1) >= 0:
        bits ^= POLYNOMIAL << surplus
    return bits


@inlined
def roll(value: np.uint64, new: int, old: int, top_table: UInt64s, old_table: UInt64s) -> np.uint64:
    """The fingerprint of the window one byte further."""
    top = top_table[value >> np.uint64(DEGREE - 8)]
    return ((value << np.uint64(8)) | np.uint64(new)) ^ top ^ old_table[np.uint64(old)]  # type: ignore[no-any-return]


@inlined
def fingerprint(data: Bytes, start: np.uint64, top_table: UInt64s, old_table: UInt64s) -> np.uint64:
    """The fingerprint of the window that begins at data[start]."""
    value = np.uint64(0)
    for i in range(start, start + _BEYOND):
        value = roll(value, data[i], 0, top_table, old_table)
    return value


@kernel
def mark_boundaries(data: Bytes, expected: int, top_table: UInt64s, old_table: UInt64s, marked: Bools) -> None:
    """Set marked[i], which is False, if a chunk may end after byte data[WINDOW + i].

    `expected` is the expected size of a chunk, a power of two. The first WINDOW bytes precede the text: zeros at its
    beginning.
    """
    mask, marker = np.uint64(expected - 1), np.uint64(MARKER & (expected - 1))
    lane = np.uint64(len(marked) // 4)
    second, third = lane + lane, lane + lane + lane
    a = fingerprint(data, np.uint64(0), top_table, old_table)
    b = fingerprint(data, lane, top_table, old_table)
    c = fingerprint(data, second, top_table, old_table)
    d = fingerprint(data, third, top_table, old_table)
    for i in range(lane):
        j, k, m = i + lane, i + second, i + third
        a = roll(a, data[i + _BEYOND], data[i], top_table, old_table)
        b = roll(b, data[j + _BEYOND], data[j], top_table, old_table)
        c = roll(c, data[k + _BEYOND], data[k], top_table, old_table)
        d = roll(d, data[m + _BEYOND], data[m], top_table, old_table)
        if a & mask == marker:
            marked[i] = True
        if b & mask == marker:
            marked[j] = True
        if c & mask == marker:
            marked[k] = True
        if d & mask == marker:
            marked[m] = True
    for i in range(third + lane, np.uint64(len(marked))):
        d = roll(d, data[i + _BEYOND], data[i], top_table, old_table)
        if d & mask == marker:
            marked[i] = True


@kernel
def cut_chunks(
    marks: Int64s, starts: Int64s, stops: Int64s, first_minimum: int, minimum: int, maximum: int
) -> tuple[Int64s, Int64s]:
    """The ends of the chunks of texts, and their offsets by text.

    A chunk ends at the first mark after `minimum` bytes (`first_minimum` for the first of a text), after `maximum`
    bytes, or at the end of its text. Texts and marks ascend; marks between texts are ignored.
    """
    room = len(marks) + len(starts)
    for t in range(len(starts)):
        room += (stops[t] - starts[t]) // maximum
    ends, offsets = np.empty(room, np.int64), np.zeros(len(starts) + 1, np.int64)
    n = k = 0
    for t in range(len(starts)):
        start = starts[t]
        while start < stops[t]:
            smallest = first_minimum if start == starts[t] else minimum
            while k < len(marks) and marks[k] < start + max(1, smallest):
                k += 1
            end = min(stops[t], start + maximum)
            start = min(end, marks[k]) if k < len(marks) else end
            ends[n] = start
            n += 1
        offsets[t + 1] = n
    return ends[:n], offsets


@inlined
def rotate_right(word: np.uint64, bits: int) -> np.uint64:
    return (word >> np.uint64(bits)) | (word << np.uint64(64 - bits))


@inlined
def mix_words(
    a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64, x: np.uint64, y: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Mix two words of a block into four of the state."""
    a = a + b + x
    d = rotate_right(d ^ a, 32)
    c = c + d
    b = rotate_right(b ^ c, 24)
    a = a + b + y
    d = rotate_right(d ^ a, 16)
    c = c + d
    b = rotate_right(b ^ c, 63)
    return a, b, c, d


@inner
def compress(state: UInt64s, m: UInt64s, count: int, last: bool) -> None:
    """The compression function F: mix a block into the state, after `count` bytes in total."""
    a0, a1, a2, a3, b0, b1, b2, b3 = state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
    c0, c1, c2, c3, d0, d1, d2, d3 = IV[0], IV[1], IV[2], IV[3], IV[4], IV[5], IV[6], IV[7]
    d0 ^= np.uint64(count)
    if last:
        d2 ^= _ALL
    for r in range(12):
        s = SIGMA[np.uint64(r)]
        a0, b0, c0, d0 = mix_words(a0, b0, c0, d0, m[s[0]], m[s[1]])
        a1, b1, c1, d1 = mix_words(a1, b1, c1, d1, m[s[2]], m[s[3]])
        a2, b2, c2, d2 = mix_words(a2, b2, c2, d2, m[s[4]], m[s[5]])
        a3, b3, c3, d3 = mix_words(a3, b3, c3, d3, m[s[6]], m[s[7]])
        a0, b1, c2, d3 = mix_words(a0, b1, c2, d3, m[s[8]], m[s[9]])
        a1, b2, c3, d0 = mix_words(a1, b2, c3, d0, m[s[10]], m[s[11]])
        a2, b3, c0, d1 = mix_words(a2, b3, c0, d1, m[s[12]], m[s[13]])
        a3, b0, c1, d2 = mix_words(a3, b0, c1, d2, m[s[14]], m[s[15]])
    state[0] ^= a0 ^ c0
    state[1] ^= a1 ^ c1
    state[2] ^= a2 ^ c2
    state[3] ^= a3 ^ c3
    state[4] ^= b0 ^ d0
    state[5] ^= b1 ^ d1
    state[6] ^= b2 ^ d2
    state[7] ^= b3 ^ d3


@kernel
def blake2b_spans(data: Bytes, starts: Int64s, ends: Int64s) -> UInt64s:
    """The first eight bytes of BLAKE2b (RFC 7693) of each data[starts[k]:ends[k]], as a little-endian number.

    `hashlib` needs a call per span.
    """
    digests = np.empty(len(starts), np.uint64)
    block = np.empty(_BLOCK, np.uint8)
    words = block.view(np.uint64)
    state = np.empty(8, np.uint64)
    for k in range(len(digests)):
        for i in range(8):
            state[i] = IV[i]
        state[0] ^= np.uint64(0x01010000 | _DIGEST)
        start, size = starts[k], ends[k] - starts[k]
        done = 0
        while size - done > _BLOCK:
            for i in range(_BLOCK):
                poke(block, i, peek(data, start + done + i))
            done += _BLOCK
            compress(state, words, done, False)
        for i in range(_BLOCK):
            poke(block, i, peek(data, start + done + i) if done + i < size else 0)
        compress(state, words, size, True)
        digests[k] = state[0]
    return digests


@kernel
def chunk_elements(digests: UInt64s, offsets: Int64s) -> tuple[UInt64s, Int64s]:
    """The element sets of pages, and their sizes; a chunk that occurs r times has 1 + floor(ln r) elements."""
    elements, counts = np.empty_like(digests), np.zeros(len(offsets) - 1, np.int64)
    n = 0
    for page in range(len(counts)):
        begin = n
        ordered = np.sort(digests[offsets[page] : offsets[page + 1]])
        start = 0
        for end in range(1, len(ordered) + 1):
            if end == len(ordered) or ordered[end] != ordered[start]:
                elements[n] = ordered[start]
                n += 1
                index = 1
                while end - start >= np.exp(index):
                    elements[n] = mix(ordered[start] + np.uint64(index) * GOLDEN)
                    n += 1
                    index += 1
                start = end
        counts[page] = n - begin
    return elements[:n], counts
