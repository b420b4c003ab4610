"""Pages that come one after the other -> pairs of near-duplicates, and at any time the groups that they make.

A page has the filter that its chunks need, and lies on the shelf of that size. Two pages are compared on the shelf of
the larger one; the smaller one visits it in a filter of that size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pagekin.arrays import Int64s, UInt64s
from pagekin.duplicates.chunks import Chunks
from pagekin.duplicates.filters import FEWEST, Filters, Likeness, bits_for, compare
from pagekin.duplicates.groups import by_chains, by_complete_link
from pagekin.duplicates.settings import GroupSettings
from pagekin.kernels.filters import near

_VISIT_BYTES = 1 << 25  # of filters of visitors that are made together


@dataclass(frozen=True)
class Member:
    """A page of a group, and how it is to the group's anchor: A is the page, B the anchor."""

    page: int
    likeness: Likeness


@dataclass(frozen=True)
class Group:
    """A page and those that say the same, in the order of their ranks."""

    anchor: int
    members: list[Member] = field(default_factory=list)


class _Rows:
    """Pages in filters of one size."""

    def __init__(self, pages: list[int], words: UInt64s) -> None:
        self.pages = pages
        self.words = words
        self.zeros = 1.0 - np.bitwise_count(words).sum(axis=1) / (64.0 * words.shape[1])  # of each, the share not set


class _Shelf(_Rows):
    """Pages in filters of the size that they need, with room for more."""

    def __init__(self, bits: int) -> None:
        super().__init__([], np.empty((0, bits // 64), np.uint64))
        self._room = self.words, self.zeros

    def append(self, rows: _Rows) -> None:
        """Put pages on the shelf."""
        begin, end = len(self.pages), len(self.pages) + len(rows.pages)
        if end > len(self._room[0]):
            self._room = np.empty((2 * end, self.words.shape[1]), np.uint64), np.empty(2 * end)
            self._room[0][:begin], self._room[1][:begin] = self.words, self.zeros
        self._room[0][begin:end], self._room[1][begin:end] = rows.words, rows.zeros
        self.words, self.zeros = self._room[0][:end], self._room[1][:end]
        self.pages += rows.pages


class Grouper:
    """Finds the near-duplicates among pages as they come. Pages are numbered in the order in which they were added."""

    def __init__(self, settings: GroupSettings | None = None) -> None:
        self.settings = settings or GroupSettings()
        self.chunks: list[Chunks] = []
        self.pairs: Int64s = np.empty((0, 2), np.int64)  # of near-duplicates so far
        self._shelves: dict[int, _Shelf] = {}

    def add(self, pages: Sequence[Chunks]) -> Int64s:
        """Add pages, and return the pairs of near-duplicates that they make with others and each other."""
        first = len(self.chunks)
        self.chunks += pages
        sizes = {first + k: bits_for(len(page), self.settings) for k, page in enumerate(pages) if len(page)}
        for bits in sizes.values():
            self._shelves.setdefault(bits, _Shelf(bits))
        found = [pairs for bits in sorted(self._shelves) for pairs in self._pairs_on(bits, sizes)]
        new = np.concatenate([np.empty((0, 2), np.int64), *found])
        self.pairs = np.concatenate([self.pairs, new]) if len(new) else self.pairs
        return new

    def _pairs_on(self, bits: int, sizes: dict[int, int]) -> Iterator[Int64s]:
        """Put the new pages of this size on their shelf; the near-duplicates of which the larger lies there."""
        shelf = self._shelves[bits]
        for visitors in self._visits([page for page, size in sizes.items() if size < bits], bits):
            yield self._near(visitors, shelf)
        if coming := [page for page, size in sizes.items() if size == bits]:
            added = self._made(coming, bits)
            yield self._near(added, added, triangle=True)
            yield self._near(added, shelf)
            smaller = (other for size, other in self._shelves.items() if size < bits)
            for visitors in self._visits([page for other in smaller for page in other.pages], bits):
                yield self._near(added, visitors)
            shelf.append(added)

    def _visits(self, pages: list[int], bits: int) -> Iterator[_Rows]:
        """Pages in filters of another size than their own, some at a time."""
        together = max(1, 8 * _VISIT_BYTES // bits)
        for start in range(0, len(pages), together):
            yield self._made(pages[start : start + together], bits)

    def _made(self, pages: list[int], bits: int) -> _Rows:
        return _Rows(pages, self._filters(pages, bits).words)

    def _filters(self, pages: list[int], bits: int) -> Filters:
        return Filters.of([self.chunks[page] for page in pages], bits, self.settings.hashes)

    def _near(self, some: _Rows, others: _Rows, triangle: bool = False) -> Int64s:
        """The near-duplicates among some pages and others, or if `triangle`, among some."""
        if not others.pages:
            return np.empty((0, 2), np.int64)
        few = (1 - 1 / (64 * some.words.shape[1])) ** (self.settings.hashes * (FEWEST - 0.5))
        found = near(some.words, others.words, some.zeros, others.zeros, self.settings.threshold, few, triangle)
        pairs = [(some.pages[a], others.pages[b]) for a, b in found.tolist()]
        return np.array(pairs, np.int64).reshape(-1, 2)

    def likenesses(self, pairs: Int64s) -> list[Likeness]:
        """How the pages of each pair are to each other, in filters of the size that the larger needs."""
        sizes = np.array([bits_for(len(page), self.settings) for page in self.chunks], np.int64)
        needed = sizes[pairs].max(axis=1, initial=0)
        likenesses: dict[int, Likeness] = {}
        for bits in np.unique(needed).tolist():
            together = max(1, 8 * _VISIT_BYTES // bits)
            which = np.flatnonzero(needed == bits)
            for some in np.array_split(which, -(-len(which) // together)):
                a, b = (self._filters(pairs[some, side].tolist(), bits) for side in (0, 1))
                likenesses.update(zip(some.tolist(), compare(a, b), strict=True))
        return [likenesses[k] for k in range(len(pairs))]

    def anchors(self, ranks: Sequence[float] | None = None) -> Int64s:
        """Of each page so far the best-ranked page of its group; the least rank is the best, then the first page."""
        order = np.argsort(np.array(ranks if ranks is not None else [0.0] * len(self.chunks)), kind="stable")
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        if self.settings.link == "complete":
            similarity = [each.similarity for each in self.likenesses(self.pairs)]
            first = by_complete_link(len(order), place[self.pairs], similarity)
        else:
            first = by_chains(len(order), place[self.pairs])
        anchors: Int64s = order[first[place]]
        return anchors

    def groups(self, ranks: Sequence[float] | None = None) -> list[Group]:
        """The groups of all pages so far, and the members of each, in the order of their ranks."""
        anchors = self.anchors(ranks)
        pages = sorted(range(len(anchors)), key=lambda page: (ranks[page] if ranks is not None else 0.0, page))
        members = np.array([(page, anchors[page]) for page in pages if anchors[page] != page], np.int64).reshape(-1, 2)
        groups = {page: Group(page) for page in pages if anchors[page] == page}
        for (page, anchor), likeness in zip(members.tolist(), self.likenesses(members), strict=True):
            groups[anchor].members.append(Member(page, likeness))
        return list(groups.values())
