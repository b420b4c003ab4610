"""BLAKE2b (RFC 7693), the first 64 bits of it, of many spans at once; `hashlib` takes a call for each."""

from __future__ import annotations

import numpy as np

from pagekin.kernels.bits import peek, poke
from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined, inner
from pagekin.model.arrays import Bytes, Int64s, UInt64s

_BLOCK = 128  # bytes
_DIGEST = 64  # bytes of a whole digest, without a key
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
START = np.array(
    [
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    ],
    np.uint64,
)  # fmt: skip
# Which words of a block each of the twelve rounds takes, in which order.
_ORDERS = """
0123456789abcdef ea489fd61c02b753 b8c052fdae367194 7931dcbe265a40f8 905724afe1bc683d 2c6a0b834d75fe19
c51fed4a0763928b db7ec13950f4862a 6fe9b308c2d714a5 a2847615fb9e3cd0 0123456789abcdef ea489fd61c02b753
"""
ORDERS = np.array([[int(word, 16) for word in order] for order in _ORDERS.split()], np.uint8)


@inlined
def turned(word: np.uint64, bits: int) -> np.uint64:
    """A word with its bits rotated to the right."""
    return (word >> np.uint64(bits)) | (word << np.uint64(64 - bits))


@inlined
def stirred(
    a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64, x: np.uint64, y: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Two words of a block stirred into four of the state."""
    a = a + b + x
    d = turned(d ^ a, 32)
    c = c + d
    b = turned(b ^ c, 24)
    a = a + b + y
    d = turned(d ^ a, 16)
    c = c + d
    b = turned(b ^ c, 63)
    return a, b, c, d


@inner
def compress(state: UInt64s, m: UInt64s, count: int, last: bool) -> None:
    """Take a block of words into the state; `count` bytes have come with it."""
    a0, a1, a2, a3, b0, b1, b2, b3 = state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7]
    c0, c1, c2, c3, d0, d1, d2, d3 = START[0], START[1], START[2], START[3], START[4], START[5], START[6], START[7]
    d0 ^= np.uint64(count)
    if last:
        d2 ^= _ALL
    for r in range(12):
        s = ORDERS[np.uint64(r)]
        a0, b0, c0, d0 = stirred(a0, b0, c0, d0, m[s[0]], m[s[1]])
        a1, b1, c1, d1 = stirred(a1, b1, c1, d1, m[s[2]], m[s[3]])
        a2, b2, c2, d2 = stirred(a2, b2, c2, d2, m[s[4]], m[s[5]])
        a3, b3, c3, d3 = stirred(a3, b3, c3, d3, m[s[6]], m[s[7]])
        a0, b1, c2, d3 = stirred(a0, b1, c2, d3, m[s[8]], m[s[9]])
        a1, b2, c3, d0 = stirred(a1, b2, c3, d0, m[s[10]], m[s[11]])
        a2, b3, c0, d1 = stirred(a2, b3, c0, d1, m[s[12]], m[s[13]])
        a3, b0, c1, d2 = stirred(a3, b0, c1, d2, m[s[14]], m[s[15]])
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
    """The digests of data[starts[k]:ends[k]], their first eight bytes as a number, the least byte first."""
    digests = np.empty(len(starts), np.uint64)
    block = np.empty(_BLOCK, np.uint8)
    words = block.view(np.uint64)
    state = np.empty(8, np.uint64)
    for k in range(len(digests)):
        for i in range(8):
            state[i] = START[i]
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
