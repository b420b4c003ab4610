"""Scorers: compare one query at a time with the pages of an index.

There are two, with the same results to the last bit. Importing the compiler takes longer than answering a query, so a
process that asks a few queries uses numpy alone, and one that goes on gets the compiled kernels.
"""

import math
import threading

import numpy as np

from pagekin.index.index import Index
from pagekin.kernels import compile as kernels
from pagekin.model.arrays import Floats, Int64s, Unsigned, spans
from pagekin.search.query import Bag, WeightedQuery, WeightTables

_FEW = 8  # queries before kernels are worth loading

# How many candidates are compared, chosen so that few of the ten most similar pages are missed
# (benchmarks/querying.py measures the recall).
SLACK = 2.0  # standard deviations by which a candidate may agree less often than the last one wanted
MOST = 4000  # candidates whose heads are compared
TRUST = 0.3  # in the estimate of what the terms outside the heads share


def room_for(wanted: int) -> int:
    """How many candidates are compared exactly."""
    return 40 + 2 * wanted


class Scorer:
    """Compares one query at a time with pages, in numpy."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.asked = np.zeros(index.words + len(index.bags), np.float32)  # the bag of the query: a weight for any term
        self.worth = np.zeros(index.words)  # of every word to the query, for measures with weights of their own
        self._loaded: tuple[Bag, WeightedQuery | None] | None = None

    def load(self, bag: Bag, weighted: WeightedQuery | None = None) -> None:
        """Spread the weights of a query over all terms, in place of those of the query before."""
        if self._loaded is not None:
            before, weighted_before = self._loaded
            if before is bag and weighted_before is weighted:
                return
            self.asked[before.term] = 0.0
            if weighted_before is not None:
                self.worth[weighted_before.word] = 0.0
        self._loaded = None
        self.asked[bag.term] = bag.weight
        if weighted is not None:
            self.worth[weighted.word] = weighted.worth
        self._loaded = bag, weighted

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
        """The bag Jaccard of the most promising nodes, and these nodes in ascending order."""
        nodes = self.narrowed(signature, but, wanted)
        return jaccard(self.minima(nodes)), nodes

    def narrowed(self, signature: Unsigned, but: tuple[int, ...], wanted: int, room: int = 0) -> Int64s:
        """The nodes that are likely among the `wanted` most similar ones, in order of nodes.

        These are all nodes whose signatures agree anywhere, if there is room to compare them. Otherwise they are the
        nodes that agree about as often as the last one wanted; of many such, those with the highest estimate from the
        heads of their bags. `room` raises the number that is compared exactly.
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
        """For each node, the sum of the minima of its weights and those of the query."""
        row, mine, theirs = self._side_by_side(nodes)
        return _sums(row, np.minimum(mine, theirs), len(nodes))

    def products(self, nodes: Int64s) -> tuple[Floats, Floats]:
        """For each node, the inner product with the query, and the sum of its own squared weights."""
        row, mine, theirs = self._side_by_side(nodes)
        return _sums(row, mine * theirs, len(nodes)), _sums(row, theirs * theirs, len(nodes))

    def weighted_products(self, nodes: Int64s, tables: WeightTables) -> Floats:
        """For each node, the sum over its words of their weight there times their worth to the query."""
        row, places = self.index.bags.places(nodes)
        term = self.index.bags.term[places]
        words = term < len(self.worth)
        row, places = row[words], places[words]
        weight = tables.weights(nodes[row], self.index.bags.content[places])
        return _sums(row, self.worth[term[words]] * weight, len(nodes))

    def _side_by_side(self, nodes: Int64s) -> tuple[Int64s, Floats, Floats]:
        """For all terms of all nodes: which node, the weight in the query, the weight in the node."""
        bags = self.index.bags
        row, places = bags.places(nodes)
        return row, self.asked[bags.term[places]].astype(np.float64), bags.weight[places].astype(np.float64)


