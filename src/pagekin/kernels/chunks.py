"""Chunks that their contents define: one ends where the fingerprint of the last 48 bytes has a marker in its low bits.

Bytes are seen as a polynomial over GF(2), and its remainder modulo an irreducible polynomial of degree 63 is their
fingerprint (Rabin 1981); the one here is that of LBFS (Muthitacharoen, Chen, Mazières 2001). A byte that comes is
appended, a byte that goes is subtracted; both are a look into a table. Each step waits for the one before, so
four stretches of the text are walked side by side.
"""

from __future__ import annotations

import numpy as np

from pagekin.kernels.compile import kernel
from pagekin.kernels.inline import inlined
from pagekin.kernels.minhash import GOLDEN, mix
from pagekin.model.arrays import Bools, Bytes, Int64s, UInt64s

WINDOW = 48  # bytes that a fingerprint is of
POLYNOMIAL = 0xBFE6B8A5BF378D83
DEGREE = 63
MARKER = 0x78
_BEYOND = np.uint64(WINDOW)  # unsigned, an index is not looked at whether it counts from the end


def tables() -> tuple[UInt64s, UInt64s]:
    """What to add when a byte leaves the top of a fingerprint, and when it leaves the window."""
    top = [remainder(byte << DEGREE) ^ (byte << DEGREE & 0xFFFFFFFFFFFFFFFF) for byte in range(256)]
    gone = [remainder(byte << 8 * WINDOW) for byte in range(256)]
    return np.array(top, np.uint64), np.array(gone, np.uint64)


def remainder(bits: int) -> int:
    """What is left of a polynomial modulo ours; bit i is the coefficient of x^i.

    >>> remainder(POLYNOMIAL << 5 | 1)
    1
    """
    while (surplus := bits.bit_length() - DEGREE - 1) >= 0:
        bits ^= POLYNOMIAL << surplus
    return bits


@inlined
def rolled(value: np.uint64, come: int, gone: int, tops: UInt64s, gones: UInt64s) -> np.uint64:
    """The fingerprint of the next window."""
    top = tops[value >> np.uint64(DEGREE - 8)]
    return ((value << np.uint64(8)) | np.uint64(come)) ^ top ^ gones[np.uint64(gone)]  # type: ignore[no-any-return]


@inlined
def fingerprint(data: Bytes, start: np.uint64, tops: UInt64s, gones: UInt64s) -> np.uint64:
    """Of the window that begins at data[start]."""
    value = np.uint64(0)
    for i in range(start, start + _BEYOND):
        value = rolled(value, data[i], 0, tops, gones)
    return value


@kernel
def mark(data: Bytes, expected: int, tops: UInt64s, gones: UInt64s, marked: Bools) -> None:
    """Set what is false in `marked` for each byte of data[WINDOW:] after which a chunk may end.

    `expected` is the expected size of a chunk, a power of two. The first WINDOW bytes are those before: zeros at the
    beginning of a text.
    """
    mask, marker = np.uint64(expected - 1), np.uint64(MARKER & (expected - 1))
    lane = np.uint64(len(marked) // 4)
    second, third = lane + lane, lane + lane + lane
    a = fingerprint(data, np.uint64(0), tops, gones)
    b = fingerprint(data, lane, tops, gones)
    c = fingerprint(data, second, tops, gones)
    d = fingerprint(data, third, tops, gones)
    for i in range(lane):
        j, k, m = i + lane, i + second, i + third
        a = rolled(a, data[i + _BEYOND], data[i], tops, gones)
        b = rolled(b, data[j + _BEYOND], data[j], tops, gones)
        c = rolled(c, data[k + _BEYOND], data[k], tops, gones)
        d = rolled(d, data[m + _BEYOND], data[m], tops, gones)
        if a & mask == marker:
            marked[i] = True
        if b & mask == marker:
            marked[j] = True
        if c & mask == marker:
            marked[k] = True
        if d & mask == marker:
            marked[m] = True
    for i in range(third + lane, np.uint64(len(marked))):
        d = rolled(d, data[i + _BEYOND], data[i], tops, gones)
        if d & mask == marker:
            marked[i] = True


@kernel
def cut(
    marks: Int64s, starts: Int64s, stops: Int64s, first_minimum: int, minimum: int, maximum: int
) -> tuple[Int64s, Int64s]:
    """Where the chunks of texts end, and which of the ends is the first of each text (one more at the end).

    A chunk ends at the first mark that leaves it `minimum` bytes (the first of a text `first_minimum`), at `maximum`
    bytes, or where its text does. Texts and marks ascend; marks between texts count for nothing.
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
            least = first_minimum if start == starts[t] else minimum
            while k < len(marks) and marks[k] < start + max(1, least):
                k += 1
            end = min(stops[t], start + maximum)
            start = min(end, marks[k]) if k < len(marks) else end
            ends[n] = start
            n += 1
        offsets[t + 1] = n
    return ends[:n], offsets


@kernel
def elements_of(digests: UInt64s, offsets: Int64s) -> tuple[UInt64s, Int64s]:
    """The set that the chunks of each page make, and its size; a chunk that is there r times has 1 + ln r elements."""
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
