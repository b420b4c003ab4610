"""Pages that link to both of two pages, and how close together their links are."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pagekin.model.arrays import Int64s, UInt64s, spans
from pagekin.model.reading import Anchors, Links

_NO_DISTANCE = 1 << 62


class LinkPositions(NamedTuple):
    """The positions of the links to some nodes."""

    row: Int64s  # index of the linked node, ascending
    position: Int64s  # citing page in the upper 32 bits, word number in the lower


def link_positions(links: Links, anchors: Anchors, nodes: Int64s) -> LinkPositions:
    """Look up the positions of all links to the nodes."""
    begin = links.offsets[nodes]
    counts = links.offsets[nodes + 1] - begin
    selected = spans(begin, counts)
    page = links.page[selected].astype(np.int64)
    position = page << 32 | anchors.start[anchors.offsets[page] + links.anchor[selected]]
    return LinkPositions(np.repeat(np.arange(len(nodes)), counts), position)


def find_citing_pages(one: LinkPositions, others: LinkPositions, count: int, limit: int) -> list[list[tuple[int, int]]]:
    """For each of `count` other nodes, find up to `limit` pages that link both to it and to the one node.

    Each page comes with the smallest distance of such links in words; the closest pages come first.

    >>> one = LinkPositions(np.array([0, 0]), np.array([1 << 32 | 5, 2 << 32 | 90]))
    >>> others = LinkPositions(np.array([0, 0, 2]), np.array([1 << 32 | 9, 2 << 32 | 91, 2 << 32 | 85]))
    >>> find_citing_pages(one, others, 3, 5)
    [[(2, 1), (1, 4)], [], [(2, 5)]]
    """
    if not len(one.position):
        return [[] for _ in range(count)]
    own = np.sort(one.position)
    after = np.searchsorted(own, others.position)
    nearest = own[np.clip([after - 1, after], 0, len(own) - 1)]
    on_same_page = nearest >> 32 == others.position >> 32
    distance = np.where(on_same_page, np.abs(nearest - others.position), _NO_DISTANCE).min(axis=0)
    both = distance < _NO_DISTANCE
    page = others.position[both].astype(np.uint64) >> np.uint64(32)
    keys = distance[both].astype(np.uint64) << np.uint64(32) | page
    rows = np.searchsorted(others.row[both], np.arange(count + 1)).tolist()
    return [_closest(np.sort(keys[begin:end]), limit) for begin, end in pairwise(rows)]


def _closest(keys: UInt64s, limit: int) -> list[tuple[int, int]]:
    """Decode sorted keys (distance in the upper 32 bits, page in the lower); keep each page once."""
    closest: dict[int, int] = {}
    for key in keys.tolist():
        closest.setdefault(key & 0xFFFFFFFF, key >> 32)
        if len(closest) == limit:
            break
    return list(closest.items())
