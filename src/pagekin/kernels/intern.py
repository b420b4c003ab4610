"""Give equal byte strings equal numbers, in order of first appearance."""

from __future__ import annotations

import numpy as np

from pagekin.kernels.bits import peek
from pagekin.kernels.compile import kernel
from pagekin.kernels.fnv import OFFSET, fnv_step
from pagekin.model.arrays import Bytes, Int64s, UInt32s, UInt64s

HIGH = np.uint64(0xFFFFFFFF00000000)


@kernel
def grown(slots: UInt64s, hashes: UInt64s, count: int) -> UInt64s:
    """A table of twice the size that holds the same `count` numbers."""
    larger = np.zeros(2 * len(slots), np.uint64)
    mask = np.uint64(len(larger) - 1)
    for number in range(count):
        slot = hashes[number] & mask
        while larger[slot]:
            slot = (slot + np.uint64(1)) & mask
        larger[slot] = (hashes[number] & HIGH) | np.uint64(number + 1)
    return larger


@kernel
def intern(data: Bytes, starts: Int64s, ends: Int64s) -> tuple[UInt32s, Int64s]:
    """Number the spans of `data`: (number of each span, first span of each number).

    Spans with the same bytes get the same number; numbers are given in order of first appearance.
    """
    numbers = np.empty(len(starts), np.uint32)
    first = np.empty(len(starts), np.int64)
    hashes = np.empty(len(starts), np.uint64)
    slots = np.zeros(1024, np.uint64)  # the upper half of a hash, and the number plus one: most misses need no more
    mask = np.uint64(len(slots) - 1)
    count = 0
    for k in range(len(starts)):
        start = starts[k]
        length = ends[k] - start
        value = OFFSET
        for i in range(start, ends[k]):
            value = fnv_step(value, peek(data, i))
        slot = value & mask
        while True:
            entry = slots[slot]
            if entry == 0:
                first[count] = k
                hashes[count] = value
                numbers[k] = count
                count += 1
                slots[slot] = (value & HIGH) | np.uint64(count)
                if 2 * count > len(slots):
                    slots = grown(slots, hashes, count)
                    mask = np.uint64(len(slots) - 1)
                break
            if (entry ^ value) & HIGH == 0:
                number = np.int64(entry & ~HIGH) - 1
                other = starts[first[number]]
                same = length if ends[first[number]] - other == length else -1
                i = 0
                while i < same and peek(data, start + i) == peek(data, other + i):
                    i += 1
                if i == same:
                    numbers[k] = number
                    break
            slot = (slot + np.uint64(1)) & mask
    return numbers, first[:count].copy()
