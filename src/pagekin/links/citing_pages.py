"""Which pages cite two pages, and how close together?"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pagekin.model.arrays import Int64s, UInt64s, spans
from pagekin.model.reading import Anchors, Links

_NEVER = 1 << 62


class LinkPositions(NamedTuple):
    """Where the links to some nodes stand."""

    row: Int64s  # which of the nodes; in ascending order
    place: Int64s  # the page in the upper half of each number, the word in the lower


def link_positions(links: Links, anchors: Anchors, nodes: Int64s) -> LinkPositions:
    """Where the links to nodes stand."""
    begin = links.offsets[nodes]
    counts = links.offsets[nodes + 1] - begin
    which = spans(begin, counts)
    page = links.page[which].astype(np.int64)
    place = page << 32 | anchors.start[anchors.offsets[page] + links.anchor[which]]
    return LinkPositions(np.repeat(np.arange(len(nodes)), counts), place)


def cited_together(one: LinkPositions, others: LinkPositions, count: int, most: int) -> list[list[tuple[int, int]]]:
    """For each of so many others, (page, words apart) of the pages with links to it and the one; the closest first.

    >>> one = LinkPositions(np.array([0, 0]), np.array([1 << 32 | 5, 2 << 32 | 90]))
    >>> others = LinkPositions(np.array([0, 0, 2]), np.array([1 << 32 | 9, 2 << 32 | 91, 2 << 32 | 85]))
    >>> cited_together(one, others, 3, 5)
    [[(2, 1), (1, 4)], [], [(2, 5)]]
    """
    if not len(one.place):
        return [[] for _ in range(count)]
    mine = np.sort(one.place)
    after = np.searchsorted(mine, others.place)
    near = mine[np.clip([after - 1, after], 0, len(mine) - 1)]
    apart = np.where(near >> 32 == others.place >> 32, np.abs(near - others.place), _NEVER).min(axis=0)
    both = apart < _NEVER
    found = apart[both].astype(np.uint64) << np.uint64(32) | others.place[both].astype(np.uint64) >> np.uint64(32)
    rows = np.searchsorted(others.row[both], np.arange(count + 1)).tolist()
    return [_closest(np.sort(found[begin:end]), most) for begin, end in pairwise(rows)]


def _closest(found: UInt64s, most: int) -> list[tuple[int, int]]:
    """(page, words apart) of numbers in order that have the distance in the upper half; every page once."""
    closest: dict[int, int] = {}
    for each in found.tolist():
        closest.setdefault(each & 0xFFFFFFFF, each >> 32)
        if len(closest) == most:
            break
    return list(closest.items())
