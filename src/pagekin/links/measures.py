"""How alike are two pages by their links? Equation 4 of the paper, for all pairs above a threshold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pagekin.kernels.similar_pairs import Direct, Sets, make_buffers, pairs_above
from pagekin.links.link_graph import LinkGraph
from pagekin.model.arrays import Floats, Int64s, UInt32s

MEASURES = ("co-citation", "coupling", "amsler", "proximity")
HALF = 64.0  # words between two links that make them count one half in `proximity`
ROOM = 1 << 16  # pairs that are found at a time


@dataclass(frozen=True)
class SimilarPairs:
    """Pairs of nodes and their similarities."""

    first: Int64s
    second: Int64s
    value: Floats

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True)
class LinkSets:
    """The sets C(p) of the pages to compare, the largest first, made ready for finding pairs."""

    node: Int64s  # of each set
    sets: Sets
    direct: Direct
    half: float

    def pieces(self, delta: float) -> Iterator[tuple[UInt32s, UInt32s, Floats]]:
        """(set, set, similarity) of the pairs that are at least `delta` alike.

        They come in pieces of bounded size, in no order, and each takes the place of the last.
        """
        work, begin = make_buffers(self.sets, ROOM), 0
        while begin < len(self.node):
            begin, count = pairs_above(self.sets, self.direct, work, begin, delta, self.half)
            yield work.one[:count], work.other[:count], work.value[:count]

    def pairs(self, delta: float) -> SimilarPairs:
        """The same, all at once: the smaller node of each pair first, and by first, then by second node."""
        nothing = np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0)
        pieces = [tuple(column.copy() for column in piece) for piece in self.pieces(delta)]
        one, other, value = map(np.concatenate, zip(nothing, *pieces, strict=True))
        ends = self.node[one], self.node[other]
        first, second = np.minimum(*ends), np.maximum(*ends)
        order = np.argsort(first * (int(self.node.max(initial=0)) + 1) + second)
        return SimilarPairs(first[order], second[order], value[order])

    def mean(self) -> float:
        """The mean similarity of the pairs that have any."""
        sums = [(float(value.sum()), len(value)) for _, _, value in self.pieces(0.0)]
        return sum(each for each, _ in sums) / max(1, sum(count for _, count in sums))


def compare(web: LinkGraph, measure: str) -> LinkSets:
    """Make the sets of a measure ready."""
    page, element, link = _elements(web, measure)
    weight = web.weight if measure in ("coupling", "amsler") else np.ones(len(web))
    size = _sums(page, weight[element], len(web))
    nodes = np.flatnonzero(web.compared)
    nodes = nodes[np.argsort(-size[nodes], kind="stable")]
    number = np.full(len(web), -1)
    number[nodes] = np.arange(len(nodes))
    mine = number[page] >= 0
    page, element, link = number[page[mine]], element[mine], link[mine]
    by_set, by_element = np.argsort(page * len(web) + element), np.argsort(element * len(web) + page)
    sets = Sets(
        offsets=_offsets(page, len(nodes)),
        element=element[by_set].astype(np.uint32),
        size=size[nodes],
        weight=weight,
        holder_offsets=_offsets(element, len(web)),
        holder=page[by_element].astype(np.uint32),
        link=link[by_element].astype(np.uint32),
        position_offsets=web.pairs.place_offsets,
        position=web.pairs.place,
    )
    direct = _direct(
        number[web.pairs.citing], number[web.pairs.cited], page, number[element], weight[element], len(nodes)
    )
    return LinkSets(nodes, sets, direct, HALF if measure == "proximity" else 0.0)


def _elements(web: LinkGraph, measure: str) -> tuple[Int64s, Int64s, Int64s]:
    """(page, element, pair) for all that is in the set C of a page, and the pair of nodes that put it there."""
    pairs = web.pairs
    incoming = web.page, pairs.citing[web.in_link], web.in_link
    outgoing = pairs.citing, pairs.cited, np.arange(len(pairs))
    if measure == "coupling":
        return outgoing
    if measure != "amsler":
        return incoming
    page, element, link = (np.concatenate(both) for both in zip(incoming, outgoing, strict=True))
    once = np.unique(page * len(web) + element, return_index=True)[1]
    return page[once], element[once], link[once]


def _offsets(rows: Int64s, count: int) -> Int64s:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(rows, minlength=count))])


def _sums(rows: Int64s, values: Floats, count: int) -> Floats:
    return np.asarray(np.bincount(rows, values, count), np.float64)


def _direct(citing: Int64s, cited: Int64s, page: Int64s, element: Int64s, weight: Floats, sets: int) -> Direct:
    """Pairs of sets that link to each other, or of which one is in the other; numbers below 0 are no sets."""
    one, other = np.concatenate([citing, page]), np.concatenate([cited, element])
    links = np.concatenate([np.ones(len(citing)), np.zeros(len(page))])
    inside = np.concatenate([np.zeros(len(citing)), weight])
    both = (one >= 0) & (other >= 0)
    keys = (np.minimum(one, other) * sets + np.maximum(one, other))[both]
    found, place = np.unique(keys, return_inverse=True)
    first, second = found // max(1, sets), found % max(1, sets)
    return Direct(
        _offsets(first, sets),
        second.astype(np.uint32),
        _sums(place, links[both], len(found)),
        _sums(place, inside[both], len(found)),
    )
