"""Sets of chunks, their Bloom filters, and the overlap of two pages that filters imply."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from pagekin.duplicates.settings import MAX_FILTER_BITS, GroupSettings
from pagekin.kernels.shared_elements import FilterRows, make_filter_rows, set_bits
from pagekin.model.arrays import Bools, Floats, Int64s, UInt64s, offsets_of, spans
from pagekin.model.reading import Ragged

MAX_CHUNKS = 1 << 22  # of a page: a gigabyte in chunks of 256 bytes
_BITS_PER_HASH = 4  # bits of a filter for every hash of a chunk; then at most a fifth is set, and chance matters little
MIN_CHUNKS = 4  # a page with fewer consists mostly of its first and last chunk, and is not searched inside others


@dataclass(frozen=True, eq=False)
class Chunks(Ragged):
    """The chunks of many pages. Each page is a set of 64-bit BLAKE2b digests, in any order.

    A chunk that occurs r times counts 1 + ln r times, rounded down: its third, eighth, 21st, 55th ... occurrence adds
    an element. (Footnote 4 of the paper has ln r, which would drop chunks that occur once.)
    """

    elements: UInt64s
    ends: UInt64s  # per page, the first and last chunk; they change when the text is embedded in another

    def rows(self, rows: Int64s) -> Self:
        begins = self.offsets[rows]
        counts = self.offsets[rows + 1] - begins
        return type(self)(offsets_of(counts), self.elements[spans(begins, counts)], self.ends[rows])

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        counts = np.concatenate([np.empty(0, np.int64), *(part.lengths() for part in parts)])
        elements = np.concatenate([np.empty(0, np.uint64), *(part.elements for part in parts)])
        ends = np.concatenate([np.empty((0, 2), np.uint64), *(part.ends for part in parts)])
        return cls(offsets_of(counts), elements, ends)


def bits_for(chunks: Int64s, settings: GroupSettings) -> Int64s:
    """The size of the filter for these numbers of chunks: that of the settings, or larger to avoid saturation."""
    wanted = np.maximum(settings.filter_bits, _BITS_PER_HASH * settings.hashes * chunks)
    bits: Int64s = 1 << np.ceil(np.log2(wanted)).astype(np.int64)
    return np.minimum(bits, MAX_FILTER_BITS)


def estimate_elements(set_bits: Any, bits: int, hashes: int) -> Any:
    return np.log1p(-np.minimum(set_bits, bits - 0.5) / bits) / (hashes * np.log1p(-1 / bits))


@dataclass(frozen=True)
class BloomFilters:
    """The filters of many pages, of one size, which is a power of two, and one number of hash functions."""

    words: UInt64s  # one row per page
    sizes: Int64s  # chunks of each page
    ends: UInt64s  # first and last chunk of each page
    hashes: int

    @classmethod
    def of(cls, pages: Chunks, bits: int, hashes: int) -> "BloomFilters":
        words = np.zeros((len(pages), bits // 64), np.uint64)
        set_bits(pages.elements, pages.offsets, hashes, words)
        return cls(words, pages.lengths(), pages.ends, hashes)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def bits(self) -> int:
        return 64 * int(self.words.shape[1])

    def rows(self, rows: Int64s) -> "BloomFilters":
        """The filters of some pages; rows may repeat."""
        selected = BloomFilters(self.words[rows], self.sizes[rows], self.ends[rows], self.hashes)
        vars(selected)["counts"] = self.counts[rows]  # spares counting the bits of repeated rows again
        return selected

    @cached_property
    def counts(self) -> Int64s:
        """The number of set bits of each filter."""
        return np.asarray(np.bitwise_count(self.words).sum(axis=1, dtype=np.int64))

    def saturated(self) -> Bools:
        """Which filters are more than half full, so that most of their common bits are chance."""
        return np.asarray(self.counts > self.bits // 2)

    def zeros(self) -> Floats:
        """The share z of unset bits of each filter."""
        return np.asarray(1.0 - self.counts / self.bits)

    def powers(self, threshold: float) -> Floats:
        """z^(1 - t) of each filter, for `kernels.shared_elements.near`.

        The number of common chunks is whole. So t is not the threshold, but the least share that is rounded to a
        number of chunks that reaches the threshold.
        """
        wanted = np.ceil(threshold * self.sizes - 1e-9) - 0.5
        return np.asarray(self.zeros() ** (1.0 - wanted / np.maximum(self.sizes, 1)))

    def comparable(self, threshold: float) -> FilterRows:
        """The filters as `kernels.shared_elements.near` compares them."""
        return make_filter_rows(self.words, self.zeros(), self.powers(threshold), self.sizes < MIN_CHUNKS)

    def end_bits(self) -> UInt64s:
        words = np.zeros_like(self.words)
        set_bits(self.ends.ravel(), 2 * np.arange(len(self) + 1), self.hashes, words)
        return words


@dataclass(frozen=True)
class Overlap:
    """The overlap of two pages A and B."""

    bits_of_a: float  # share of A's set bits that are set in B: the paper's measure
    bits_of_b: float
    share_of_a: float  # estimated share of A's chunks that are in B, corrected for chance, rounded to whole chunks
    share_of_b: float
    similarity: float  # decides: the greater share; the lesser one if a page has fewer than MIN_CHUNKS
    a_in_b: bool  # containment: the whole of A is in B
    b_in_a: bool
    saturated: bool  # a filter is too full for a conclusion


# The overlap of a member (A) with the anchor of its group (B) in JSON: key -> attribute.
OVERLAP_KEYS = {
    "similarity": "similarity",
    "share": "share_of_a",
    "share_of_anchor": "share_of_b",
    "bits": "bits_of_a",
    "bits_of_anchor": "bits_of_b",
    "contains": "b_in_a",
    "contained": "a_in_b",
}


def overlaps(a: BloomFilters, b: BloomFilters) -> list[Overlap]:
    """The overlaps of the pairs of rows of two filter tables of the same size and number of hash functions."""
    common = _common_bits(a, b)
    saturated = a.saturated() | b.saturated()
    bits = _ratio(common, a.counts), _ratio(common, b.counts)
    contained = _contained(a, b) & ~saturated, _contained(b, a) & ~saturated
    columns = *bits, *_shares(a, b, common), *contained, saturated
    return [Overlap(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def similarities(a: BloomFilters, b: BloomFilters) -> Floats:
    return _shares(a, b, _common_bits(a, b))[2]


def _common_bits(a: BloomFilters, b: BloomFilters) -> Int64s:
    return np.asarray(np.bitwise_count(a.words & b.words).sum(axis=1, dtype=np.int64))


def _shares(a: BloomFilters, b: BloomFilters, common_bits: Int64s) -> tuple[Floats, Floats, Floats]:
    """The shares of common chunks of A and of B, and the similarity."""
    counts = a.counts, b.counts, a.counts + b.counts - common_bits
    in_a, in_b, in_union = (estimate_elements(count, a.bits, a.hashes) for count in counts)
    common = np.maximum(in_a + in_b - in_union, 0.0)
    share_a, share_b = (
        _ratio(np.round(np.minimum(_ratio(common, inside), 1.0) * each.sizes), each.sizes)
        for inside, each in ((in_a, a), (in_b, b))
    )
    too_few = np.minimum(a.sizes, b.sizes) < MIN_CHUNKS
    return share_a, share_b, np.where(too_few, np.minimum(share_a, share_b), np.maximum(share_a, share_b))


def _ratio(part: Any, whole: Any) -> Floats:
    return np.asarray(part / np.maximum(whole, 1e-9))


def _contained(a: BloomFilters, b: BloomFilters) -> Bools:
    """Whether all bits of A are set in B; in a larger B, those of A's first and last chunk may be missing."""
    missing = a.words & ~b.words
    inner = missing & ~a.end_bits()
    is_larger = (a.sizes >= MIN_CHUNKS) & (b.sizes > a.sizes)
    return np.asarray((a.sizes > 0) & (~missing.any(axis=1) | (is_larger & ~inner.any(axis=1))))
