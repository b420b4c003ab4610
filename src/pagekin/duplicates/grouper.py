"""Pages that come one after the other -> pairs of near-duplicates, and at any time the groups that they make.

A page has the filter that its chunks need, and lies on the shelf of that size. Two pages are compared on the shelf of
the larger one; the smaller one visits it in a filter of that size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pagekin.duplicates.filters import FEWEST, BloomFilters, Overlap, bits_for
from pagekin.duplicates.fingerprints import Fingerprints
from pagekin.duplicates.groups import by_chains, by_complete_link
from pagekin.duplicates.sets import MOST_CHUNKS, Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.filters import FilterRows, make_filter_rows, near
from pagekin.kernels.graph import join
from pagekin.model.arrays import Int64s

_VISIT_BYTES = 1 << 25  # of filters of visitors that are made together


@dataclass(frozen=True)
class GroupMember:
    """A page of a group, and how it is to the group's anchor: A is the page, B the anchor."""

    page: int
    overlap: Overlap


@dataclass(frozen=True)
class PageGroup:
    """A page and those that say the same, in the order of their ranks."""

    anchor: int
    members: list[GroupMember] = field(default_factory=list)


class _Shelf:
    """Pages in filters of one size, with room for more."""

    def __init__(self, pages: Int64s, rows: FilterRows) -> None:
        self._count = len(pages)
        self._columns: tuple[NDArray[Any], ...] = (pages, *rows)

    @property
    def pages(self) -> Int64s:
        """The numbers of the pages."""
        return self._columns[0][: self._count]

    def rows(self) -> FilterRows:
        """Their filters."""
        return FilterRows(*(column[: self._count] for column in self._columns[1:]))

    def append(self, other: _Shelf) -> None:
        """Put the pages of another shelf on this one."""
        begin, end = self._count, self._count + other._count
        if end > len(self._columns[0]):
            self._columns = tuple(np.resize(column, (2 * end, *column.shape[1:])) for column in self._columns)
        for column, new in zip(self._columns, other._columns, strict=True):
            column[begin:end] = new[: other._count]
        self._count = end


class Grouper:
    """Finds the near-duplicates among pages as they come. Pages are numbered in the order in which they were added.

    Those without chunks, or with more than MOST_CHUNKS, are like no other.
    """

    def __init__(self, settings: GroupSettings | None = None) -> None:
        self.settings = settings or GroupSettings()
        self.pairs: Int64s = np.empty((0, 2), np.int64)  # of near-duplicates, as many as groups can be told from
        self._parents: Int64s = np.empty(0, np.int64)
        self._parts = [Chunks.joined([])]
        self._count = 0
        self._shelves: dict[int, _Shelf] = {}

    def __len__(self) -> int:
        return self._count

    @property
    def chunks(self) -> Chunks:
        """Of all pages so far."""
        if len(self._parts) > 1:
            self._parts = [Chunks.joined(self._parts)]
        return self._parts[0]

    def add(self, pages: Chunks) -> Int64s:
        """Add pages, and return the pairs of near-duplicates that they make with others and each other."""
        counts = pages.counts()
        sizes = np.where((counts > 0) & (counts <= MOST_CHUNKS), bits_for(counts, self.settings), 0)
        self._parts.append(pages)
        self._count += len(pages)
        for bits in np.unique(sizes[sizes > 0]).tolist():
            if bits not in self._shelves:
                self._shelves[bits] = self._made(pages, np.empty(0, np.int64), bits, 0)
        found = [pairs for bits in sorted(self._shelves) for pairs in self._pairs_on(bits, pages, sizes)]
        new = np.concatenate([np.empty((0, 2), np.int64), *found])
        self._keep(new)
        return new

    def _keep(self, pairs: Int64s) -> None:
        """Keep pairs; for chains only those that join two groups, for a thousand copies make half a million pairs."""
        self._parents = np.append(self._parents, np.arange(len(self._parents), self._count))
        joining = join(self._parents, pairs)
        kept = pairs if self.settings.link == "complete" else pairs[joining]
        self.pairs = np.concatenate([self.pairs, kept]) if len(kept) else self.pairs

    def _pairs_on(self, bits: int, pages: Chunks, sizes: Int64s) -> Iterator[Int64s]:
        """Put the new pages of this size on their shelf; the near-duplicates of which the larger lies there."""
        shelf, first = self._shelves[bits], self._count - len(pages)
        for visitors in self._visits(pages, np.flatnonzero((sizes > 0) & (sizes < bits)), bits, first):
            yield self._near(visitors, shelf)
        coming = np.flatnonzero(sizes == bits)
        if len(coming):
            added = self._made(pages, coming, bits, first)
            yield self._near(added, added, triangle=True)
            yield self._near(added, shelf)
            for other in [other for size, other in self._shelves.items() if size < bits and len(other.pages)]:
                for visitors in self._visits(self.chunks, other.pages, bits):
                    yield self._near(added, visitors)
            shelf.append(added)

    def _visits(self, pages: Chunks, rows: Int64s, bits: int, first: int = 0) -> Iterator[_Shelf]:
        """Pages in filters of another size than their own, some at a time."""
        together = max(1, 8 * _VISIT_BYTES // bits)
        for start in range(0, len(rows), together):
            yield self._made(pages, rows[start : start + together], bits, first)

    def _made(self, pages: Chunks, rows: Int64s, bits: int, first: int) -> _Shelf:
        made = BloomFilters.of(pages.rows(rows), bits, self.settings.hashes)
        powers = made.powers(self.settings.threshold)
        return _Shelf(first + rows, make_filter_rows(made.words, made.zeros(), powers, made.sizes < FEWEST))

    def _near(self, some: _Shelf, others: _Shelf, triangle: bool = False) -> Int64s:
        """The near-duplicates among some pages and others, or if `triangle`, among some."""
        found = near(some.rows(), others.rows(), triangle)
        return np.column_stack([some.pages[found[:, 0]], others.pages[found[:, 1]]])

    def overlaps(self, pairs: Int64s) -> list[Overlap]:
        """How the pages of each pair are to each other, in filters of the size that the larger needs."""
        return Fingerprints(self.settings, self.chunks).overlaps(pairs)

    def anchors(self, ranks: Sequence[float] | None = None) -> Int64s:
        """Of each page so far the best-ranked page of its group; the least rank is the best, then the first page."""
        order = self._order(ranks)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        if self.settings.link == "complete":
            similarity = [each.similarity for each in self.overlaps(self.pairs)]
            first = by_complete_link(len(order), place[self.pairs], similarity)
        else:
            first = by_chains(len(order), place[self.pairs])
        anchors: Int64s = order[first[place]]
        return anchors

    def groups(self, ranks: Sequence[float] | None = None) -> list[PageGroup]:
        """The groups of all pages so far, and the members of each, in the order of their ranks."""
        order = self._order(ranks)
        anchors = self.anchors(ranks)[order]
        groups = {page: PageGroup(page) for page in order[anchors == order].tolist()}
        members = np.column_stack([order, anchors])[anchors != order]
        for (page, anchor), overlap in zip(members.tolist(), self.overlaps(members), strict=True):
            groups[anchor].members.append(GroupMember(page, overlap))
        return list(groups.values())

    def _order(self, ranks: Sequence[float] | None) -> Int64s:
        return np.argsort(np.arange(self._count) if ranks is None else np.array(ranks, np.float64), kind="stable")
