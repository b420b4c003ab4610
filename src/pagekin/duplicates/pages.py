"""Pages of a collection -> their chunks: those of the main text, without blocks that recur on their host."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import zstandard

from pagekin.duplicates.canonical import table
from pagekin.duplicates.chunks import TOGETHER, chunks_laid_out
from pagekin.duplicates.sets import Chunks, offsets_of
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.canonical import canonical_blocks
from pagekin.kernels.chunks import WINDOW
from pagekin.model.arrays import Bytes
from pagekin.model.mapper import Mapper
from pagekin.model.reading import Reading

_JOB = 16 * TOGETHER  # bytes


def chunks_of_pages(reading: Reading, silent: Bytes, settings: GroupSettings, mapper: Mapper = map) -> Iterator[Chunks]:
    """The chunks of all pages, in pieces; `silent` is 1 for every block that does not count.

    A page that has no other blocks counts as a whole. `mapper` is like `map`, but may work on several ranges at a time.
    """
    table()  # before threads ask for it
    yield from mapper(partial(_chunks_of_range, reading, silent, settings), _ranges(reading, range(len(reading)), _JOB))


def _ranges(reading: Reading, rows: range, size: int) -> Iterator[range]:
    """Ranges of pages, of about so many bytes of text each."""
    sizes = np.cumsum(reading.pages.text_bytes[rows.start : rows.stop])
    total = int(sizes[-1]) if len(sizes) else 0
    ends = np.append(np.searchsorted(sizes, np.arange(size, total, size)) + 1, len(rows))
    begin = rows.start
    for end in np.unique(ends[ends > 0]).tolist():
        yield range(begin, rows.start + end)
        begin = rows.start + end


def _chunks_of_range(reading: Reading, silent: Bytes, settings: GroupSettings, rows: range) -> Chunks:
    return Chunks.joined(
        [_chunks_of_some(reading, silent, settings, some) for some in _ranges(reading, rows, TOGETHER)]
    )


def _chunks_of_some(reading: Reading, silent: Bytes, settings: GroupSettings, rows: range) -> Chunks:
    unpacked = zstandard.ZstdDecompressor()
    packed = reading.text.data.data
    texts = [unpacked.decompress(packed[reading.text.row(row)]) for row in rows]
    begins = offsets_of(np.array([len(text) for text in texts], np.int64))
    blocks = reading.blocks
    offsets = blocks.offsets[rows.start : rows.stop + 1]
    here = slice(int(offsets[0]), int(offsets[-1]))
    data, starts, stops = canonical_blocks(
        np.frombuffer(b"".join(texts), np.uint8),
        begins,
        offsets - offsets[0],
        blocks.place[here],
        silent[here],
        table(),
        WINDOW,
    )
    return chunks_laid_out(data, starts, stops, settings)
