"""Which pages link to each other, in their texts or anyhow; and pages with few links."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from pagekin.gaps.decisions import Decisions
from pagekin.gaps.mentions import MentionIndex
from pagekin.gaps.options import GapOptions
from pagekin.gaps.results import LinkedPage
from pagekin.model.arrays import Bools, Int64s, distinct

ORPHAN, ONLY_FROM_TEMPLATES, DEAD_END = "orphan", "only from templates", "dead end"


class PageLinks:
    """The links of a collection as pairs of pages: source * number of pages + target."""

    def __init__(self, mentions: MentionIndex) -> None:
        self._mentions, self._indexed = mentions, mentions.indexed
        self._pages = len(mentions.indexed.nodes) - 1

    @cached_property
    def in_text(self) -> Int64s:
        """The pairs of pages with a link in the text, ascending."""
        links = self._mentions.links
        return distinct(self._mentions.node_of_row[links.row] * self._pages + links.node)

    @cached_property
    def anyhow(self) -> Int64s:
        """The pairs of different pages with any link, ascending."""
        anchors, targets = self._indexed.checked_reading.anchors, self._indexed.node_of_target
        source = np.repeat(self._mentions.node_of_row, anchors.lengths())
        known = anchors.target < len(targets)
        source, target = source[known], targets[anchors.target[known]].astype(np.int64)
        inside = (target < self._pages) & (target != source)
        return distinct(source[inside] * self._pages + target[inside])

    @cached_property
    def in_links(self) -> Int64s:
        """The number of pages with links in their texts to each page."""
        return np.bincount(self.in_text % self._pages, minlength=self._pages)

    def weak_pages(self, options: GapOptions, decided: Decisions, allowed: Bools) -> Iterator[list[LinkedPage]]:
        """Orphans, pages with in-links from templates only, and dead ends, in the order of URLs."""
        any_in = np.bincount(self.anyhow % self._pages, minlength=self._pages)
        out = np.bincount(self.in_text // self._pages, minlength=self._pages)
        orphans = any_in <= options.orphan_links
        kinds = {
            ORPHAN: orphans,
            ONLY_FROM_TEMPLATES: ~orphans & (self.in_links == 0),
            DEAD_END: out <= options.dead_end_links,
        }
        for kind, which in kinds.items():
            nodes = [node for node in np.flatnonzero(which & allowed).tolist() if (kind, node) not in decided.pages]
            names = self._indexed.catalog.named_nodes(nodes)
            counts = (column[nodes].tolist() for column in (any_in, self.in_links, out))
            yield [LinkedPage(name["url"], name["title"], *each) for name, *each in zip(names, *counts, strict=True)]


def contains(ascending: Int64s, numbers: Int64s) -> Bools:
    """Whether each number is in an ascending array.

    >>> contains(np.array([2, 5]), np.array([5, 3, 9])).tolist()
    [True, False, False]
    """
    place = np.searchsorted(ascending, numbers)
    return np.asarray(np.append(ascending, -1)[place] == numbers)
