"""Lists of byte strings that become one list: a table that grows from list to list, and the order of the alphabet."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pagekin.kernels.bits import peek
from pagekin.kernels.compile import kernel
from pagekin.kernels.fnv import OFFSET, fnv_step
from pagekin.kernels.inline import inlined
from pagekin.model.arrays import Bytes, Int64s, UInt32s, UInt64s

_HIGH = np.uint64(0xFFFFFFFF00000000)
_ONE = np.uint64(1)
_FEW = 12  # strings that are sorted by comparing each with its neighbours
_CHUNK = 7  # bytes of a string that are compared at once
_MORE = 8  # stands for any length beyond a chunk


class HashTable(NamedTuple):
    """Strings that have a number, and room for more."""

    data: Bytes
    offsets: Int64s
    hashes: UInt64s
    slots: UInt64s  # the upper half of a hash, and the number plus one; a power of two, at least half of them empty


def new_table(strings: int, size: int) -> HashTable:
    """A table with room for so many strings of so many bytes in all."""
    slots = np.zeros(1 << max(10, (2 * strings - 1).bit_length()), np.uint64)
    return HashTable(np.empty(size, np.uint8), np.zeros(strings + 1, np.int64), np.empty(strings, np.uint64), slots)


def moved(table: HashTable, count: int, larger: HashTable) -> HashTable:
    """The `count` strings of a table in a larger one."""
    size = table.offsets[count]
    larger.data[:size] = table.data[:size]
    larger.offsets[: count + 1] = table.offsets[: count + 1]
    larger.hashes[:count] = table.hashes[:count]
    fill_slots(larger.hashes, count, larger.slots)
    return larger


@kernel
def fill_slots(hashes: UInt64s, count: int, slots: UInt64s) -> None:
    """Put the first `count` numbers into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for number in range(count):
        slot = hashes[number] & mask
        while slots[slot]:
            slot = (slot + _ONE) & mask
        slots[slot] = (hashes[number] & _HIGH) | np.uint64(number + 1)


@kernel
def enter(data: Bytes, starts: Int64s, ends: Int64s, table: HashTable, count: int) -> tuple[UInt32s, int]:
    """The number of each span of `data` in a table that holds `count` strings, and how many it holds then.

    A span that it does not hold is added, and must find room.
    """
    numbers = np.empty(len(starts), np.uint32)
    mask = np.uint64(len(table.slots) - 1)
    for k in range(len(starts)):
        start = starts[k]
        length = ends[k] - start
        value = OFFSET
        for i in range(start, ends[k]):
            value = fnv_step(value, peek(data, i))
        slot = value & mask
        while True:
            entry = table.slots[slot]
            if entry == 0:
                place = table.offsets[count]
                for i in range(length):
                    table.data[place + i] = peek(data, start + i)
                table.hashes[count] = value
                numbers[k] = count
                count += 1
                table.offsets[count] = place + length
                table.slots[slot] = (value & _HIGH) | np.uint64(count)
                break
            if (entry ^ value) & _HIGH == 0:
                number = np.int64(entry & ~_HIGH) - 1
                other = table.offsets[number]
                same = length if table.offsets[number + 1] - other == length else -1
                i = 0
                while i < same and peek(data, start + i) == peek(table.data, other + i):
                    i += 1
                if i == same:
                    numbers[k] = number
                    break
            slot = (slot + _ONE) & mask
    return numbers, count


@inlined
def _chunk(data: Bytes, start: int, end: int) -> np.uint64:
    """The first bytes of a span and how many there are, as a number that sorts as the spans do."""
    key = np.uint64(0)
    for i in range(start, start + _CHUNK):
        key = (key << np.uint64(8)) | np.uint64(peek(data, i) if i < end else 0)
    return (key << np.uint64(8)) | np.uint64(min(end - start, _MORE))


@inlined
def _is_less(data: Bytes, start: int, end: int, other: int, other_end: int) -> bool:
    """Whether one span comes before another."""
    while start < end and other < other_end:
        if peek(data, start) != peek(data, other):
            return peek(data, start) < peek(data, other)
        start += 1
        other += 1
    return start == end and other < other_end


@kernel
def alphabetical(data: Bytes, starts: Int64s, ends: Int64s) -> Int64s:
    """The order of spans by their bytes; equal ones stay as they are.

    Sorted by a few bytes at a time, and only where those do not tell by the next.
    """
    order = np.arange(len(starts))
    keys = np.empty(len(starts), np.uint64)
    to_do = [(0, len(starts), 0)]
    while len(to_do):
        begin, end, depth = to_do.pop()
        if end - begin <= _FEW:
            for k in range(begin + 1, end):
                here = order[k]
                i = k
                while i > begin and _is_less(
                    data, starts[here] + depth, ends[here], starts[order[i - 1]] + depth, ends[order[i - 1]]
                ):
                    order[i] = order[i - 1]
                    i -= 1
                order[i] = here
            continue
        for k in range(begin, end):
            keys[k] = _chunk(data, starts[order[k]] + depth, ends[order[k]])
        sorting = np.argsort(keys[begin:end], kind="mergesort")
        order[begin:end] = order[begin:end][sorting]
        keys[begin:end] = keys[begin:end][sorting]
        first = begin
        for k in range(begin + 1, end + 1):
            if k == end or keys[k] != keys[first]:
                if k - first > 1 and keys[first] & np.uint64(0xFF) == _MORE:
                    to_do.append((first, k, depth + _CHUNK))
                first = k
    return order
