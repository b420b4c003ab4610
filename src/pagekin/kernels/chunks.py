"""Content-defined chunks: a chunk ends where the fingerprint of the last 48 bytes has a marker in its low bits.

The fingerprint of bytes, read as a polynomial over GF(2), is the remainder modulo an irreducible polynomial of degree
63 (Rabin 1981), here that of LBFS (Muthitacharoen, Chen, Mazières 2001). To roll the window, the new byte is appended
and the oldest is subtracted, both by table lookup. Each step depends on the one before, so four lanes of the text are
processed in parallel to hide the latency.
"""

import numpy as np

from pagekin.kernels.compile import inlined, kernel
from pagekin.kernels.minhash import GOLDEN, mix
from pagekin.model.arrays import Bools, Bytes, Int64s, UInt64s

WINDOW = 48  # bytes
POLYNOMIAL = 0xBFE6B8A5BF378D83
DEGREE = 63
MARKER = 0x78
_BEYOND = np.uint64(WINDOW)  # unsigned, so numba skips the negative-index check


def rabin_tables() -> tuple[UInt64s, UInt64s]:
    """What to add (xor) when a byte leaves the top of the fingerprint, and when it leaves the window."""
    top = [remainder(byte << DEGREE) ^ (byte << DEGREE & 0xFFFFFFFFFFFFFFFF) for byte in range(256)]
    old = [remainder(byte << 8 * WINDOW) for byte in range(256)]
    return np.array(top, np.uint64), np.array(old, np.uint64)


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
    n = 0
    k = 0
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
