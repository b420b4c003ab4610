"""Texts -> canonical texts -> content-defined chunks: of any texts, of one text in pieces, and of stored pages.

The canonical form of a text is without case, punctuation and layout that should not distinguish two texts.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import chain, pairwise
from typing import NamedTuple
from unicodedata import category

import numpy as np

from pagekin.duplicates.filters import MAX_CHUNKS, Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels import canonical as kernel
from pagekin.kernels.canonical import AT_LINE_START, LINE, MOST_NUMBERING, NOTHING, SPACE
from pagekin.kernels.chunks import WINDOW, blake2b_spans, chunk_elements, cut_chunks, mark_boundaries, rabin_tables
from pagekin.model.arrays import Bytes, Int64s, UInt32s, UInt64s, distinct, offsets_of, together
from pagekin.model.reading import Blocks, CheckedReading, Reading
from pagekin.store.checks import unpack_rows
from pagekin.store.columns import Mapper

_TABLE_SIZE = 0x1E944  # no character from here on has a lower case
_LINE_BREAKS = "\n\r\v\f\x85\u2028\u2029"
_SPACES = "\"'`´‘’‚‛“”„‟«»‹›′″＂＇" + ":：﹕" + "•‣⁃◦∙·●○■□▪▫►▸◆◇" + "\ufffd"  # quotes, colons, bullets, undecodable
_SPACING = frozenset(("Cc", "Pd"))  # categories: controls and dashes
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
BATCH_BYTES = 1 << 18  # of texts that are cut at once, so that they stay in the processor's cache
_PADDING = bytes(WINDOW)  # before each text, for the first windows of the rolling fingerprint
_tables = cache(rabin_tables)
_JOB_BYTES = 16 * BATCH_BYTES
_PAGES = 1 << 18  # whose sizes are looked at together


@cache
def character_table() -> UInt32s:
    """The canonical form of every character below _TABLE_SIZE; others stay as they are."""
    every = np.arange(_TABLE_SIZE, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    # Of these characters, only "İ" has a lower case of two; all are converted at once, since that is much faster.
    lower = every.replace("İ", "i").lower().encode("utf-32-le", "surrogatepass")
    folded = np.frombuffer(lower, "<u4").astype(np.uint32)
    others = re.findall(r"[^\w\s\ud800-\uf8ff]", every)
    controls_and_dashes = [each for each, kind in zip(others, map(category, others), strict=True) if kind in _SPACING]
    folded[list(map(ord, chain(re.findall(r"\s", every), controls_and_dashes, "−", _SPACES)))] = SPACE
    folded[list(map(ord, _LINE_BREAKS))] = LINE
    folded[list(map(ord, _INVISIBLE))] = NOTHING
    return folded


def canonical(text: bytes) -> bytes:
    r"""The canonical form of a UTF-8 text.

    >>> canonical("a.1  “Robins”: they sing,\n\t* all winter–long".encode())
    b'robins they sing, all winter long'
    """
    return kernel.canonical(np.frombuffer(text, np.uint8), character_table(), AT_LINE_START)[0].tobytes()


def canonical_stream(pieces: Iterable[bytes]) -> Iterator[bytes]:
    flags, rest = AT_LINE_START, b""
    for piece in pieces:
        rest += piece
        end = _safe_end(rest)
        if end:
            folded, flags = kernel.canonical(np.frombuffer(rest[:end], np.uint8), character_table(), flags)
            rest = rest[end:]
            yield folded.tobytes()
    if rest:
        yield kernel.canonical(np.frombuffer(rest, np.uint8), character_table(), flags)[0].tobytes()


def _safe_end(text: bytes) -> int:
    """Where a piece may end: after a line, or inside a long line at a character boundary beyond any numbering."""
    end = max(text.rfind(mark) + len(mark) if mark in text else 0 for mark in map(str.encode, _LINE_BREAKS))
    if len(text) - end > 2 * MOST_NUMBERING:
        end = len(text)
        while end and text[end - 1] & 0xC0 == 0x80:
            end -= 1
        end -= end > 0 and text[end - 1] >= 0xC0
    return end


def chunks_of(texts: Iterable[bytes], settings: GroupSettings) -> Chunks:
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


class EarlierChunks(NamedTuple):
    """The chunks of pages that were cut before, and for each page the one of them that it is equal to; -1 for none."""

    chunks: Chunks
    page: Int64s


def ignored_digests(blocks: Blocks, ignored: Bytes, rows: range) -> UInt64s:
    """For each page of a range, a digest of which of its blocks are ignored."""
    offsets = np.array(blocks.offsets[rows.start : rows.stop + 1])
    return blake2b_spans(ignored, offsets[:-1], offsets[1:])


def chunks_of_pages(
    reading: CheckedReading, ignored: Bytes, settings: GroupSettings, mapper: Mapper = map
) -> Iterator[Chunks]:
    """The chunks of all pages, in parts; `ignored` is 1 for every block to leave out, such as templates.

    A page with ignored blocks only is kept whole. `mapper` is a `map` that may run jobs in parallel.
    """
    character_table()  # computed once, before threads start
    yield from mapper(partial(chunks_of_range, reading, ignored, settings), chunk_ranges(reading))


def chunks_of_range(
    reading: CheckedReading,
    ignored: Bytes,
    settings: GroupSettings,
    rows: range,
    earlier: EarlierChunks | None = None,
) -> Chunks:
    """The chunks of a range of pages; those that `earlier` has are not cut again."""
    cut = partial(_cut, reading, ignored, settings)
    return cut(rows) if earlier is None else _known_or_cut(earlier, cut, rows)


def _known_or_cut(earlier: EarlierChunks, cut: Callable[[range], Chunks], rows: range) -> Chunks:
    known = earlier.page[rows.start : rows.stop]
    changes = np.flatnonzero((known[1:] < 0) != (known[:-1] < 0)) + 1
    parts = []
    for begin, end in pairwise([0, *changes.tolist(), len(rows)]):
        is_known = known[begin] >= 0
        parts.append(earlier.chunks.rows(known[begin:end]) if is_known else cut(rows[begin:end]))
    return Chunks.concatenate(parts)


def chunk_ranges(reading: Reading) -> Iterator[range]:
    """Ranges of pages, each for one job."""
    for begin in range(0, len(reading), _PAGES):
        yield from _ranges(reading, range(begin, min(begin + _PAGES, len(reading))), _JOB_BYTES)


def _cut(reading: CheckedReading, ignored: Bytes, settings: GroupSettings, rows: range) -> Chunks:
    batches = _ranges(reading, rows, BATCH_BYTES)
    return Chunks.concatenate([_chunks_of_batch(reading, ignored, settings, some) for some in batches])


def _ranges(reading: Reading, rows: range, size: int) -> Iterator[range]:
    sizes = np.cumsum(reading.pages.text_bytes[rows.start : rows.stop])
    total = int(sizes[-1]) if len(sizes) else 0
    ends = np.append(np.searchsorted(sizes, np.arange(size, total, size)) + 1, len(rows))
    begin = rows.start
    for end in distinct(ends[ends > 0]).tolist():
        yield range(begin, rows.start + end)
        begin = rows.start + end


def _chunks_of_batch(reading: CheckedReading, ignored: Bytes, settings: GroupSettings, rows: range) -> Chunks:
    blocks, sizes = reading.blocks, reading.pages.text_bytes[rows.start : rows.stop]
    texts = unpack_rows(reading.text, rows, sizes, f"a text of the pages {rows.start} to {rows.stop - 1}")
    begins = offsets_of(sizes)
    offsets = blocks.offsets[rows.start : rows.stop + 1]
    here = slice(int(offsets[0]), int(offsets[-1]))
    columns = np.frombuffer(texts, np.uint8), begins, offsets - offsets[0], blocks.place[here], ignored[here]
    return chunks_of_padded(*kernel.canonical_blocks(*columns, character_table(), WINDOW), settings)
