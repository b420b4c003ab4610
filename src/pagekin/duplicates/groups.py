"""Groups of near-duplicates, each with its best-ranked page as the anchor, and grouping of pages that come in batches.

`Grouper` keeps every page in a filter of the size that its number of chunks needs. Two pages are compared in the size
of the larger one, in which a filter of the smaller one is built for the comparison.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from pagekin.duplicates.filters import MAX_CHUNKS, OVERLAP_KEYS, BloomFilters, Chunks, Overlap, bits_for
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.settings import GroupSettings
from pagekin.duplicates.short_texts import FILTER_BITS as SAMPLE_BITS
from pagekin.kernels.graph import join, roots
from pagekin.kernels.shared_elements import FilterRows, near
from pagekin.model.arrays import Floats, Int64s
from pagekin.model.jsons import json_field

_BATCH_BYTES = 1 << 25  # of filters that are built for a comparison
Page = TypeVar("Page")
Other = TypeVar("Other")


@dataclass(frozen=True)
class DuplicateMember(Generic[Page]):
    """A near-duplicate of the anchor of its group. In `overlap`, A is the page and B the anchor."""

    page: Page = json_field(inline=True)
    overlap: Overlap = json_field(expand=OVERLAP_KEYS, digits=4)  # of texts
    similarity: float = json_field(digits=4)  # of texts and, in a collection with a link weight, of links


@dataclass(frozen=True)
class DuplicateGroup(Generic[Page]):
    """A page and its near-duplicates, best-ranked first."""

    anchor: Page
    members: list[DuplicateMember[Page]]

    def map(self, function: Callable[[Page], Other]) -> "DuplicateGroup[Other]":
        members = [DuplicateMember(function(each.page), each.overlap, each.similarity) for each in self.members]
        return DuplicateGroup(function(self.anchor), members)


def find_anchors(order: Int64s, pairs: Int64s, link: str, similarities: Callable[[Int64s], Floats]) -> Int64s:
    """The anchor of each page: the first page of its group in `order`, best first."""
    rank = np.argsort(order)
    if link == "complete":
        first = complete_linkage(len(order), rank[pairs], similarities(pairs).tolist())
    else:
        first = single_linkage(len(order), rank[pairs])
    return np.asarray(order[first[rank]])


def build_groups(
    order: Int64s,
    anchors: Int64s,
    overlaps: Callable[[Int64s], list[Overlap]],
    similarities: Callable[[Int64s], Floats] | None = None,
    singletons: bool = True,
) -> list[DuplicateGroup[int]]:
    """Group pages under their anchors, in `order`; `singletons` keeps groups of one page.

    The similarity of a member is that of its overlap unless `similarities` are given.
    """
    ranked = anchors[order]
    members = np.column_stack([order, ranked])[ranked != order]
    heads = order[ranked == order]
    heads = heads if singletons else heads[np.isin(heads, members[:, 1])]
    groups: dict[int, DuplicateGroup[int]] = {page: DuplicateGroup(page, []) for page in heads.tolist()}
    found = overlaps(members)
    values = [each.similarity for each in found] if similarities is None else similarities(members).tolist()
    for (page, anchor), overlap, similarity in zip(members.tolist(), found, values, strict=True):
        groups[anchor].members.append(DuplicateMember(page, overlap, similarity))
    return list(groups.values())


def single_linkage(count: int, pairs: Int64s) -> Int64s:
    """The first page of each page's group; groups are the connected components of the pairs."""
    parents = np.arange(count)
    join(parents, pairs)
    return roots(parents)


def complete_linkage(count: int, pairs: Int64s, similarity: Sequence[float]) -> Int64s:
    """The first page of each page's group; all pages of a group are pairs of each other.

    Pairs are processed by decreasing similarity. Two groups merge when the last pair between them has been processed,
    that is in the order of the least similarity between them, which is complete linkage.
    """
    first = np.arange(count)
    members = {page: [page] for page in range(count)}
    seen: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))  # processed pairs between two groups
    order = sorted(range(len(pairs)), key=lambda k: (-similarity[k], *sorted(pairs[k].tolist())))
    for a, b in pairs[order].tolist():
        keep, lose = sorted((int(first[a]), int(first[b])))
        seen[keep][lose] += 1
        seen[lose][keep] += 1
        if seen[keep][lose] < len(members[keep]) * len(members[lose]):
            continue
        first[members[lose]] = keep
        members[keep] += members.pop(lose)
        for other, pairs_seen in seen.pop(lose).items():
            del seen[other][lose]
            if other != keep:
                seen[keep][other] += pairs_seen
                seen[other][keep] += pairs_seen
    return first


class _FilterTable:
    """Filters of one size in arrays that grow."""

    def __init__(self, pages: Int64s, rows: FilterRows) -> None:
        self._count = len(pages)
        self._columns: tuple[NDArray[Any], ...] = (pages, *rows)

    @property
    def pages(self) -> Int64s:
        return self._columns[0][: self._count]

    def rows(self) -> FilterRows:
        return FilterRows(*(column[: self._count] for column in self._columns[1:]))

    def append(self, other: "_FilterTable") -> None:
        begin, end = self._count, self._count + other._count
        if end > len(self._columns[0]):
            self._columns = tuple(np.resize(column, (2 * end, *column.shape[1:])) for column in self._columns)
        for column, new in zip(self._columns, other._columns, strict=True):
            column[begin:end] = new[: other._count]
        self._count = end


