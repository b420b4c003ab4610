"""Byte strings as numbers: of the spans of one array, in a hash table that grows, or hashes; and their sorted order."""

from typing import NamedTuple

import numpy as np

from pagekin.kernels.characters import peek
from pagekin.kernels.compile import inlined, kernel
from pagekin.kernels.minhash import mix
from pagekin.kernels.spans import permute
from pagekin.model.arrays import Bools, Bytes, Int64s, UInt32s, UInt64s

_HIGH = np.uint64(0xFFFFFFFF00000000)
_ONE, _HALF, _PRIME = np.uint64(1), np.uint64(32), np.uint64(0x9E3779B97F4A7C15)
_FEW = 12  # strings that are sorted by insertion
_CHUNK = 7  # bytes of a string that are compared at a time
_SHORT = 7  # bytes, which fit into a number with their count
_MORE = 8  # stands for all lengths above _CHUNK
NO_STRING = np.uint32(0xFFFFFFFF)


class HashTable(NamedTuple):
    """Strings with their numbers, and room for more."""

    data: Bytes
    offsets: Int64s
    keys: UInt64s
    slots: UInt64s  # the upper half of a mixed key and the number plus one; a power of two, at least half of them empty


def new_table(strings: int, size: int) -> HashTable:
    """An empty table with room for `strings` strings with `size` bytes in total."""
    slots = np.zeros(1 << max(10, (2 * strings - 1).bit_length()), np.uint64)
    return HashTable(np.empty(size, np.uint8), np.zeros(strings + 1, np.int64), np.empty(strings, np.uint64), slots)


def copy_table(table: HashTable, count: int, larger: HashTable) -> HashTable:
    """Copy the `count` strings of a table into a larger one."""
    size = table.offsets[count]
    larger.data[:size] = table.data[:size]
    larger.offsets[: count + 1] = table.offsets[: count + 1]
    larger.keys[:count] = table.keys[:count]
    fill_slots(larger.keys, count, larger.slots)
    return larger


@inlined
def _bytes_at(data: Bytes, start: int, length: int) -> np.uint64:
    """The first eight of `length` bytes as a number; a missing byte is 0."""
    value = np.uint64(0)
    if start + 8 <= len(data):
        for j in range(8):  # the compiler makes one instruction of it
            value |= np.uint64(peek(data, start + j)) << np.uint64(8 * j)
        if length < 8:
            value &= (_ONE << np.uint64(8 * length)) - _ONE
    else:
        for j in range(min(length, 8)):
            value |= np.uint64(peek(data, start + j)) << np.uint64(8 * j)
    return value


@inlined
def _key(data: Bytes, start: int, length: int) -> np.uint64:
    """A number that tells spans of up to seven bytes apart, from each other and from longer ones, whose hash it is."""
    if length <= _SHORT:
        return _bytes_at(data, start, length) | np.uint64(length) << np.uint64(56)
    key = np.uint64(length)
    for i in range(0, length, 8):
        key = mix(key ^ _bytes_at(data, start + i, length - i))
    return key | np.uint64(0xFF) << np.uint64(56)


@kernel
def hash_texts(data: Bytes, starts: Int64s, ends: Int64s) -> UInt64s:
    """A hash of each span, for long ones: eight bytes at a time."""
    hashes = np.empty(len(starts), np.uint64)
    for k in range(len(starts)):
        start, length = starts[k], ends[k] - starts[k]
        value = np.uint64(length)
        for i in range(0, length, 8):
            value = (value ^ _bytes_at(data, start + i, length - i)) * _PRIME
            value ^= value >> _HALF
        hashes[k] = mix(value)
    return hashes


@inlined
def _are_equal(data: Bytes, start: int, end: int, others: Bytes, other: int, other_end: int) -> bool:
    """Whether data[start:end] and others[other:other_end] are equal."""
    length = end - start
    if other_end - other != length:
        return False
    i = 0
    while i < length and _bytes_at(data, start + i, length - i) == _bytes_at(others, other + i, length - i):
        i += 8
    return bool(i >= length)


