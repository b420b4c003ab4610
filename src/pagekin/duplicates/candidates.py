"""Sets of chunks -> pairs of pages that may share much, without comparing all with all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pagekin.duplicates.sets import Chunks
from pagekin.kernels.rare_elements import NO_LIST, Lists, ShareBounds, probe, set_hashes
from pagekin.model.arrays import Int64s, UInt64s

BOUNDS = ShareBounds(most=1000, few=32)
_SORTED = 1 << 24  # elements that are sorted at a time
_PAIRS = 1 << 13  # that are proposed at a time
_TRUST = 64  # chunks of a page for which an estimate may be wrong by one more


def lists_of(chunks: Chunks) -> Lists:
    """For every chunk that several pages have, the list of these pages."""
    numbers = np.full(len(chunks.elements), NO_LIST, np.uint32)
    page = np.repeat(np.arange(len(chunks), dtype=np.uint32), chunks.counts())
    lengths, pages = [np.zeros(1, np.int64)], [np.empty(0, np.uint32)]
    count = 0
    for some in filter(len, _parts(chunks.elements)):
        elements = chunks.elements[some]
        order = np.argsort(elements, kind="stable")
        same = elements[order[1:]] == elements[order[:-1]]
        shared = np.append(same, False) | np.append(False, same)
        some, is_first = some[order[shared]], ~np.append(False, same)[shared]
        numbers[some] = count - 1 + np.cumsum(is_first)
        lengths.append(np.diff(np.flatnonzero(np.append(is_first, True))))
        pages.append(page[some])
        count += len(lengths[-1])
    return Lists(chunks.offsets, numbers, np.cumsum(np.concatenate(lengths)), np.concatenate(pages))


def _parts(elements: UInt64s) -> Iterator[Int64s]:
    """The places of elements, those of equal elements together, some at a time."""
    bits = max(0, len(elements) // _SORTED).bit_length()
    if not bits:
        yield np.arange(len(elements))
        return
    for part in range(1 << bits):
        yield np.flatnonzero(elements >> np.uint64(64 - bits) == part)


def same_sets(chunks: Chunks) -> Int64s:
    """For each page the first one that has the same chunks; itself, if there is none before it or it has no chunks.

    Told by a sum of hashes of the chunks; whoever must be sure compares.
    """
    sums = set_hashes(chunks.elements, chunks.offsets)
    first = np.arange(len(chunks))
    some = np.flatnonzero(chunks.counts() > 0)
    _, firsts, which = np.unique(sums[some], return_index=True, return_inverse=True)
    first[some] = some[firsts[which]]
    return first


def wanted(counts: Int64s, threshold: float) -> Int64s:
    """How many chunks a page must have in common with another to be worth a comparison.

    Filters decide then, and may be mistaken by a chunk, or by a few of many: so fewer than the threshold asks for.
    """
    least = np.ceil(threshold * counts - 1e-9).astype(np.int64) - 1 - counts // _TRUST
    return np.where(counts > 0, np.maximum(least, 1), 0)


class CandidatePairs:
    """Pairs of pages that may be near-duplicates, some at a time; not those that `parents` have joined meanwhile.

    What can be missed: of a chunk that more than a thousand pages have, only some of these are looked at, those that
    come next before the page. It must be among the rarest of a page for that to matter; `cut` counts such pages.
    """

    def __init__(self, chunks: Chunks, threshold: float, parents: Int64s, bounds: ShareBounds = BOUNDS) -> None:
        self.cut = 0
        self._lists = lists_of(chunks)
        self._wanted = wanted(chunks.counts(), threshold)
        self._parents = parents
        self._bounds = bounds

    def __iter__(self) -> Iterator[Int64s]:
        seen = np.full(len(self._wanted), -1, np.int64)
        here = 0
        while here < len(self._wanted):
            here, pairs, cut = probe(here, self._wanted, self._lists, self._bounds, self._parents, seen, _PAIRS)
            self.cut += cut
            yield pairs
