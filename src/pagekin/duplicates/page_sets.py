"""The sets of stored pages: chunks of their main texts, and links (end of section 1 of the paper)."""

from collections.abc import Iterator
from functools import partial

import numpy as np
import zstandard

from pagekin.duplicates.canonical import character_table
from pagekin.duplicates.chunks import BATCH_BYTES, chunks_of_padded
from pagekin.duplicates.sets import Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.canonical import canonical_blocks
from pagekin.kernels.chunks import WINDOW
from pagekin.model.arrays import Bytes, Int64s, UInt32s, UInt64s, offsets_of
from pagekin.model.mapper import Mapper
from pagekin.model.reading import Anchors, Reading

_JOB_BYTES = 16 * BATCH_BYTES


def chunks_of_pages(
    reading: Reading, ignored: Bytes, settings: GroupSettings, mapper: Mapper = map
) -> Iterator[Chunks]:
    """The chunks of all pages, in parts; `ignored` is 1 for every block to leave out, such as templates.

    A page with ignored blocks only is kept whole. `mapper` is a `map` that may run jobs in parallel.
    """
    character_table()  # computed once, before threads start
    job = partial(_chunks_of_range, reading, ignored, settings)
    yield from mapper(job, _ranges(reading, range(len(reading)), _JOB_BYTES))


def _chunks_of_range(reading: Reading, ignored: Bytes, settings: GroupSettings, rows: range) -> Chunks:
    batches = _ranges(reading, rows, BATCH_BYTES)
    return Chunks.concatenate([_chunks_of_batch(reading, ignored, settings, some) for some in batches])


def _ranges(reading: Reading, rows: range, size: int) -> Iterator[range]:
    """Split pages into ranges of about `size` bytes of text."""
    sizes = np.cumsum(reading.pages.text_bytes[rows.start : rows.stop])
    total = int(sizes[-1]) if len(sizes) else 0
    ends = np.append(np.searchsorted(sizes, np.arange(size, total, size)) + 1, len(rows))
    begin = rows.start
    for end in np.unique(ends[ends > 0]).tolist():
        yield range(begin, rows.start + end)
        begin = rows.start + end


def _chunks_of_batch(reading: Reading, ignored: Bytes, settings: GroupSettings, rows: range) -> Chunks:
    decompressor, packed, blocks = zstandard.ZstdDecompressor(), reading.text.data.data, reading.blocks
    texts = [decompressor.decompress(packed[reading.text.row(row)]) for row in rows]
    begins = offsets_of(np.array([len(text) for text in texts], np.int64))
    offsets = blocks.offsets[rows.start : rows.stop + 1]
    here = slice(int(offsets[0]), int(offsets[-1]))
    data, starts, stops = canonical_blocks(
        np.frombuffer(b"".join(texts), np.uint8),
        begins,
        offsets - offsets[0],
        blocks.place[here],
        ignored[here],
        character_table(),
        WINDOW,
    )
    return chunks_of_padded(data, starts, stops, settings)


def linked_nodes(anchors: Anchors, node_of_target: UInt32s, node_of_page: UInt32s) -> tuple[Int64s, UInt64s]:
    """The distinct other nodes that each page links to: (offsets, nodes)."""
    page = np.repeat(np.arange(len(node_of_page), dtype=np.uint64), anchors.lengths())
    known = anchors.target < len(node_of_target)
    page, node = page[known], node_of_target[anchors.target[known]]
    others = node != node_of_page[page]
    pairs = np.unique(page[others] << np.uint64(32) | node[others])
    counts = np.bincount((pairs >> np.uint64(32)).astype(np.int64), minlength=len(node_of_page))
    return offsets_of(counts), pairs & np.uint64(0xFFFFFFFF)


def link_sets(offsets: Int64s, nodes: UInt64s, ignored: Bytes) -> Chunks:
    """The links of each page as a set of hashes; `ignored` is 1 for every link to leave out."""
    page = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[ignored == 0]
    counts = np.bincount(page, minlength=len(offsets) - 1)
    # splitmix64 (Steele, Lea and Flood 2014) spreads the node numbers over 64 bits
    value = (nodes[ignored == 0] + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ value >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ value >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    hashes = np.asarray(value ^ value >> np.uint64(31))
    return Chunks(offsets_of(counts), hashes, np.zeros((len(counts), 2), np.uint64))