@kernel
def fill_slots(keys: UInt64s, count: int, slots: UInt64s) -> None:
    """Enter the first `count` numbers into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for number in range(count):
        value = mix(keys[number])
        slot = value & mask
        while slots[slot]:
            slot = (slot + _ONE) & mask
        slots[slot] = (value & _HIGH) | np.uint64(number + 1)


@kernel
def add_strings(data: Bytes, starts: Int64s, ends: Int64s, table: HashTable, count: int) -> tuple[UInt32s, int]:
    """The number of each span of `data` in a table of `count` strings, and the new count. New spans are added.

    The table must have room for them.
    """
    numbers = np.empty(len(starts), np.uint32)
    mask = np.uint64(len(table.slots) - 1)
    for k in range(len(starts)):
        start, end = starts[k], ends[k]
        key = _key(data, start, end - start)
        value = mix(key)
        slot = value & mask
        while True:
            entry = table.slots[slot]
            if entry == 0:
                place = table.offsets[count]
                for i in range(end - start):
                    table.data[place + i] = peek(data, start + i)
                table.keys[count], numbers[k] = key, count
                count += 1
                table.offsets[count] = place + end - start
                table.slots[slot] = (value & _HIGH) | np.uint64(count)
                break
            number = np.uint64(entry & ~_HIGH) - _ONE
            if (entry ^ value) & _HIGH == 0 and table.keys[number] == key:
                other, other_end = table.offsets[number], table.offsets[number + _ONE]
                if end - start <= _SHORT or _are_equal(data, start, end, table.data, other, other_end):
                    numbers[k] = number
                    break
            slot = (slot + _ONE) & mask
    return numbers, count


@kernel
def find_strings(data: Bytes, starts: Int64s, ends: Int64s, table: HashTable) -> UInt32s:
    """The number of each span of `data` in a table, or NO_STRING."""
    numbers = np.full(len(starts), NO_STRING)
    mask = np.uint64(len(table.slots) - 1)
    for k in range(len(starts)):
        start, end = starts[k], ends[k]
        key = _key(data, start, end - start)
        value = mix(key)
        slot = value & mask
        while table.slots[slot]:
            entry = table.slots[slot]
            number = np.uint64(entry & ~_HIGH) - _ONE
            if (entry ^ value) & _HIGH == 0 and table.keys[number] == key:
                other, other_end = table.offsets[number], table.offsets[number + _ONE]
                if end - start <= _SHORT or _are_equal(data, start, end, table.data, other, other_end):
                    numbers[k] = number
                    break
            slot = (slot + _ONE) & mask
    return numbers


@kernel
def found_in_order(strings: Bytes, offsets: Int64s, others: Bytes, other_offsets: Int64s, most: int) -> Bools:
    """Whether each string is among others that come in nearly the same order.

    Each is looked for among `most` others after the last one that was found; one that is elsewhere is missed.
    """
    found = np.zeros(len(offsets) - 1, np.bool_)
    place = 0
    for k in range(len(found)):
        for j in range(place, min(place + most, len(other_offsets) - 1)):
            if _are_equal(strings, offsets[k], offsets[k + 1], others, other_offsets[j], other_offsets[j + 1]):
                found[k] = True
                place = j + 1
                break
    return found


@kernel
def intern(data: Bytes, starts: Int64s, ends: Int64s) -> tuple[UInt32s, Int64s]:
    """Number the spans of `data` in order of first appearance; spans with equal bytes get the same number.

    Returns (the number of each span, the first span of each number).
    """
    numbers = np.empty(len(starts), np.uint32)
    first = np.empty(len(starts), np.int64)
    keys = np.empty(len(starts), np.uint64)
    slots = np.zeros(1024, np.uint64)  # as in `HashTable`
    mask = np.uint64(len(slots) - 1)
    count = 0
    for k in range(len(starts)):
        start, end = starts[k], ends[k]
        key = _key(data, start, end - start)
        value = mix(key)
        slot = value & mask
        while True:
            entry = slots[slot]
            if entry == 0:
                first[count], keys[count], numbers[k] = k, key, count
                count += 1
                slots[slot] = (value & _HIGH) | np.uint64(count)
                if 2 * count > len(slots):
                    slots = np.zeros(2 * len(slots), np.uint64)
                    fill_slots(keys, count, slots)
                    mask = np.uint64(len(slots) - 1)
                break
            number = np.uint64(entry & ~_HIGH) - _ONE
            if (entry ^ value) & _HIGH == 0 and keys[number] == key:
                same = first[number]
                if end - start <= _SHORT or _are_equal(data, start, end, data, starts[same], ends[same]):
                    numbers[k] = number
                    break
            slot = (slot + _ONE) & mask
    return numbers, first[:count].copy()


@inlined
def _chunk(data: Bytes, start: int, end: int) -> np.uint64:
    """The first bytes of a span and its length, up to _MORE, as a number that sorts like the spans."""
    key = np.uint64(0)
    for i in range(start, start + _CHUNK):
        key = (key << np.uint64(8)) | np.uint64(peek(data, i) if i < end else 0)
    return (key << np.uint64(8)) | np.uint64(min(end - start, _MORE))


@inlined
def _is_less(data: Bytes, start: int, end: int, other: int, other_end: int) -> bool:
    """Whether one span sorts before another."""
    while start < end and other < other_end:
        if peek(data, start) != peek(data, other):
            return peek(data, start) < peek(data, other)
        start += 1
        other += 1
    return start == end and other < other_end


@kernel
def sort_spans(data: Bytes, starts: Int64s, ends: Int64s) -> Int64s:
    """The order of spans by their bytes; the sort is stable.

    Spans are sorted by _CHUNK bytes at a time; only groups that are equal so far are sorted by the next bytes.
    """
    order = np.arange(len(starts))
    keys = np.empty(len(starts), np.uint64)
    pending = [(0, len(starts), 0)]
    while len(pending):
        begin, end, depth = pending.pop()
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
        permutation = np.argsort(keys[begin:end], kind="mergesort")
        permute(order[begin:end], permutation)
        permute(keys[begin:end], permutation)
        first = begin
        for k in range(begin + 1, end + 1):
            if k == end or keys[k] != keys[first]:
                if k - first > 1 and keys[first] & np.uint64(0xFF) == _MORE:
                    pending.append((first, k, depth + _CHUNK))
                first = k
    return order


@kernel
def places_of_spans(
    data: Bytes, starts: Int64s, ends: Int64s, ordered: Int64s, which: Int64s, first: Int64s, last: Int64s
) -> Int64s:
    """For each span which[k], the first place from first[k] to last[k] in `ordered` whose span is not less.

    The spans ordered[first[k]:last[k]] are in the order of their bytes.
    """
    places = np.empty(len(which), np.int64)
    for k in range(len(which)):
        low, high, span = first[k], last[k], which[k]
        while low < high:
            middle = (low + high) // 2
            other = ordered[middle]
            if _is_less(data, starts[other], ends[other], starts[span], ends[span]):
                low = middle + 1
            else:
                high = middle
        places[k] = low
    return places
