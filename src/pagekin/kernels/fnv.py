"""FNV-1a, the hash of short byte strings in all kernels, and hash tables keyed by it."""

import numpy as np

from pagekin.kernels.compile import inlined, inner, kernel
from pagekin.model.arrays import Bytes, Int64s, Integer, UInt64s

OFFSET = np.uint64(14695981039346656037)
PRIME = np.uint64(1099511628211)


@inlined
def fnv_step(value: np.uint64, byte: int) -> np.uint64:
    return (value ^ np.uint64(byte)) * PRIME


@inner
def fnv(data: Bytes, start: int, end: int) -> np.uint64:
    """64-bit FNV-1a of data[start:end]."""
    value = OFFSET
    for i in range(start, end):
        value = fnv_step(value, data[np.uint64(i)])
    return value


@kernel
def hash_spans(data: Bytes, starts: Int64s, ends: Int64s) -> UInt64s:
    hashes = np.empty(len(starts), np.uint64)
    for k in range(len(starts)):
        hashes[k] = fnv(data, starts[k], ends[k])
    return hashes


def fnv_of(data: bytes) -> int:
    """FNV-1a in plain Python, for building tables.

    >>> hex(fnv_of(b"a"))
    '0xaf63dc4c8601ec8c'
    """
    value = int(OFFSET)
    for byte in data:
        value = ((value ^ byte) * int(PRIME)) & 0xFFFFFFFFFFFFFFFF
    return value


def make_hash_table(entries: dict[int, tuple[int, ...]]) -> Int64s:
    """A hash table with linear probing as one array: a row is (key, values...); an empty row is all zero."""
    size = 1 << (4 * len(entries) - 1).bit_length()
    width = max(len(values) for values in entries.values())
    rows = np.zeros((size, 1 + width), np.int64)
    for key, values in entries.items():
        slot = key & (size - 1)
        while rows[slot, 0]:
            slot = (slot + 1) & (size - 1)
        rows[slot, 0] = np.uint64(key).astype(np.int64)
        rows[slot, 1 : 1 + len(values)] = values
    return rows


@inlined
def find_row(rows: Int64s, key: Integer) -> int:
    """The row of `key` in a table made by `make_hash_table`, or -1."""
    wanted = np.int64(key)
    mask = np.int64(len(rows) - 1)
    slot = wanted & mask
    while rows[slot, 0] != 0:
        if rows[slot, 0] == wanted:
            return int(slot)
        slot = (slot + 1) & mask
    return -1
