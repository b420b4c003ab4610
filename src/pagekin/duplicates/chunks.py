"""Content-defined chunking: canonical texts -> sets of chunks."""

from collections.abc import Iterable
from functools import cache

import numpy as np

from pagekin.duplicates.sets import MAX_CHUNKS, Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.chunks import WINDOW, blake2b_spans, chunk_elements, cut_chunks, mark_boundaries, rabin_tables
from pagekin.model.arrays import Bytes, Int64s, UInt64s, offsets_of
from pagekin.model.strings import together

BATCH_BYTES = 1 << 18  # of texts that are cut at once, so that they stay in the processor's cache
_PADDING = bytes(WINDOW)  # before each text, for the first windows of the rolling fingerprint
_tables = cache(rabin_tables)


def chunks_of(texts: Iterable[bytes], settings: GroupSettings) -> Chunks:
    """Cut canonical texts into chunks."""
    return Chunks.concatenate([chunks_of_padded(*pad(some), settings) for some in together(texts, BATCH_BYTES)])


def chunks_of_padded(data: bytes | Bytes, starts: Int64s, stops: Int64s, settings: GroupSettings) -> Chunks:
    """Cut the texts data[starts[k]:stops[k]], each with a window of padding before it."""
    digests, _, offsets = _digests(data, starts, stops, settings)
    return _sets(digests, offsets)


def pad(texts: list[bytes]) -> tuple[bytes, Int64s, Int64s]:
    """Join texts with padding before each: (data, starts, stops)."""
    sizes = np.array([len(text) for text in texts], np.int64)
    stops = np.cumsum(sizes + WINDOW)
    return _PADDING + _PADDING.join(texts), stops - sizes, stops


def chunks_of_stream(pieces: Iterable[bytes], settings: GroupSettings) -> Chunks | None:
    """Cut one text that comes in pieces, with one piece and one chunk in memory; None above MAX_CHUNKS."""
    digests: list[UInt64s] = []
    rest, count = _PADDING, 0
    for piece in pieces:
        known = rest + piece
        found, starts, _ = _digests(known, np.array([WINDOW]), np.array([len(known)]), settings, count > 0)
        if len(found):
            digests.append(found[:-1])  # the last chunk may continue in the next piece
            count += len(found) - 1
            rest = known[starts[-1] - WINDOW :]
        if count > MAX_CHUNKS:
            return None
    last, _, _ = _digests(rest, np.array([WINDOW]), np.array([len(rest)]), settings, count > 0)
    found = np.concatenate([*digests, last])
    return _sets(found, np.array([0, len(found)]))


def chunk_ends(
    data: bytes | Bytes, starts: Int64s, stops: Int64s, settings: GroupSettings, continues: bool = False
) -> tuple[Int64s, Int64s]:
    """The ends of the chunks of the texts data[starts[k]:stops[k]], and the offsets of each text's ends.

    A window of bytes precedes each text. If the text `continues`, they belong to it. If not, no chunk ends before the
    first full window, so that a text is cut at the same places wherever it is embedded, except near its ends.
    """
    marked = np.zeros(len(data) - WINDOW, np.bool_)
    mark_boundaries(np.frombuffer(data, np.uint8), settings.chunk_bytes, *_tables(), marked)
    marks = np.flatnonzero(marked) + (WINDOW + 1)
    least, most = settings.min_chunk_bytes, settings.max_chunk_bytes
    return cut_chunks(marks, starts, stops, least if continues else max(WINDOW, least), least, most)


def _digests(
    data: bytes | Bytes, starts: Int64s, stops: Int64s, settings: GroupSettings, continues: bool = False
) -> tuple[UInt64s, Int64s, Int64s]:
    """The digests of the chunks of texts, the start of each chunk, and the offsets of each text's chunks."""
    ends, offsets = chunk_ends(data, starts, stops, settings, continues)
    begins = np.empty_like(ends)
    begins[1:] = ends[:-1]
    has_chunks = offsets[1:] > offsets[:-1]
    begins[offsets[:-1][has_chunks]] = starts[has_chunks]
    return blake2b_spans(np.frombuffer(data, np.uint8), begins, ends), begins, offsets


def _sets(digests: UInt64s, offsets: Int64s) -> Chunks:
    ends = np.zeros((len(offsets) - 1, 2), np.uint64)
    has_chunks = offsets[1:] > offsets[:-1]
    ends[has_chunks] = digests[np.column_stack([offsets[:-1], offsets[1:] - 1])[has_chunks]]
    elements, counts = chunk_elements(digests, offsets)
    return Chunks(offsets_of(counts), elements, ends)
