"""Chunks -> Bloom filters, and what two filters say of the pages that they stand for."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagekin.duplicates.sets import Chunks
from pagekin.duplicates.settings import LARGEST_FILTER, GroupSettings
from pagekin.errors import MisuseError
from pagekin.model.arrays import Bools, Int64s, UInt64s

ROOM = 4  # bits for every bit that is set at most; then a fifth of a filter is full, and chance has little to say
FEWEST = 4  # chunks of a page that can be found in a larger one; the ends of a smaller one are most of it
Floats = NDArray[np.float64]


def bits_for(chunks: Int64s, settings: GroupSettings) -> Int64s:
    """The size of the filter for so many chunks: that of the settings, or one that they do not saturate."""
    wanted = np.maximum(settings.filter_bits, ROOM * settings.hashes * chunks)
    bits: Int64s = 1 << np.ceil(np.log2(wanted)).astype(np.int64)
    return np.minimum(bits, LARGEST_FILTER)


def elements_in(set_bits: Any, bits: int, hashes: int) -> Any:
    """How many elements a filter with so many set bits holds, as expected."""
    return np.log1p(-np.minimum(set_bits, bits - 0.5) / bits) / (hashes * np.log1p(-1 / bits))


def _set_bits(elements: UInt64s, offsets: Int64s, hashes: int, words: UInt64s) -> None:
    """As the kernel does; with numpy where no compiler is loaded, for importing one takes longer than a few pages."""
    if "numba" in sys.modules:
        from pagekin.kernels.filters import set_bits

        set_bits(elements, offsets, hashes, words)
        return
    bits = 64 * words.shape[1]
    page = np.repeat(np.arange(len(words)), np.diff(offsets))
    step = elements >> np.uint64(32) | np.uint64(1)
    is_set = np.zeros((len(words), bits), np.bool_)
    for k in range(hashes):
        place = (elements & np.uint64(0xFFFFFFFF)) + np.uint64(k) * step
        is_set[page, (place & np.uint64(bits - 1)).astype(np.int64)] = True
    words |= np.packbits(is_set, axis=1, bitorder="little").view(np.dtype("<u8"))


@dataclass(frozen=True)
class BloomFilters:
    """The filters of many pages: of one size, a power of two, and one number of hash functions."""

    words: UInt64s  # a row a page
    sizes: Int64s  # how many chunks each page has
    ends: UInt64s  # its first and its last chunk
    hashes: int
    filled: Int64s | None = None  # how many bits are set in each, where they have been counted

    @classmethod
    def of(cls, pages: Chunks, bits: int, hashes: int) -> BloomFilters:
        """The filters of pages."""
        words = np.zeros((len(pages), bits // 64), np.uint64)
        _set_bits(pages.elements, pages.offsets, hashes, words)
        return cls(words, pages.counts(), pages.ends, hashes)

    def __len__(self) -> int:
        return len(self.words)

    @property
    def bits(self) -> int:
        """The size of each."""
        return 64 * int(self.words.shape[1])

    def rows(self, rows: Int64s) -> BloomFilters:
        """Those of some pages, any of which may be there often."""
        return BloomFilters(self.words[rows], self.sizes[rows], self.ends[rows], self.hashes, self.counts()[rows])

    def counted(self) -> BloomFilters:
        """The same, and how many bits are set."""
        return replace(self, filled=self.counts())

    def counts(self) -> Int64s:
        """How many bits are set in each."""
        if self.filled is not None:
            return self.filled
        counts: Int64s = np.bitwise_count(self.words).sum(axis=1, dtype=np.int64)
        return counts

    def saturated(self) -> Bools:
        """Which are more than half full: too much of what they have in common with others is chance."""
        full: Bools = self.counts() > self.bits // 2
        return full

    def folded(self, bits: int) -> BloomFilters:
        """The same pages in smaller filters."""
        if bits == self.bits:
            return self
        if bits < 64 or self.bits % bits or bits & (bits - 1):
            raise MisuseError(
                f"a filter of {self.bits} bits cannot be folded to {bits}, only to a smaller power of two"
            )
        parts = self.words.reshape(len(self), self.bits // bits, bits // 64)
        return BloomFilters(np.bitwise_or.reduce(parts, axis=1), self.sizes, self.ends, self.hashes)

    def zeros(self) -> Floats:
        """The share of bits of each that are not set."""
        return np.asarray(1.0 - self.counts() / self.bits)

    def powers(self, threshold: float) -> Floats:
        """What `kernels.filters.near` needs to know of each: z^(1 - t).

        A chunk is common or is not. So t is not the threshold, but the share from which on the number of common chunks
        is rounded to one that reaches it.
        """
        wanted = np.ceil(threshold * self.sizes - 1e-9) - 0.5
        return np.asarray(self.zeros() ** (1.0 - wanted / np.maximum(self.sizes, 1)))

    def end_bits(self) -> UInt64s:
        """The bits of the first and last chunks."""
        words = np.zeros_like(self.words)
        _set_bits(self.ends.ravel(), 2 * np.arange(len(self) + 1), self.hashes, words)
        return words


@dataclass(frozen=True)
class Overlap:
    """What two filters say of pages A and B."""

    bits_of_a: float  # the share of A's set bits that are set in B: the paper's measure
    bits_of_b: float
    share_of_a: float  # the share of A's chunks that are in B, as estimated, chance taken off; of whole chunks
    share_of_b: float
    similarity: float  # what decides: the greater share; for a page of hardly any chunks, the lesser
    a_in_b: bool  # all that A says is in B
    b_in_a: bool
    saturated: bool  # a filter is too full to be believed


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


def compare(some: BloomFilters, others: BloomFilters) -> list[Overlap]:
    """Compare the first of some filters with the first of others, the second with the second, and so on."""
    a, b = _of_one_size(some, others)
    both = _common(a, b)
    share_a, share_b, similarity = _shares(a, b, both)
    saturated = a.saturated() | b.saturated()
    columns = (
        _ratio(both, a.counts()),
        _ratio(both, b.counts()),
        share_a,
        share_b,
        similarity,
        _inside(a, b) & ~saturated,
        _inside(b, a) & ~saturated,
        saturated,
    )
    return [Overlap(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def similarities(some: BloomFilters, others: BloomFilters) -> Floats:
    """The similarity alone, as in `compare`."""
    a, b = _of_one_size(some, others)
    return _shares(a, b, _common(a, b))[2]


def directed(some: BloomFilters, others: BloomFilters) -> tuple[Floats, Floats]:
    """The shares of set bits and of chunks of the first ones alone, as in `compare`."""
    a, b = _of_one_size(some, others)
    both = _common(a, b)
    return _ratio(both, a.counts()), _shares(a, b, both)[0]


def _of_one_size(some: BloomFilters, others: BloomFilters) -> tuple[BloomFilters, BloomFilters]:
    if some.hashes != others.hashes:
        raise MisuseError(f"filters of {some.hashes} and of {others.hashes} hash functions cannot be compared")
    bits = min(some.bits, others.bits)
    return some.folded(bits), others.folded(bits)


def _common(a: BloomFilters, b: BloomFilters) -> Int64s:
    """How many set bits they share."""
    both: Int64s = np.bitwise_count(a.words & b.words).sum(axis=1, dtype=np.int64)
    return both


def _shares(a: BloomFilters, b: BloomFilters, both: Int64s) -> tuple[Floats, Floats, Floats]:
    """The shares of common chunks in both directions, and the similarity."""
    in_a, in_b = a.counts(), b.counts()
    counts = in_a, in_b, in_a + in_b - both
    held_a, held_b, held_by_either = (elements_in(count, a.bits, a.hashes) for count in counts)
    common = np.maximum(held_a + held_b - held_by_either, 0.0)
    share_a, share_b = _whole(_ratio(common, held_a), a.sizes), _whole(_ratio(common, held_b), b.sizes)
    too_few = np.minimum(a.sizes, b.sizes) < FEWEST
    return share_a, share_b, np.where(too_few, np.minimum(share_a, share_b), np.maximum(share_a, share_b))


def _ratio(part: Any, whole: Any) -> Floats:
    ratio: Floats = part / np.maximum(whole, 1e-9)
    return ratio


def _whole(share: Floats, size: Int64s) -> Floats:
    """The share that is nearest and is one of whole chunks."""
    return _ratio(np.round(np.minimum(share, 1.0) * size), size)


def _inside(a: BloomFilters, b: BloomFilters) -> Bools:
    """Whether A is in B: all its bits are. In a larger page, its first and last chunk go on, and need not be there."""
    missing = a.words & ~b.words
    inner = missing & ~a.end_bits()
    is_larger = (a.sizes >= FEWEST) & (b.sizes > a.sizes)
    inside: Bools = (a.sizes > 0) & (~missing.any(axis=1) | (is_larger & ~inner.any(axis=1)))
    return inside
