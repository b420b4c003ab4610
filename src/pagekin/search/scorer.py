"""A desk is where one question at a time is worked on: agreements counted, bags laid side by side.

There are two, with the same results to the last bit. Importing a compiler takes longer than answering a question, so a
process that asks a few is served with numpy alone; one that goes on asking gets kernels.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pagekin.index.files import Index
from pagekin.model.arrays import Int64s, UInt32s, Unsigned, spans
from pagekin.search.weighted_text import WeightedQuery, WeightTables

Floats: TypeAlias = NDArray[np.float64]

_FEW = 8  # questions before kernels are worth loading

# How closely candidates are looked at, chosen so that few of the ten most similar pages are missed
# (benchmarks/querying.py prints how many).
SLACK = 2.0  # standard deviations by which a page may agree less often than the last one wanted
MOST = 4000  # candidates whose heads are compared
TRUST = 0.3  # in the guess of what the other terms share


def room_for(wanted: int) -> int:
    """How many candidates are compared exactly."""
    return 40 + 2 * wanted


@dataclass(frozen=True)
class Bag:
    """One bag, of a page or of a question."""

    term: UInt32s
    weight: NDArray[np.float32]


class Scorer:
    """Works with numpy."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.asked = np.zeros(index.words + len(index.bags), np.float32)  # the bag on the desk: a weight for any term

    @contextmanager
    def asking(self, bag: Bag, weighed: WeightedQuery | None = None) -> Iterator[None]:
        """Lay the bag that is asked for on the desk, and what its words are worth."""
        self.asked[bag.term] = bag.weight
        if weighed is not None:
            self.worth[weighed.word] = weighed.worth
        try:
            yield
        finally:
            self.asked[bag.term] = 0.0
            if weighed is not None:
                self.worth[weighed.word] = 0.0

    @cached_property
    def worth(self) -> Floats:
        """What every word is worth that is asked for, where weights are not those of bags."""
        return np.zeros(self.index.words)

    def agreements(self, signature: Unsigned) -> tuple[Int64s, Int64s]:
        """The nodes whose signatures agree with this one, and in how many coordinates (paper, figure 11)."""
        inverted = self.index.inverted
        rows = np.arange(len(signature))
        bucket = (signature >> np.uint32(inverted.shift)).astype(np.int64)
        first = inverted.buckets[rows, bucket].astype(np.int64)
        counts = inverted.buckets[rows, bucket + 1].astype(np.int64) - first
        coordinate = np.repeat(rows, counts)
        nodes = inverted.postings[coordinate, spans(first, counts)].astype(np.int64)
        same = self.index.signatures[nodes, coordinate] == signature[coordinate]
        return np.unique(nodes[same], return_counts=True)

    def compared(self, signature: Unsigned, but: tuple[int, ...], wanted: int) -> tuple[Floats, Int64s]:
        """The similarities of the most promising nodes to the bag on the desk, and these nodes; the best first."""
        nodes = self.narrowed(signature, but, wanted)
        similar = jaccard(self.minima(nodes))
        order = np.argsort(-similar, kind="stable")
        return similar[order], nodes[order]

    def narrowed(self, signature: Unsigned, but: tuple[int, ...], wanted: int, room: int = 0) -> Int64s:
        """The nodes that may well be among the `wanted` ones most similar to the bag on the desk, in order.

        All that agree anywhere, if there is room to compare them. Else those whose signatures agree about as often as
        the last one wanted; and of many such, those that promise most, by the heads of their bags and by a guess of
        what the rest shares. `room` is for how many of them, if more than usual.
        """
        nodes, agreements = self.agreements(signature)
        agreements[np.isin(nodes, but)] = 0
        room = max(room, room_for(wanted))
        counts = np.bincount(agreements, minlength=len(signature) + 1)
        likely = agreements >= (_enough(counts, wanted) if counts[1:].sum() > room else 1)
        nodes = nodes[likely]
        if len(nodes) <= room:
            return np.sort(nodes)
        theirs = self.index.heads.weight[nodes].astype(np.float64)
        both = np.minimum(self.asked[self.index.heads.term[nodes]], theirs)
        agreement = agreements[likely] / len(signature)
        guess = TRUST * (2.0 * agreement / (1.0 + agreement)) * (1.0 - _row_sums(theirs))
        scores = _row_sums(both) + guess
        return np.sort(nodes[np.lexsort((nodes, -scores))[:room]])

    def minima(self, nodes: Int64s) -> Floats:
        """For each node, the sum of the minima of its weights and those of the bag on the desk."""
        row, mine, theirs = self._side_by_side(nodes)
        return _sums(row, np.minimum(mine, theirs), len(nodes))

    def products(self, nodes: Int64s) -> tuple[Floats, Floats]:
        """For each node, the sum of the products of these weights, and of the squares of its own."""
        row, mine, theirs = self._side_by_side(nodes)
        return _sums(row, mine * theirs, len(nodes)), _sums(row, theirs * theirs, len(nodes))

    def weighed_products(self, nodes: Int64s, tables: WeightTables) -> Floats:
        """For each node, the sum of what the words of its contents weigh there, times what they are worth here."""
        row, places = self.places(nodes)
        term = self.index.bags.term[places]
        words = term < len(self.worth)
        row, places = row[words], places[words]
        weight = tables.weights(nodes[row], self.index.bags.content[places])
        return _sums(row, self.worth[term[words]] * weight, len(nodes))

    def _side_by_side(self, nodes: Int64s) -> tuple[Int64s, Floats, Floats]:
        """For all terms of all nodes: which node, the weight on the desk, the weight there."""
        bags = self.index.bags
        row, places = self.places(nodes)
        return row, self.asked[bags.term[places]].astype(np.float64), bags.weight[places].astype(np.float64)

    def places(self, nodes: Int64s) -> tuple[Int64s, Int64s]:
        """For all terms of all nodes: which node, and where the term stands."""
        begin = self.index.bags.offsets[nodes]
        counts = self.index.bags.offsets[nodes + 1] - begin
        return np.repeat(np.arange(len(nodes)), counts), spans(begin, counts)


