"""Near-duplicates of a whole collection: candidates share rare chunks, filters decide."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pagekin.duplicates.filters import MAX_CHUNKS, Chunks
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.groups import DuplicateGroup, build_groups, find_anchors
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError
from pagekin.kernels.graph import join
from pagekin.kernels.shared_elements import NO_LIST, Lists, ShareBounds, probe, set_hashes
from pagekin.model.arrays import Floats, Int64s, UInt64s

_BOUNDS = ShareBounds(most=1000, few=32)
_BATCH_ELEMENTS = 1 << 24  # that are sorted at once
_BATCH_PAIRS = 1 << 13
_CHUNKS_PER_ERROR = 64  # an estimate from filters may be off by one chunk, and by one more per 64 chunks
MAX_PAIRS = 1 << 24  # kept for complete linkage


@dataclass(frozen=True)
class FoundPairs:
    """Pairs of near-duplicates: all of them or, for single linkage, enough to connect the groups."""

    pairs: Int64s
    compared: int  # pairs whose filters were compared
    cut: int  # pages whose rare chunks occur on too many pages to compare them with all


@dataclass(frozen=True, eq=False)
class PageSets:
    """The sets that pages are compared by: chunks of texts and, with a weight, links."""

    texts: Fingerprints
    links: Fingerprints | None = None
    weight: float = 0.0  # of links

    def similarities(self, pairs: Int64s) -> Floats:
        """The similarity of each pair of pages; two pages without links are compared by their texts alone."""
        of_texts = self.texts.similarities(pairs)
        if self.links is None or not self.weight:
            return of_texts
        of_links = self.links.similarities(pairs)
        has_links = (self.links.chunks.offsets[pairs + 1] > self.links.chunks.offsets[pairs]).any(axis=1)
        return np.where(has_links, (1.0 - self.weight) * of_texts + self.weight * of_links, of_texts)

    def rows(self, rows: Int64s) -> "PageSets":
        return PageSets(self.texts.rows(rows), self.links and self.links.rows(rows), self.weight)


def invert_chunks(chunks: Chunks) -> Lists:
    """For every chunk of several pages, the list of these pages."""
    numbers = np.full(len(chunks.elements), NO_LIST, np.uint32)
    page = np.repeat(np.arange(len(chunks), dtype=np.uint32), chunks.lengths())
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
    """Split the positions of elements by their leading bits into parts of bounded size."""
    bits = max(0, len(elements) // _BATCH_ELEMENTS).bit_length()
    if not bits:
        yield np.arange(len(elements))
        return
    for part in range(1 << bits):
        yield np.flatnonzero(elements >> np.uint64(64 - bits) == part)


def first_copies(chunks: Chunks) -> Int64s:
    """For each page, the first page with the same set of chunks; itself if there is none or it has no chunks.

    Sets are compared by a sum of hashes, so a caller that needs certainty must compare them.
    """
    sums = set_hashes(chunks.elements, chunks.offsets)
    first = np.arange(len(chunks))
    some = np.flatnonzero(chunks.lengths() > 0)
    _, firsts, inverse = np.unique(sums[some], return_index=True, return_inverse=True)
    first[some] = some[firsts[inverse]]
    return first


def candidate_pairs(chunks: Chunks, threshold: float, parents: Int64s) -> Iterator[tuple[Int64s, int]]:
    """Yield batches of candidate pairs of near-duplicates, except pairs that `parents` has joined by then.

    A candidate shares slightly fewer chunks than the threshold asks for, since filters decide in the end and their
    estimates may be off by a few chunks. A chunk of more than a thousand pages is followed to the 32 preceding pages
    only. That matters to pages whose rarest chunks are that frequent; their number comes with each batch.
    """
    lists, counts = invert_chunks(chunks), chunks.lengths()
    least = np.ceil(threshold * counts - 1e-9).astype(np.int64) - 1 - counts // _CHUNKS_PER_ERROR
    shared = np.where(counts > 0, np.maximum(least, 1), 0)
    seen, page = np.full(len(chunks), -1, np.int64), 0
    while page < len(chunks):
        page, pairs, cut = probe(page, shared, lists, _BOUNDS, parents, seen, _BATCH_PAIRS)
        yield pairs, cut


def find_pairs(sets: PageSets, settings: GroupSettings, every: bool = False) -> FoundPairs:
    """Find near-duplicates among many pages; if `every`, all pairs and not only those that connect groups."""
    chunks = sets.texts.chunks
    counts = chunks.lengths()
    compared = (counts > 0) & (counts <= MAX_CHUNKS)
    copies = np.empty((0, 2), np.int64)
    if not every:
        first = first_copies(chunks)
        copy = np.flatnonzero((first < np.arange(len(first))) & compared)
        copies = np.column_stack([copy, first[copy]])
        copies = copies[sets.similarities(copies) >= settings.threshold]
        compared[copies[:, 0]] = False
    pages = np.flatnonzero(compared)
    some = sets if len(pages) == len(chunks) else sets.rows(pages)
    parents = np.arange(len(pages))
    text_threshold = (settings.threshold - sets.weight) / (1.0 - sets.weight)  # sufficient if all links are common
    kept, tried, cut = [copies], len(copies), 0
    for pairs, cut_here in candidate_pairs(some.texts.chunks, text_threshold, parents):
        tried, cut = tried + len(pairs), cut + cut_here
        near = pairs[some.similarities(pairs) >= settings.threshold]
        kept.append(pages[near if every else near[join(parents, near)]])
        if every and sum(map(len, kept)) > MAX_PAIRS:
            raise MisuseError(
                f"there are more than {MAX_PAIRS:,} pairs of near-duplicates, too many for complete linkage;"
                " group them without --complete-link"
            )
    found = np.sort(np.concatenate(kept), axis=1)
    found = np.unique(found, axis=0) if every else found  # a pair may be a candidate from both sides
    return FoundPairs(found[:, ::-1], tried, cut)


def groups_of(sets: PageSets, found: FoundPairs, order: Int64s, settings: GroupSettings) -> list[DuplicateGroup[int]]:
    """The groups of two or more pages; `order` has all pages, best first."""
    anchors = find_anchors(order, found.pairs, settings.link, sets.similarities)
    similarities = sets.similarities if sets.weight else None
    return build_groups(order, anchors, sets.texts.overlaps, similarities, singletons=False)
