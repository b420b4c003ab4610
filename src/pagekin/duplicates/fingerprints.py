"""The fingerprints of a collection: the chunks and the Bloom filter of every page, in files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pagekin.duplicates import filters
from pagekin.duplicates.chunks import (
    EarlierChunks,
    character_table,
    chunk_ranges,
    chunks_of_range,
    ignored_digests,
)
from pagekin.duplicates.filters import MAX_CHUNKS, BloomFilters, Chunks, Overlap, bits_for
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.shared_elements import near
from pagekin.model.arrays import Array, Bytes, Floats, Int64s, UInt64s, distinct
from pagekin.model.reading import CheckedReading
from pagekin.store.checks import check, check_offsets
from pagekin.store.columns import open_array
from pagekin.store.pieces import write_pieces
from pagekin.store.stage_files import Stages
from pagekin.store.store import Store

_IGNORED = "chunks.ignored"  # the column of digests
_PAGES = 1 << 20  # whose chunks are counted at a time
_BATCH_BYTES = 1 << 25  # of filters that are compared at once
_NO_OVERLAP = Overlap(0.0, 0.0, 0.0, 0.0, 0.0, False, False, False)


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """The chunks of many pages and their filters of one size.

    A page with too many chunks for that size gets a larger filter when it is compared. `samples` are the n-grams of
    short pages at each level, which are compared in the same way; the greatest similarity counts.
    """

    settings: GroupSettings
    chunks: Chunks
    words: UInt64s | None = None  # of filters, one row per page, if they are stored
    samples: "tuple[Fingerprints, ...]" = ()

    def __len__(self) -> int:
        return len(self.chunks)

    def rows(self, rows: Int64s) -> "Fingerprints":
        return Fingerprints(self.settings, self.chunks.rows(rows), None if self.words is None else self.words[rows])

    def followed_by(self, others: "Fingerprints") -> "Fingerprints":
        words = filters_of(self.chunks, self.settings) if self.words is None else self.words
        both = None if others.words is None else np.concatenate([words, others.words])
        return Fingerprints(self.settings, Chunks.concatenate([self.chunks, others.chunks]), both)

    def overlaps(self, pairs: Int64s) -> list[Overlap]:
        found: list[Overlap] = [_NO_OVERLAP] * len(pairs)
        for batch, a, b in self._batches(pairs):
            for k, overlap in zip(batch.tolist(), filters.overlaps(a, b), strict=True):
                found[k] = overlap
        for sample in self.samples:
            found = [
                max(pair, key=attrgetter("similarity")) for pair in zip(found, sample.overlaps(pairs), strict=True)
            ]
        return found

    def similarities(self, pairs: Int64s) -> Floats:
        """The similarity of each pair of pages; 0 if a page has no chunks, or too many."""
        found = np.zeros(len(pairs))
        for batch, a, b in self._batches(pairs):
            found[batch] = filters.similarities(a, b)
        counts = self.chunks.offsets[pairs + 1] - self.chunks.offsets[pairs]
        found[((counts == 0) | (counts > MAX_CHUNKS)).any(axis=1)] = 0.0
        return np.asarray(np.max([found, *(sample.similarities(pairs) for sample in self.samples)], axis=0))

    def near_pairs(self) -> Int64s | None:
        """The pairs of near-duplicates, the later page first; None if filters are not stored or not of one size."""
        counts = self.chunks.lengths()
        if self.words is None or int(bits_for(counts, self.settings).max(initial=0)) > self.settings.filter_bits:
            return None
        pages = np.flatnonzero(counts)
        rows = self._filters(pages, self.settings.filter_bits).comparable(self.settings.threshold)
        return np.asarray(pages[near(rows, rows, True)])

    def _batches(self, pairs: Int64s) -> Iterator[tuple[Int64s, BloomFilters, BloomFilters]]:
        """Batches of pairs, and the filters of both sides in the size that the larger page needs."""
        counts = self.chunks.offsets[pairs + 1] - self.chunks.offsets[pairs]
        needed = bits_for(counts.max(axis=1, initial=0), self.settings)
        for bits in distinct(needed).tolist():
            selected = np.flatnonzero(needed == bits)
            size = max(1, 8 * _BATCH_BYTES // bits)
            for batch in np.array_split(selected, -(-len(selected) // size)):
                pages, inverse = np.unique(pairs[batch], return_inverse=True)
                built, inverse = self._filters(pages, bits), inverse.reshape(-1, 2)
                yield batch, built.rows(inverse[:, 0]), built.rows(inverse[:, 1])

    def _filters(self, pages: Int64s, bits: int) -> BloomFilters:
        if bits == self.settings.filter_bits and self.words is not None:
            sizes = self.chunks.offsets[pages + 1] - self.chunks.offsets[pages]
            return BloomFilters(self.words[pages], sizes, self.chunks.ends[pages], self.settings.hashes)
        return BloomFilters.of(self.chunks.rows(pages), bits, self.settings.hashes)


def filters_of(pages: Chunks, settings: GroupSettings) -> UInt64s:
    """The filters of pages; all bits are set for a page that needs a larger filter, so it counts as saturated."""
    words = BloomFilters.of(pages, settings.filter_bits, settings.hashes).words
    words[bits_for(pages.lengths(), settings) > settings.filter_bits] = np.iinfo(np.uint64).max
    return words


class ChunkSource(NamedTuple):
    """The texts of a store, how they are cut, and chunks that are known."""

    store: Store
    ignored: Bytes
    settings: GroupSettings
    earlier: EarlierChunks | None = None


def write_fingerprints(
    folder: Path, source: ChunkSource, stages: Stages, wanted: Callable[[], bool] = lambda: True
) -> dict[str, Any]:
    """Write the chunks of all pages and their filters, as long as they are wanted; the entry for the manifest."""
    character_table()  # computed once, before threads start
    ranges = takewhile(lambda _: wanted(), chunk_ranges(source.store.reading))
    write_pieces(stages, folder, "chunks", _chunks, source, ranges)
    return facts_of(open_array(folder, "chunks.offsets", np.int64, below=None), source.settings)


def _chunks(source: ChunkSource, rows: range) -> dict[str, Array]:
    reading = CheckedReading(source.store.reading)  # this process or the driver has checked it
    chunks = chunks_of_range(reading, source.ignored, source.settings, rows, source.earlier)
    ignored = ignored_digests(reading.blocks, source.ignored, rows)
    return fingerprint_columns(chunks, source.settings) | {_IGNORED: ignored}


def fingerprint_columns(chunks: Chunks, settings: GroupSettings) -> dict[str, Array]:
    """The columns of some pages."""
    columns = {"offsets": chunks.offsets, "element": chunks.elements, "ends": chunks.ends}
    return {f"chunks.{name}": column for name, column in columns.items()} | {"filters": filters_of(chunks, settings)}


def earlier_chunks(folder: Path, pages: int, row: Int64s, source: ChunkSource) -> EarlierChunks:
    """The chunks in an index of `pages` other pages; `row` has, for each page, the one with the same text, or -1.

    A page with other ignored blocks than before is not equal.
    """
    before = open_array(folder, _IGNORED, np.uint64, below=None)
    check(len(before) == pages, folder / f"{_IGNORED}.npy", f"it holds {len(before):,} pages")
    equal = before[row] == ignored_digests(source.store.reading.blocks, source.ignored, range(len(row)))
    return EarlierChunks(open_fingerprints(folder, pages, source.settings).chunks, np.where(equal, row, -1))


def facts_of(offsets: Int64s, settings: GroupSettings) -> dict[str, Any]:
    """The entry for the manifest, from the offsets of chunks."""
    counts = dict.fromkeys(("without_text", "larger_filters", "too_large"), 0)
    for begin in range(0, len(offsets) - 1, _PAGES):
        sizes = np.diff(offsets[begin : begin + _PAGES + 1])
        larger = (bits_for(sizes, settings) > settings.filter_bits) & (sizes <= MAX_CHUNKS)
        for name, those in zip(counts, (sizes == 0, larger, sizes > MAX_CHUNKS), strict=True):
            counts[name] += int(np.count_nonzero(those))
    return {"settings": settings.as_dict(), **counts}


def open_fingerprints(folder: Path, pages: int, settings: GroupSettings) -> Fingerprints:
    offsets = open_array(folder, "chunks.offsets", np.int64, below=None)
    elements = open_array(folder, "chunks.element", np.uint64, below=None)
    check_offsets(offsets, len(elements), f"{folder}: chunks.offsets.npy or chunks.element.npy")
    check(len(offsets) == pages + 1, folder / "chunks.offsets.npy", f"it holds {len(offsets) - 1:,} pages")
    ends = open_array(folder, "chunks.ends", np.uint64, 2, below=None)
    words = open_array(folder, "filters", np.uint64, 2, below=None)
    check(ends.shape == (pages, 2), folder / "chunks.ends.npy", f"it holds {len(ends):,} pages")
    check(words.shape == (pages, settings.filter_bits // 64), folder / "filters.npy", "it belongs to other pages")
    return Fingerprints(settings, Chunks(offsets, elements, ends), words)
