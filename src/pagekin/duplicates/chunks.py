"""Canonical texts -> the sets of their chunks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

from pagekin.duplicates.sets import MOST_CHUNKS, Chunks, offsets_of
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.blake2 import blake2b_spans
from pagekin.kernels.chunks import WINDOW, chunk_elements, cut_chunks, mark_boundaries, rabin_tables
from pagekin.model.arrays import Bytes, Int64s, UInt64s
from pagekin.model.strings import together

TOGETHER = 1 << 18  # bytes of texts that are cut at a time: they stay in a processor's cache
_BEFORE = bytes(WINDOW)  # what a fingerprint sees before a text
_tables = cache(rabin_tables)


def chunks_of(texts: Iterable[bytes], settings: GroupSettings) -> Chunks:
    """The chunks of canonical texts."""
    return Chunks.joined([chunks_laid_out(*laid_out(some), settings) for some in together(texts, TOGETHER)])


def chunks_laid_out(data: bytes | Bytes, starts: Int64s, stops: Int64s, settings: GroupSettings) -> Chunks:
    """The chunks of canonical texts that are laid out as below."""
    digests, _, offsets = _digests(data, starts, stops, settings)
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
    data: bytes | Bytes, starts: Int64s, stops: Int64s, settings: GroupSettings, goes_on: bool = False
) -> tuple[Int64s, Int64s]:
    """Where chunks end in texts data[starts[k]:stops[k]], and which of the ends is the first of each text.

    A window of bytes stands before each text. If it `goes_on`, these are bytes of the text. If not, no chunk ends until
    a window is full: so a text is cut in the same places wherever it stands, but for its ends.
    """
    marked = np.zeros(len(data) - WINDOW, np.bool_)
    mark_boundaries(np.frombuffer(data, np.uint8), settings.chunk_bytes, *_tables(), marked)
    marks = np.flatnonzero(marked) + (WINDOW + 1)
    least, most = settings.min_chunk_bytes, settings.max_chunk_bytes
    return cut_chunks(marks, starts, stops, least if goes_on else max(WINDOW, least), least, most)


def _digests(
    data: bytes | Bytes, starts: Int64s, stops: Int64s, settings: GroupSettings, goes_on: bool = False
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
    elements, counts = chunk_elements(digests, offsets)
    return Chunks(offsets_of(counts), elements, ends)
