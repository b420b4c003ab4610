"""Which pages cite two pages, and how close together?"""

from __future__ import annotations

import numpy as np

from pagekin.arrays import Int64s
from pagekin.model.reading import Anchors, Links

_NEVER = 1 << 62


def standing(links: Links, anchors: Anchors, node: int) -> Int64s:
    """Where the links to a node stand, in order: the page in the upper half of each number, the word in the lower."""
    row = links.row(node)
    page = np.asarray(links.page[row]).astype(np.int64)
    place: Int64s = page << 32 | anchors.start[anchors.offsets[page] + links.anchor[row]]
    return np.sort(place)


def cited_together(one: Int64s, other: Int64s, most: int) -> list[tuple[int, int]]:
    """(page, words apart) of the pages with links to both, those first where they stand closest.

    >>> cited_together(np.array([1 << 32 | 5, 2 << 32 | 90]), np.array([1 << 32 | 9, 2 << 32 | 91, 3 << 32]), 5)
    [(2, 1), (1, 4)]
    """
    if not len(one):
        return []
    after = np.searchsorted(one, other)
    near = one[np.clip([after - 1, after], 0, len(one) - 1)]
    apart = np.where(near >> 32 == other >> 32, np.abs(near - other), _NEVER).min(axis=0)
    order = np.lexsort((other, apart))[: int((apart < _NEVER).sum())]
    closest: dict[int, int] = {}
    for page, words in zip((other[order] >> 32).tolist(), apart[order].tolist(), strict=True):
        closest.setdefault(page, words)
    return list(closest.items())[:most]
