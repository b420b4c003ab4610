"""The first 64 bits of BLAKE2b (RFC 7693) for many spans at once; `hashlib` needs a call per span."""

import numpy as np

from pagekin.kernels.bits import peek, poke
from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.model.arrays import Bytes, Int64s, UInt64s

_BLOCK = 128  # bytes
_DIGEST = 64  # bytes of a full digest without a key
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
IV = np.array(
    [
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179
    ],
    np.uint64
)  # fmt: skip
# The message schedule SIGMA: the order in which each of the twelve rounds takes the words of a block.
_SIGMA = """
0123456789abcdef ea489fd61c02b753 b8c052fdae367194 7931dcbe265a40f8 905724afe1bc683d 2c6a0b834d75fe19
c51fed4a0763928b db7ec13950f4862a 6fe9b308c2d714a5 a2847615fb9e3cd0 0123456789abcdef ea489fd61c02b753
"""
SIGMA = np.array([[int(word, 16) for word in order] for order in _SIGMA.split()], np.uint8)


@inlined
def rotate_right(word: np.uint64, bits: int) -> np.uint64:
    """The word with its bits rotated to the right."""
    return (word >> np.uint64(bits)) | (word << np.uint64(64 - bits))


@inlined
def mix_words(
    a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64, x: np.uint64, y: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Two words of a block mix_words into four of the state."""
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
    """The first eight bytes of the digest of each data[starts[k]:ends[k]], as a little-endian number."""
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
