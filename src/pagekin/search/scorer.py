"""Scorers: compare one query at a time with the pages of an index."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from pagekin.index.index import Index
from pagekin.kernels import page_rows, weighted_rows
from pagekin.kernels import query as kernels
from pagekin.kernels.page_rows import PageRows
from pagekin.kernels.weighted_rows import CountCurve, Numbers, WordCounts, WordWorths
from pagekin.model.arrays import Floats, Int64s, Unsigned
from pagekin.search.query import Bag, WeightedQuery, WeightTables

AnyScorer = TypeVar("AnyScorer")

# How many candidates are compared, chosen so that few of the ten most similar pages are missed
# (benchmarks/querying.py measures the recall).
SLACK = 2.0  # standard deviations by which a candidate may agree less often than the last one wanted
MOST = 4000  # candidates whose heads are compared
TRUST = 0.3  # in the estimate of what the terms outside the heads share
_NOTHING = Bag(np.empty(0, np.uint32), np.empty(0, np.float32))


class Scorer:
    """Compares one query at a time with pages."""

    def __init__(self, index: Index) -> None:
        self.asked = np.zeros(index.words + len(index.bags), np.float32)  # the bag of the query: a weight for any term
        self.worth = np.zeros(index.words)  # of every word to the query, for measures with weights of their own
        self._bag = _NOTHING
        self._weighted: WeightedQuery | None = None
        self._counts = np.zeros(len(index.bags), np.int64)
        self._touched = np.empty(len(index.bags), np.int64)
        self._numbers = Numbers(
            np.zeros(index.words + 1, np.uint32), self._counts, np.zeros(index.words // 8 + 1, np.uint8)
        )
        self._bags, self._heads = index.bags, index.heads
        self._postings = index.signatures, index.inverted.postings, index.inverted.buckets, index.inverted.shift

    def load(self, bag: Bag, weighted: WeightedQuery | None = None) -> None:
        """Spread the weights of a query over all terms, in place of those of the query before."""
        if bag is not self._bag:
            self.asked[self._bag.term] = 0.0
            self._bag = _NOTHING
            self.asked[bag.term] = bag.weight
            self._bag = bag
        if weighted is not None and weighted is not self._weighted:
            self._load_worth(weighted)

    def _load_worth(self, weighted: WeightedQuery | None) -> None:
        if self._weighted is not None:
            self.worth[self._weighted.word] = 0.0
            self._weighted = None
        if weighted is not None:
            self.worth[weighted.word] = weighted.worth
            self._weighted = weighted

    def agreements(self, signature: Unsigned, but: tuple[int, ...] = ()) -> tuple[Int64s, Int64s]:
        """The nodes whose signatures agree with this one, in any order, and in how many coordinates (paper, figure 11).

        The number is 0 for nodes in `but`.
        """
        found = kernels.collide(signature, *self._postings, self._counts, self._touched)
        nodes = self._touched[:found].copy()
        self._counts[np.array(but, np.int64)] = 0
        counts = np.minimum(self._counts[nodes], len(signature))  # more, if a damaged file lists a page twice
        self._counts[nodes] = 0
        return nodes, counts

    def narrowed(self, signature: Unsigned, but: tuple[int, ...], wanted: int, room: int = 0) -> Int64s:
        """The nodes that are likely among the `wanted` most similar ones, in order of nodes.

        These are all nodes whose signatures agree anywhere, if there is room to compare them. Otherwise they are the
        nodes that agree about as often as the last one wanted; of many such, those with the highest estimate from the
        heads of their bags. `room` raises the number that is compared exactly.
        """
        limits = kernels.CandidateLimits(max(room, 40 + 2 * wanted), MOST, SLACK, TRUST)
        agreeing, heads = self.agreements(signature, but), self._heads
        return kernels.select_candidates(
            *agreeing, wanted, limits, len(signature), self.asked, heads.term, heads.weight
        )

    def minima(self, nodes: Int64s) -> Floats:
        """For each node, the sum of the minima of its weights and those of the query."""
        bags, shared = self._bags, np.empty(len(nodes))
        kernels.minima(self.asked, bags.offsets, bags.term, bags.weight, nodes, shared)
        return shared

    def minima_of_rows(self, pages: Int64s, rows: PageRows) -> Floats:
        """For each candidate of some pages, the sum of the minima of its weights and those of its page."""
        self.load(_NOTHING)
        bags, shared = self._bags, np.empty(len(rows.node))
        weights = page_rows.SparseVectors(bags.offsets, bags.term, bags.weight)
        page_rows.minima(pages, weights, rows, self.asked, shared)
        return shared

    def weighted_products_of_rows(self, asked: WordWorths, rows: PageRows, tables: WeightTables) -> Floats:
        """For each candidate, the sum over its words of their weight there times their worth to its page."""
        bags, shared = self._bags, np.empty(len(rows.node))
        counts, curve = (
            WordCounts(bags.offsets, bags.term, bags.content),
            CountCurve(tables.rise, tables.scale, tables.base, tables.slope),
        )
        weighted_rows.weighted_products(asked, counts, curve, rows, self._numbers, shared)
        return shared

    def products(self, nodes: Int64s) -> tuple[Floats, Floats]:
        """For each node, the inner product with the query, and the sum of its own squared weights."""
        bags, shared, squares = self._bags, np.empty(len(nodes)), np.empty(len(nodes))
        kernels.products(self.asked, bags.offsets, bags.term, bags.weight, nodes, shared, squares)
        return shared, squares

    def weighted_products(self, nodes: Int64s, tables: WeightTables) -> Floats:
        """For each node, the sum over its words of their weight there times their worth to the query."""
        bags, shared = self._bags, np.empty(len(nodes))
        curve = tables.rise, tables.scale, tables.base, tables.slope
        kernels.weigh_products(self.worth, bags.offsets, bags.term, bags.content, nodes, *curve, shared)
        return shared


class ScorerPool(threading.local, Generic[AnyScorer]):
    """A scorer for every thread: Python calls the constructor in each thread that uses the pool."""

    def __init__(self, make: Callable[[], AnyScorer]) -> None:
        self.scorer = make()


def jaccard(minima: Floats) -> Floats:
    """Similarities from sums of minima, to nine places. Bags sum to 1, so sum(max) = 2 - sum(min)."""
    return (minima / (2.0 - minima)).round(9)