class CompiledScorer(Scorer):
    """Compares with compiled kernels. `agreements` come in no order; the rest is the same to the last bit."""

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._counts = np.zeros(len(index.bags), np.int64)
        self._touched = np.empty(len(index.bags), np.int64)
        self._bags = index.bags.offsets, index.bags.term, index.bags.weight
        self._postings = index.signatures, index.inverted.postings, index.inverted.buckets, index.inverted.shift

    def agreements(self, signature: Unsigned) -> tuple[Int64s, Int64s]:
        from pagekin.kernels.query import collide

        found = collide(signature, *self._postings, self._counts, self._touched)
        nodes = self._touched[:found].copy()
        counts = self._counts[nodes]
        self._counts[nodes] = 0
        return nodes, counts

    def compared(self, signature: Unsigned, but: tuple[int, ...], wanted: int) -> tuple[Floats, Int64s]:
        from pagekin.kernels.query import CandidateLimits, compare

        limits = CandidateLimits(room_for(wanted), MOST, SLACK, TRUST)
        columns = *self._postings, self.asked, *self._bags, self.index.heads.term, self.index.heads.weight
        return compare(signature, np.array(but, np.int64), wanted, limits, *columns, self._counts, self._touched)

    def minima(self, nodes: Int64s) -> Floats:
        from pagekin.kernels.query import minima

        shared = np.empty(len(nodes))
        minima(self.asked, *self._bags, nodes, shared)
        return shared

    def products(self, nodes: Int64s) -> tuple[Floats, Floats]:
        from pagekin.kernels.query import products

        shared, squares = np.empty(len(nodes)), np.empty(len(nodes))
        products(self.asked, *self._bags, nodes, shared, squares)
        return shared, squares

    def weighted_products(self, nodes: Int64s, tables: WeightTables) -> Floats:
        from pagekin.kernels.query import weigh_products

        bags, shared = self.index.bags, np.empty(len(nodes))
        curve = (tables.rise, tables.scale, tables.base, tables.slope)
        weigh_products(self.worth, bags.offsets, bags.term, bags.content, nodes, *curve, shared)
        return shared


class ScorerPool:
    """Gives every thread a scorer of its own."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._queries = 0
        self._last: Bag | None = None
        self._scorers = threading.local()

    def scorer(self, bag: Bag) -> Scorer:
        """The scorer of this thread, for a query with this bag."""
        self._queries += bag is not self._last
        self._last = bag
        kind = CompiledScorer if self._queries > _FEW or kernels.at_hand() else Scorer
        scorer = getattr(self._scorers, "scorer", None)
        if type(scorer) is not kind:
            scorer = self._scorers.scorer = kind(self._index)
        return scorer


def jaccard(minima: Floats) -> Floats:
    """Similarities from sums of minima, to nine places. Bags sum to 1, so sum(max) = 2 - sum(min)."""
    return (minima / (2.0 - minima)).round(9)


def _enough(counts: Int64s, wanted: int) -> int:
    """In how many coordinates a node must agree to be a candidate; see `min_agreement` in `kernels/query.py`."""
    at_least = np.cumsum(counts[:0:-1])[::-1]  # nodes that agree once or more, twice or more, ...
    last = max(1, int(np.count_nonzero(at_least >= wanted)))
    least = max(1, math.ceil(last - SLACK * math.sqrt(last)))
    fitting = [k for k in range(least, last) if at_least[k - 1] <= MOST]
    return min(fitting, default=last)


def _sums(row: Int64s, values: Floats, rows: int) -> Floats:
    """Sums by row, added in order as a loop does: numpy's pairwise sums round differently."""
    return np.asarray(np.bincount(row, values, rows), np.float64)


def _row_sums(values: Floats) -> Floats:
    """The same for the rows of a table."""
    return np.asarray(np.cumsum(values, axis=1)[:, -1], np.float64)