class _FilterTables:
    """Filters of pages by size, and the near-duplicates among pages as they are added.

    A page without chunks, or with more than MAX_CHUNKS, has no near-duplicates.
    """

    def __init__(self, settings: GroupSettings) -> None:
        self._settings = settings
        self._parts = [Chunks.concatenate([])]
        self._count = 0
        self._tables: dict[int, _FilterTable] = {}

    @property
    def chunks(self) -> Chunks:
        if len(self._parts) > 1:
            self._parts = [Chunks.concatenate(self._parts)]
        return self._parts[0]

    def add(self, pages: Chunks) -> Int64s:
        """Add pages; the pairs of near-duplicates that they form with each other and earlier pages."""
        counts = pages.lengths()
        sizes = np.where((counts > 0) & (counts <= MAX_CHUNKS), bits_for(counts, self._settings), 0)
        self._parts.append(pages)
        self._count += len(pages)
        for bits in np.unique(sizes[sizes > 0]).tolist():
            if bits not in self._tables:
                self._tables[bits] = self._build(pages, np.empty(0, np.int64), bits, 0)
        found = [pairs for bits in sorted(self._tables) for pairs in self._add_to_table(bits, pages, sizes)]
        return np.concatenate([np.empty((0, 2), np.int64), *found])

    def _add_to_table(self, bits: int, pages: Chunks, sizes: Int64s) -> Iterator[Int64s]:
        """Add the new pages of this size to their table; the near-duplicates whose larger page has this size."""
        table, first = self._tables[bits], self._count - len(pages)
        for smaller in self._resized(pages, np.flatnonzero((sizes > 0) & (sizes < bits)), bits, first):
            yield self._near(smaller, table)
        rows = np.flatnonzero(sizes == bits)
        if len(rows):
            added = self._build(pages, rows, bits, first)
            yield self._near(added, added, triangle=True)
            yield self._near(added, table)
            for other in [other for size, other in self._tables.items() if size < bits and len(other.pages)]:
                for smaller in self._resized(self.chunks, other.pages, bits):
                    yield self._near(added, smaller)
            table.append(added)

    def _resized(self, pages: Chunks, rows: Int64s, bits: int, first: int = 0) -> Iterator[_FilterTable]:
        size = max(1, 8 * _BATCH_BYTES // bits)
        for start in range(0, len(rows), size):
            yield self._build(pages, rows[start : start + size], bits, first)

    def _build(self, pages: Chunks, rows: Int64s, bits: int, first: int) -> _FilterTable:
        built = BloomFilters.of(pages.rows(rows), bits, self._settings.hashes)
        return _FilterTable(first + rows, built.comparable(self._settings.threshold))

    def _near(self, some: _FilterTable, others: _FilterTable, triangle: bool = False) -> Int64s:
        """The near-duplicates between two tables or, if `triangle`, within one."""
        found = near(some.rows(), others.rows(), triangle)
        return np.column_stack([some.pages[found[:, 0]], others.pages[found[:, 1]]])


def _distinct(pairs: Int64s, count: int) -> Int64s:
    """The distinct pairs of numbers below `count`; as single numbers, since sorting rows is slow."""
    return np.column_stack(np.divmod(np.unique(pairs @ np.array([count, 1])), max(count, 1)))


class Grouper:
    """Finds the near-duplicates among pages as they are added. Pages are numbered in the order of addition."""

    def __init__(self, settings: GroupSettings | None = None) -> None:
        self.settings = settings or GroupSettings()
        self.pairs: Int64s = np.empty((0, 2), np.int64)  # of near-duplicates: all, or enough to connect the groups
        self._of_samples = replace(self.settings, filter_bits=max(self.settings.filter_bits, SAMPLE_BITS))
        self._parents: Int64s = np.empty(0, np.int64)
        self._sets: list[_FilterTables] = []

    def add(self, pages: Chunks, samples: Sequence[Chunks] = ()) -> Int64s:
        """Add pages, each time with as many samples; the pairs of near-duplicates with each other and earlier pages."""
        sets = [pages, *samples]
        if not self._sets:
            self._sets = [_FilterTables(self.settings), *(_FilterTables(self._of_samples) for _ in samples)]
        found = [tables.add(some) for tables, some in zip(self._sets, sets, strict=True)]
        self._parents = np.append(self._parents, np.arange(len(self._parents), len(self._parents) + len(pages)))
        new = _distinct(np.concatenate(found), len(self._parents)) if samples else found[0]
        joining = join(self._parents, new)
        # Single linkage needs only the pairs that join two groups; a thousand copies form half a million pairs.
        kept = new if self.settings.link == "complete" else new[joining]
        self.pairs = np.concatenate([self.pairs, kept]) if len(kept) else self.pairs
        return new

    @property
    def fingerprints(self) -> Fingerprints:
        chunks, *samples = [tables.chunks for tables in self._sets] or [Chunks.concatenate([])]
        return Fingerprints(
            self.settings, chunks, samples=tuple(Fingerprints(self._of_samples, each) for each in samples)
        )

    def anchors(self, ranks: Sequence[float] | None = None) -> Int64s:
        """The best-ranked page of each page's group; the lowest rank is the best, ties by page number."""
        order, link = self._order(ranks), self.settings.link
        return find_anchors(order, self.pairs, link, lambda pairs: self.fingerprints.similarities(pairs))

    def groups(self, ranks: Sequence[float] | None = None) -> list[DuplicateGroup[int]]:
        return build_groups(self._order(ranks), self.anchors(ranks), self.fingerprints.overlaps)

    def _order(self, ranks: Sequence[float] | None) -> Int64s:
        return np.argsort(
            np.arange(len(self._parents)) if ranks is None else np.array(ranks, np.float64), kind="stable"
        )
