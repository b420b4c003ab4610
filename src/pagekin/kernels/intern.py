"""Give equal byte strings equal numbers, in order of first appearance."""

from __future__ import annotations

import numpy as np

from pagekin.arrays import Bytes, Int64s, UInt64s
from pagekin.kernels.compile import kernel
from pagekin.kernels.hashing import fnv


@kernel
def same_bytes(data: Bytes, a: int, b: int, length: int) -> bool:
    for i in range(length):
        if data[a + i] != data[b + i]:
            return False
    return True


@kernel
def grown(slots: Int64s, hashes: UInt64s, count: int) -> Int64s:
    """A table of twice the size that holds the same `count` numbers."""
    larger = np.full(2 * len(slots), -1, np.int64)
    mask = np.uint64(len(larger) - 1)
    for number in range(count):
        slot = hashes[number] & mask
        while larger[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        larger[slot] = number
    return larger


@kernel
def intern(data: Bytes, starts: Int64s, ends: Int64s) -> tuple[Int64s, Int64s]:
    """Number the spans of `data`: (number of each span, first span of each number).

    Spans with the same bytes get the same number; numbers are given in order of first appearance.
    """
    numbers = np.empty(len(starts), np.int64)
    first = np.empty(len(starts), np.int64)
    hashes = np.empty(len(starts), np.uint64)
    slots = np.full(1024, -1, np.int64)
    count = 0
    for k in range(len(starts)):
        start = starts[k]
        length = ends[k] - start
        value = fnv(data, start, ends[k])
        mask = np.uint64(len(slots) - 1)
        slot = value & mask
        while True:
            number = slots[slot]
            if number < 0:
                slots[slot] = count
                hashes[count] = value
                first[count] = k
                numbers[k] = count
                count += 1
                if 2 * count > len(slots):
                    slots = grown(slots, hashes, count)
                break
            other = starts[first[number]]
            same = hashes[number] == value and ends[first[number]] - other == length
            if same and same_bytes(data, start, other, length):
                numbers[k] = number
                break
            slot = (slot + np.uint64(1)) & mask
    return numbers, first[:count].copy()
