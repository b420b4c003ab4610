"""Canonical text -> the set of its chunks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from pagekin.arrays import Int64s, UInt64s
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.blake2 import blake2b_spans
from pagekin.kernels.chunking import WINDOW, cut, elements_of, mark, tables

MOST_CHUNKS = 1 << 22  # of a text: a gigabyte of chunks of 256 bytes
_PIECE = 1 << 18  # bytes that are looked at together
_tables = cache(tables)


@dataclass(frozen=True, eq=False)
class Chunks:
    """The chunks of a text as a set of numbers, in no order: 64 bits of BLAKE2b each.

    A chunk that is there r times counts 1 + ln r times, rounded down (the paper's footnote 4, whose own bound, ln r,
    would leave out what is there once): its third, eighth, 21st, 55th ... occurrence is one more element.
    """

    elements: UInt64s
    ends: UInt64s  # of the first and the last chunk, which a text around this one would change
    cut_short: bool = False  # there were more than MOST_CHUNKS

    def __len__(self) -> int:
        return len(self.elements)


def chunks_of(text: bytes, settings: GroupSettings) -> Chunks:
    """The chunks of a canonical text."""
    return chunks_of_pieces([text], settings)


def chunks_of_pieces(texts: Iterable[bytes], settings: GroupSettings) -> Chunks:
    """The chunks of a canonical text that comes in pieces of any size. Of the text a chunk and a piece are kept."""
    digests: list[UInt64s] = []
    before, begun, count = bytes(WINDOW), b"", 0
    for text in texts:
        for start in range(0, len(text), _PIECE):
            if count >= MOST_CHUNKS:
                return _set_of(digests, cut_short=True)
            piece = text[start : start + _PIECE]
            known, whole = before + piece, begun + piece
            ends = len(begun) + chunk_ends(known, -len(begun), settings)
            digests.append(_digests(whole, ends))
            count += len(ends)
            before, begun = known[-WINDOW:], whole[ends[-1] if len(ends) else 0 :]
    if begun:
        digests.append(_digests(begun, np.array([len(begun)])))
    return _set_of(digests)


def chunk_ends(known: bytes, begun: int, settings: GroupSettings) -> Int64s:
    """Where chunks end in known[WINDOW:], if one has begun at `begun`; not the end of the text."""
    marked = np.zeros(len(known) - WINDOW, np.bool_)
    mark(np.frombuffer(known, np.uint8), settings.chunk_bytes, *_tables(), marked)
    return cut(np.flatnonzero(marked), begun, len(marked), settings.min_chunk_bytes, settings.max_chunk_bytes)


def _digests(text: bytes, ends: Int64s) -> UInt64s:
    return blake2b_spans(np.frombuffer(text, np.uint8), np.concatenate([np.zeros(1, np.int64), ends]))


def _set_of(digests: list[UInt64s], cut_short: bool = False) -> Chunks:
    """The set that the digests of a text's chunks make."""
    all_of_them = np.concatenate(digests) if digests else np.empty(0, np.uint64)
    ends = all_of_them[[0, -1]] if len(all_of_them) else all_of_them
    return Chunks(elements_of(np.sort(all_of_them)), ends, cut_short)
