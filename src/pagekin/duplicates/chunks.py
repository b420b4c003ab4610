"""Canonical texts -> the sets of their chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from pagekin.arrays import Int64s, UInt64s, spans
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.blake2 import blake2b_spans
from pagekin.kernels.chunking import WINDOW, cut, elements_of, mark, tables

MOST_CHUNKS = 1 << 22  # of a text: a gigabyte of chunks of 256 bytes
_TOGETHER = 1 << 18  # bytes of texts that are cut at a time
_BEFORE = bytes(WINDOW)  # what a fingerprint sees before a text
_tables = cache(tables)


@dataclass(frozen=True, eq=False)
class Chunks:
    """The chunks of many pages, those of each as a set of numbers: 64 bits of BLAKE2b, in no order.

    A chunk that is there r times counts 1 + ln r times, rounded down (the paper's footnote 4, whose own bound, ln r,
    would leave out what is there once): its third, eighth, 21st, 55th ... occurrence is one more element.
    """

    offsets: Int64s
    elements: UInt64s
    ends: UInt64s  # of each page the first and the last chunk, which a text around it would change

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def counts(self) -> Int64s:
        """How many elements each page has."""
        return np.diff(self.offsets)

    def rows(self, rows: Int64s) -> Chunks:
        """Those of some pages."""
        counts = self.counts()[rows]
        elements = self.elements[spans(self.offsets[rows], counts)]
        return Chunks(_offsets(counts), elements, self.ends[rows])

    @classmethod
    def joined(cls, parts: Sequence[Chunks]) -> Chunks:
        """Those of some pages, and others after them."""
        counts = np.concatenate([np.empty(0, np.int64), *(part.counts() for part in parts)])
        elements = np.concatenate([np.empty(0, np.uint64), *(part.elements for part in parts)])
        ends = np.concatenate([np.empty((0, 2), np.uint64), *(part.ends for part in parts)])
        return cls(_offsets(counts), elements, ends)


def _offsets(counts: Int64s) -> Int64s:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])


def chunks_of(texts: Iterable[bytes], settings: GroupSettings) -> Chunks:
    """The chunks of canonical texts."""
    return Chunks.joined([_chunks_of_some(some, settings) for some in groups_of(texts)])


def groups_of(texts: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Texts in their order, as many at a time as stay in a processor's cache."""
    group: list[bytes] = []
    size = 0
    for text in texts:
        group.append(text)
        size += len(text)
        if size >= _TOGETHER:
            yield group
            group, size = [], 0
    if group:
        yield group


def _chunks_of_some(texts: list[bytes], settings: GroupSettings) -> Chunks:
    digests, _, offsets = _digests(*laid_out(texts), settings)
    return _sets(digests, offsets)


def laid_out(texts: list[bytes]) -> tuple[bytes, Int64s, Int64s]:
    """Texts end to end, what a fingerprint sees before each; where each begins and stops."""
    sizes = np.array([len(text) for text in texts], np.int64)
    stops = np.cumsum(sizes + WINDOW)
    return _BEFORE + _BEFORE.join(texts), stops - sizes, stops


def chunks_of_pieces(pieces: Iterable[bytes], settings: GroupSettings) -> Chunks | None:
    """The chunks of one text that comes in pieces, of which a piece and a chunk are in memory; None for too many."""
    digests: list[UInt64s] = []
    rest, count = _BEFORE, 0
    for piece in pieces:
        known = rest + piece
        found, starts, _ = _digests(known, np.array([WINDOW]), np.array([len(known)]), settings, count > 0)
        if len(found):
            digests.append(found[:-1])  # the last one may go on
            count += len(found) - 1
            rest = known[starts[-1] - WINDOW :]
        if count > MOST_CHUNKS:
            return None
    last, _, _ = _digests(rest, np.array([WINDOW]), np.array([len(rest)]), settings, count > 0)
    found = np.concatenate([*digests, last])
    return _sets(found, np.array([0, len(found)]))


def chunk_ends(
    data: bytes, starts: Int64s, stops: Int64s, settings: GroupSettings, goes_on: bool = False
) -> tuple[Int64s, Int64s]:
    """Where chunks end in texts data[starts[k]:stops[k]], and which of the ends is the first of each text.

    A window of bytes stands before each text. If it `goes_on`, these are bytes of the text. If not, no chunk ends until
    a window is full: so a text is cut in the same places wherever it stands, but for its ends.
    """
    marked = np.zeros(len(data) - WINDOW, np.bool_)
    mark(np.frombuffer(data, np.uint8), settings.chunk_bytes, *_tables(), marked)
    marks = np.flatnonzero(marked) + (WINDOW + 1)
    least, most = settings.min_chunk_bytes, settings.max_chunk_bytes
    return cut(marks, starts, stops, least if goes_on else max(WINDOW, least), least, most)


def _digests(
    data: bytes, starts: Int64s, stops: Int64s, settings: GroupSettings, goes_on: bool = False
) -> tuple[UInt64s, Int64s, Int64s]:
    """The digests of the chunks of texts, where each begins, and which is the first of each text."""
    ends, offsets = chunk_ends(data, starts, stops, settings, goes_on)
    begins = np.empty_like(ends)
    begins[1:] = ends[:-1]
    has_some = offsets[1:] > offsets[:-1]
    begins[offsets[:-1][has_some]] = starts[has_some]
    return blake2b_spans(np.frombuffer(data, np.uint8), begins, ends), begins, offsets


def _sets(digests: UInt64s, offsets: Int64s) -> Chunks:
    """The sets that the digests of pages make."""
    ends = np.zeros((len(offsets) - 1, 2), np.uint64)
    has_some = offsets[1:] > offsets[:-1]
    ends[has_some] = digests[np.column_stack([offsets[:-1], offsets[1:] - 1])[has_some]]
    elements, counts = elements_of(digests, offsets)
    return Chunks(_offsets(counts), elements, ends)