class CompiledScorer(Scorer):
    """Works with kernels."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._counts = np.zeros(len(index.bags), np.int64)
        self._touched = np.empty(len(index.bags), np.int64)

    def agreements(self, signature: Unsigned) -> tuple[Int64s, Int64s]:
        """As above; in no order."""
        from pagekin.kernels.postings import collide

        index, inverted = self.index, self.index.inverted
        found = collide(
            signature,
            index.signatures,
            inverted.postings,
            inverted.buckets,
            inverted.shift,
            self._counts,
            self._touched,
        )
        nodes = self._touched[:found].copy()
        counts = self._counts[nodes]
        self._counts[nodes] = 0
        return nodes, counts

    def compared(self, signature: Unsigned, but: tuple[int, ...], wanted: int) -> tuple[Floats, Int64s]:
        """As above."""
        from pagekin.kernels.query import CandidateLimits, compare

        index, inverted, bags = self.index, self.index.inverted, self.index.bags
        return compare(
            signature,
            np.array(but, np.int64),
            wanted,
            CandidateLimits(room_for(wanted), MOST, SLACK, TRUST),
            index.signatures,
            inverted.postings,
            inverted.buckets,
            inverted.shift,
            self.asked,
            bags.offsets,
            bags.term,
            bags.weight,
            index.heads.term,
            index.heads.weight,
            self._counts,
            self._touched,
        )

    def minima(self, nodes: Int64s) -> Floats:
        """As above."""
        from pagekin.kernels.similarity import minima

        bags, shared = self.index.bags, np.empty(len(nodes))
        minima(self.asked, bags.offsets, bags.term, bags.weight, nodes, shared)
        return shared

    def products(self, nodes: Int64s) -> tuple[Floats, Floats]:
        """As above."""
        from pagekin.kernels.similarity import products

        bags, shared, squares = self.index.bags, np.empty(len(nodes)), np.empty(len(nodes))
        products(self.asked, bags.offsets, bags.term, bags.weight, nodes, shared, squares)
        return shared, squares

    def weighed_products(self, nodes: Int64s, tables: WeightTables) -> Floats:
        """As above."""
        from pagekin.kernels.similarity import weigh_products

        bags, shared = self.index.bags, np.empty(len(nodes))
        curve = (tables.rise, tables.scale, tables.base, tables.slope)
        weigh_products(self.worth, bags.offsets, bags.term, bags.content, nodes, *curve, shared)
        return shared


class ScorerPool:
    """Leads every thread to a desk of its own."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._queries = 0
        self._scorers = threading.local()

    def scorer(self) -> Scorer:
        """A desk for the next question."""
        self._queries += 1
        kind = CompiledScorer if self._queries > _FEW or "numba" in sys.modules else Scorer
        scorer = getattr(self._scorers, "scorer", None)
        if type(scorer) is not kind:
            scorer = self._scorers.scorer = kind(self._index)
        return scorer


def jaccard(minima: Floats) -> Floats:
    """Similarities to nine places. Bags sum to one: the sum of maxima is what the sum of minima leaves of two."""
    return (minima / (2.0 - minima)).round(9)


def _enough(counts: Int64s, wanted: int) -> int:
    """How often a page must agree to be a candidate; see `kernels/narrowing.py`."""
    so_often = np.cumsum(counts[:0:-1])[::-1]  # pages that agree once or more, twice or more, ...
    last = max(1, int(np.count_nonzero(so_often >= wanted)))
    least = max(1, math.ceil(last - SLACK * math.sqrt(last)))
    fitting = [k for k in range(least, last) if so_often[k - 1] <= MOST]
    return min(fitting, default=last)


def _sums(row: Int64s, values: Floats, rows: int) -> Floats:
    """Added up one after the other, as a loop would: numpy's own sums round otherwise."""
    return np.asarray(np.bincount(row, values, rows), np.float64)


def _row_sums(values: Floats) -> Floats:
    """The same for the rows of a table."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1], np.float64)
