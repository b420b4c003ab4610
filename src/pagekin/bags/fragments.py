"""Fragments: what the pages of a batch contribute to the bags of all nodes (paper, section 6).

A batch contributes the contents and titles of its own nodes, and the windows of its links to any node, summed by node
and term. The sums are exact, so the fragments of a node can be added in any order, and in several steps: a node with a
million in-links gets one fragment from each batch. The batches are folded by the kernel that folds whole bags.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pagekin.bags.build import BagSums, Folding, fold_range
from pagekin.model.arrays import Floats, UInt32s, offsets_of


class Fragments(NamedTuple):
    """Sums by node and term, sorted by both."""

    node: UInt32s
    term: UInt32s
    occurrences: UInt32s
    content: Floats
    around: Floats

    def by_range(self, step: int) -> "Iterator[tuple[int, Fragments]]":
        """(number, fragments) of each range of `step` nodes that has any."""
        if not len(self.node):  # np.split would give one empty part
            return
        numbers, starts = np.unique(self.node // step, return_index=True)
        parts: list[list[Any]] = [np.split(column, starts[1:]) for column in self]
        for number, columns in zip(numbers.tolist(), zip(*parts, strict=True), strict=True):
            yield number, Fragments(*columns)

    def bags(self, nodes: range) -> BagSums:
        """The bags of a range of nodes; all fragments are of its nodes."""
        lengths = np.bincount(self.node.astype(np.int64) - nodes.start, minlength=len(nodes))
        return BagSums(lengths, *self[1:])


class OwnLinks(NamedTuple):
    """The links that count from the pages of a batch: the node that each reaches, its page, and its anchor there."""

    node: UInt32s
    page: UInt32s
    anchor: UInt32s


def cut_links(folding: Folding, batches: Sequence[range], some: range) -> Iterator[tuple[int, OwnLinks]]:
    """(number, links) of each batch of nodes whose pages have any of some links."""
    citations = folding.citations
    link = some.start + np.flatnonzero(citations.link_counts[some.start : some.stop])
    page, anchor = citations.link_page[link], citations.link_anchor[link]
    node = (np.searchsorted(citations.link_offsets, link, side="right") - 1).astype(np.uint32)
    begins = citations.node_pages[[batch.start for batch in batches]]
    number = np.searchsorted(begins, page, side="right") - 1
    order = np.argsort(number, kind="stable")
    numbers, starts = np.unique(number[order], return_index=True)
    for each, places in zip(numbers.tolist(), np.split(order, starts[1:]), strict=False):
        yield each, OwnLinks(node[places], page[places], anchor[places])


def join_links(parts: Sequence[OwnLinks]) -> OwnLinks:
    """The links of a batch in the order of nodes, pages and anchors, from parts in any order."""
    node, page, anchor = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((anchor, page, node))
    return OwnLinks(node[order], page[order], anchor[order])


def cut_fragments(folding: Folding, own: range, links: OwnLinks) -> Fragments:
    """The fragments of the batch of the pages of some nodes, with all their links.

    The time and the memory that this takes depend on the batch, not on the collection.
    """
    citations = folding.citations
    target = links.node.astype(np.int64)
    is_other = (target < own.start) | (target >= own.stop)
    others = np.unique(target[is_other])
    nodes = np.concatenate([np.arange(own.start, own.stop), others])  # in the batch, the nodes have these places
    place = target - own.start
    place[is_other] = len(own) + np.searchsorted(others, target[is_other])
    order = np.argsort(place, kind="stable")
    offsets = offsets_of(np.bincount(place, minlength=len(nodes)))
    offsets.flags.writeable = False  # as in a store, for which the kernel is compiled
    batch = citations._replace(
        node_pages=citations.node_pages[own.start : own.stop + 1],
        link_offsets=offsets,
        link_page=links.page[order],
        link_anchor=links.anchor[order],
        link_counts=np.ones(len(order), np.uint8),
    )
    folded = fold_range(folding._replace(citations=batch), range(len(nodes)), citing=own)
    node = np.repeat(nodes, folded.lengths).astype(np.uint32)
    return add_fragments([Fragments(node, *folded[1:])], folding.words)


def add_fragments(fragments: Sequence[Fragments], words: int) -> Fragments:
    """The sum of fragments. A citing node, a term from `words` on, counts once."""
    node, term, *sums = (np.concatenate(column) for column in zip(*fragments, strict=True))
    order = np.lexsort((term, node))
    node, term = node[order], term[order]
    new = np.ones(len(node), bool)
    new[1:] = (node[1:] != node[:-1]) | (term[1:] != term[:-1])
    starts = np.flatnonzero(new)
    count, content, around = (np.add.reduceat(column[order], starts) if len(starts) else column for column in sums)
    around = np.where(term[starts] >= words, np.minimum(around, 1.0), around)
    return Fragments(node[starts], term[starts], count.astype(np.uint32), content, around)
