"""The fingerprints of a collection: the chunks and the Bloom filter of every page, in files."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.duplicates import filters
from pagekin.duplicates.filters import MAX_CHUNKS, BloomFilters, Chunks, Overlap, bits_for
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.shared_elements import near
from pagekin.model.arrays import Floats, Int64s, UInt64s, distinct, offsets_of
from pagekin.store.checks import check, check_offsets
from pagekin.store.columns import ANY, column_writer, open_array, write_columns

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


def with_filters(settings: GroupSettings, chunks: Chunks) -> Fingerprints:
    """The chunks of pages and their filters."""
    return Fingerprints(settings, chunks, filters_of(chunks, settings))


def write_fingerprints(
    folder: Path, pages: int, parts: Iterable[Fingerprints], settings: GroupSettings
) -> dict[str, Any]:
    """Write the chunks of all pages and their filters, part by part; the entry for the manifest."""
    counts = [np.empty(0, np.int64)]
    columns = {
        "chunks.element": (np.uint64, (ANY,)),
        "chunks.ends": (np.uint64, (pages, 2)),
        "filters": (np.uint64, (pages, settings.filter_bits // 64)),
    }
    with column_writer(folder, columns) as append:
        for part in parts:
            assert part.words is not None
            append(part.chunks.elements, part.chunks.ends, part.words)
            counts.append(part.chunks.lengths())
    sizes = np.concatenate(counts)
    write_columns(folder, {"chunks.offsets": offsets_of(sizes)})
    needed = bits_for(sizes, settings)
    return {
        "settings": settings.as_dict(),
        "without_text": int(np.count_nonzero(sizes == 0)),
        "larger_filters": int(np.count_nonzero((needed > settings.filter_bits) & (sizes <= MAX_CHUNKS))),
        "too_large": int(np.count_nonzero(sizes > MAX_CHUNKS)),
    }


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
