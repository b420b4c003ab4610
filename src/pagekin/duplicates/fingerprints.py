"""What a collection keeps of every page to tell which others say the same: its chunks and its filter, in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.duplicates.filters import BloomFilters, Floats, Overlap, bits_for, compare, directed, similarities
from pagekin.duplicates.sets import MOST_CHUNKS, Chunks, offsets_of
from pagekin.duplicates.settings import GroupSettings
from pagekin.model.arrays import Int64s, UInt64s
from pagekin.store.columns import ANY, check, check_offsets, column_writer, open_array, write_column

_PAIR_BYTES = 1 << 25  # of filters that are compared together
_NONE = Overlap(0.0, 0.0, 0.0, 0.0, 0.0, False, False, False)


@dataclass(frozen=True, eq=False)
class Fingerprints:
    """The chunks of many pages and, for those that do not fill it too much, a filter of one size.

    The filter of a page with more chunks is as large as they need, and made when it is compared.
    """

    settings: GroupSettings
    chunks: Chunks
    words: UInt64s | None = None  # a row a page, if they are kept

    def __len__(self) -> int:
        return len(self.chunks)

    def rows(self, rows: Int64s) -> Fingerprints:
        """Those of some pages, in memory."""
        return Fingerprints(self.settings, self.chunks.rows(rows), None if self.words is None else self.words[rows])

    def and_then(self, others: Fingerprints) -> Fingerprints:
        """These pages, and others after them."""
        words = filters_of(self.chunks, self.settings) if self.words is None else self.words
        kept = None if others.words is None else np.concatenate([words, others.words])
        return Fingerprints(self.settings, Chunks.joined([self.chunks, others.chunks]), kept)

    def overlaps(self, pairs: Int64s) -> list[Overlap]:
        """How the pages of each pair are to each other."""
        found: list[Overlap] = [_NONE] * len(pairs)
        for which, a, b in self._side_by_side(pairs):
            for k, overlap in zip(which.tolist(), compare(a, b), strict=True):
                found[k] = overlap
        return found

    def similarities(self, pairs: Int64s) -> Floats:
        """How similar they are; with a page that has no chunks, or too many, not at all."""
        found = np.zeros(len(pairs))
        for which, a, b in self._side_by_side(pairs):
            found[which] = similarities(a, b)
        counts = self.chunks.offsets[pairs + 1] - self.chunks.offsets[pairs]
        found[((counts == 0) | (counts > MOST_CHUNKS)).any(axis=1)] = 0.0
        return found

    def directed(self, pairs: Int64s) -> tuple[Floats, Floats]:
        """What share of the set bits, and of the chunks, of the first page of each pair is in the other page."""
        bits, chunks = np.zeros(len(pairs)), np.zeros(len(pairs))
        for which, a, b in self._side_by_side(pairs):
            bits[which], chunks[which] = directed(a, b)
        return bits, chunks

    def _side_by_side(self, pairs: Int64s) -> Iterator[tuple[Int64s, BloomFilters, BloomFilters]]:
        """Some pairs at a time, and the filters of both sides, in the size that the larger page needs."""
        counts = self.chunks.offsets[pairs + 1] - self.chunks.offsets[pairs]
        needed = bits_for(counts.max(axis=1, initial=0), self.settings)
        for bits in np.unique(needed).tolist():
            which = np.flatnonzero(needed == bits)
            together = max(1, 8 * _PAIR_BYTES // bits)
            for some in np.array_split(which, -(-len(which) // together)):
                pages, place = np.unique(pairs[some], return_inverse=True)
                made, place = self._filters(pages, bits).counted(), place.reshape(-1, 2)
                yield some, made.rows(place[:, 0]), made.rows(place[:, 1])

    def _filters(self, pages: Int64s, bits: int) -> BloomFilters:
        """The filters of some pages in any size."""
        if bits == self.settings.filter_bits and self.words is not None:
            begins = self.chunks.offsets[pages]
            sizes = self.chunks.offsets[pages + 1] - begins
            return BloomFilters(self.words[pages], sizes, self.chunks.ends[pages], self.settings.hashes)
        return BloomFilters.of(self.chunks.rows(pages), bits, self.settings.hashes)


def filters_of(pages: Chunks, settings: GroupSettings) -> UInt64s:
    """The filters of pages; where one would be too full all bits are set, so that nobody believes it."""
    words = BloomFilters.of(pages, settings.filter_bits, settings.hashes).words
    words[bits_for(pages.counts(), settings) > settings.filter_bits] = np.iinfo(np.uint64).max
    return words


def write_fingerprints(folder: Path, pages: int, pieces: Iterable[Chunks], settings: GroupSettings) -> dict[str, Any]:
    """Write the chunks of all pages as they come, and their filters; what there is to say of them."""
    counts = [np.empty(0, np.int64)]
    columns = {
        "chunks.element": (np.uint64, (ANY,)),
        "chunks.ends": (np.uint64, (pages, 2)),
        "filters": (np.uint64, (pages, settings.filter_bits // 64)),
    }
    with column_writer(folder, columns) as append:
        for some in pieces:
            append(some.elements, some.ends, filters_of(some, settings))
            counts.append(some.counts())
    sizes = np.concatenate(counts)
    write_column(folder, "chunks.offsets", offsets_of(sizes))
    needed = bits_for(sizes, settings)
    return {
        "settings": settings.as_dict(),
        "without_text": int(np.count_nonzero(sizes == 0)),
        "larger_filters": int(np.count_nonzero((needed > settings.filter_bits) & (sizes <= MOST_CHUNKS))),
        "too_large": int(np.count_nonzero(sizes > MOST_CHUNKS)),
    }


def open_fingerprints(folder: Path, pages: int, settings: GroupSettings) -> Fingerprints:
    """What was kept of so many pages, memory-mapped."""
    offsets = open_array(folder, "chunks.offsets")
    elements = open_array(folder, "chunks.element", np.uint64, 1)
    check_offsets(offsets, len(elements), f"{folder}: chunks.offsets.npy or chunks.element.npy")
    check(len(offsets) == pages + 1, folder / "chunks.offsets.npy", f"it holds {len(offsets) - 1:,} pages")
    ends, words = open_array(folder, "chunks.ends", np.uint64, 2), open_array(folder, "filters", np.uint64, 2)
    check(ends.shape == (pages, 2), folder / "chunks.ends.npy", f"it holds {len(ends):,} pages")
    check(words.shape == (pages, settings.filter_bits // 64), folder / "filters.npy", "it is of other pages")
    return Fingerprints(settings, Chunks(offsets, elements, ends), words)
