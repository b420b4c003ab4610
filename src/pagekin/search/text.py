"""Text as evidence: pages whose bags share much weight, or whose contents have a large inner product of weights.

Candidates come from collisions of min-hash signatures; their similarity is exact, from the stored bags. `Jaccard` and
`Cosine` compare the weights of bags; `WeightedText` has weights that come from counts: Okapi BM25 and LinkLearn.
"""

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from pagekin.index.index import Index
from pagekin.model.arrays import Floats, Int64s, UInt32s, offsets_of
from pagekin.model.weighting import Weighting
from pagekin.search.evidence import Evidence, PairScores, ranked
from pagekin.search.query import Query, QueryWeights, WeightedQuery, term_counts
from pagekin.search.scorer import Scorer, ScorerPool, jaccard

TERMS = 5  # shared terms that explain a similarity


class TextEvidence(Evidence):
    """What is common to all ways to compare the text of pages."""

    name = "text"
    slack = 1  # times the wanted number of candidates that is taken from signatures
    room = 0  # candidates that are compared exactly, if more than usual

    def __init__(self, index: Index, scorers: ScorerPool) -> None:
        self.index, self._scorers = index, scorers

    def scorer(self, query: Query) -> Scorer:
        """A scorer with the query loaded."""
        scorer = self._scorers.scorer()
        scorer.load(query.bag, self._weighted(query))
        return scorer

    def _weighted(self, query: Query) -> WeightedQuery | None:
        """The worth of the words of a query, for measures with weights of their own."""
        return None

    def candidates(self, query: Query, n: int) -> Int64s:
        return np.array([node for _, node in self.nearest(query, n)], np.int64)

    def nearest(self, query: Query, n: int) -> list[tuple[float, int]]:
        """The `n` best nodes that pass the filters, with their similarities.

        The most promising nodes are compared exactly. If the filters leave too few of them, all nodes whose signature
        agrees anywhere are compared.
        """
        scores, nodes = self._likely(query, n)
        similar = self.similarities(query, scores)
        found = ranked(query, n, nodes, scores, similar)
        if len(found) < n and similar.min(initial=np.inf) >= query.min_similarity:
            nodes = np.setdiff1d(self.scorer(query).agreements(query.signature)[0], query.exclude)
            scores = self.scores(query, nodes)
            found = ranked(query, n, nodes, scores, self.similarities(query, scores))
        return found

    def _likely(self, query: Query, n: int) -> tuple[Floats, Int64s]:
        """The scores of the most promising nodes, and these nodes."""
        nodes = self.scorer(query).narrowed(query.signature, query.exclude, self.slack * n, self.room)
        return self.scores(query, nodes), nodes

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The words that the query shares with each node and their shares of the score, the largest first."""
        scorer, shown = self.scorer(query), self.index.terms.shown
        row, places = self.index.bags.places(nodes)
        term = self.index.bags.term[places]
        parts = self._parts(scorer, query, nodes[row], places, term)
        total = np.bincount(row, parts, len(nodes))
        told = (parts > 0.0) & (term < self.index.words) & (total > 0.0)[row]
        if (own := self._own_words(query)) is not None:
            told &= np.isin(term, own)
        row, term, parts = row[told], term[told], parts[told]
        reasons = []
        for k, (begin, end) in enumerate(pairwise(np.searchsorted(row, np.arange(len(nodes) + 1)).tolist())):
            best = _largest(parts[begin:end], term[begin:end], TERMS)
            terms, shares = term[begin:end][best].tolist(), (parts[begin:end][best] / total[k]).tolist()
            reasons.append({"terms": [(shown[each], share) for each, share in zip(terms, shares, strict=True)]})
        return reasons

    def _own_words(self, query: Query) -> UInt32s | None:
        """The words that may explain a score, if others contribute as well."""
        return None

    @abstractmethod
    def _parts(self, scorer: Scorer, query: Query, node: Int64s, places: Int64s, term: UInt32s) -> Floats:
        """What each term of some nodes' bags adds to their scores."""


class BagEvidence(TextEvidence):
    """Measures that compare the weights of bags. Scores have nine places."""

    cosine = False

    def _weights(self, scorer: Scorer, places: Int64s, term: UInt32s) -> tuple[Floats, Floats]:
        return scorer.asked[term].astype(np.float64), self.index.bags.weight[places].astype(np.float64)

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        return BagPairs(self.index, nodes, self.cosine)


class Jaccard(BagEvidence):
    """The sum of the minima of weights over the sum of their maxima."""

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        return jaccard(self.scorer(query).minima(nodes))

    def _likely(self, query: Query, n: int) -> tuple[Floats, Int64s]:
        return self.scorer(query).compared(query.signature, query.exclude, n)

    def _parts(self, scorer: Scorer, query: Query, node: Int64s, places: Int64s, term: UInt32s) -> Floats:
        return np.minimum(*self._weights(scorer, places, term))


class Cosine(BagEvidence):
    """The cosine of the weights as vectors."""

    cosine = True

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        both, squares = self.scorer(query).products(nodes)
        own = float(np.square(query.bag.weight, dtype=np.float64).sum())
        lengths = np.sqrt(own * squares)
        return np.divide(both, lengths, out=np.zeros(len(nodes)), where=lengths > 0).round(9)

    def _parts(self, scorer: Scorer, query: Query, node: Int64s, places: Int64s, term: UInt32s) -> Floats:
        mine, theirs = self._weights(scorer, places, term)
        return mine * theirs


class BagPairs(PairScores):
    """The bags of a population, inverted, so that a row costs as many steps as its terms have bags."""

    def __init__(self, index: Index, nodes: Int64s, cosine: bool) -> None:
        """Of all bags, those of `nodes` are compared, by cosine or else by Jaccard; -1 is a page without a bag."""
        from pagekin.kernels.all_pairs import invert  # loads the compiler

        row, places = index.bags.places(nodes)
        term, weight = index.bags.term[places], index.bags.weight[places]
        self._bags = _offsets(row, len(nodes)), term, weight
        self._inverted = invert(*self._bags, int(term.max(initial=0)) + 1)
        self._lengths = np.sqrt(np.bincount(row, np.square(weight, dtype=np.float64), len(nodes))) if cosine else None

    def scores(self, sources: Int64s) -> Floats:
        from pagekin.kernels.all_pairs import cosines, jaccards  # loads the compiler

        rows = np.empty((len(sources), len(self._bags[0]) - 1))
        if self._lengths is None:
            jaccards(sources, *self._bags, self._inverted, rows)
        else:
            cosines(sources, *self._bags, self._inverted, self._lengths, rows)
        return rows


class WeightedText(TextEvidence):
    """Inner products of the weights of words. The similarity is the share of the query's score with itself."""

    # Bags foretell these scores less well, so that more candidates are compared and may agree less often.
    slack = 10
    room = 800

    def __init__(self, index: Index, scorers: ScorerPool, weights: QueryWeights, weighting: Weighting) -> None:
        super().__init__(index, scorers)
        self._weights, self._weighting = weights, weighting
        self._last: tuple[Query, WeightedQuery] | None = None

    def _weighted(self, query: Query) -> WeightedQuery:
        if self._last is None or self._last[0].bag is not query.bag:
            self._last = query, self._weights.weighted(self._weighting, term_counts(self.index, query))
        return self._last[1]

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        return self.scorer(query).weighted_products(nodes, self._weighted(query).tables).round(9)

    def similarities(self, query: Query, scores: Floats) -> Floats:
        own = self._weighted(query).own
        return (np.clip(scores / own, 0.0, 1.0) if own > 0.0 else np.zeros(len(scores))).round(9)

    def _own_words(self, query: Query) -> UInt32s | None:
        weighted = self._weighted(query)
        return weighted.said if len(weighted.said) < len(weighted.word) else None  # a projection adds other words

    def _parts(self, scorer: Scorer, query: Query, node: Int64s, places: Int64s, term: UInt32s) -> Floats:
        words = np.minimum(term, self.index.words)
        weights = self._weighted(query).tables.weights(node, self.index.bags.content[places])
        return np.append(scorer.worth, 0.0)[words] * weights

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        return WeightedPairs(self.index, nodes, self._weighting)


class WeightedPairs(PairScores):
    """The weighted words of a population, inverted, and what a projection makes of each page."""

    def __init__(self, index: Index, nodes: Int64s, weighting: Weighting) -> None:
        """Of all pages, those of `nodes` are compared; -1 is a page without a bag."""
        from pagekin.kernels.all_pairs import invert  # loads the compiler

        bags, contents = index.bags, index.contents
        row, places = bags.places(nodes)
        words = (bags.term[places] < len(contents.frequency)) & (bags.content[places] > 0)
        places, row = places[words], row[words]
        term, count = bags.term[places], bags.content[places]
        weight = weighting.weigh(count, contents.frequency[term], contents.length[nodes[row]], contents.size)
        weight[contents.stopped[term]] = 0.0
        self._projected = _projected(weighting, index, len(nodes), row, term, weight)
        asking = np.ones(len(weight)) if weighting.binary else weight
        kept = asking != 0.0
        self._queries = _offsets(row[kept], len(nodes)), term[kept], asking[kept].astype(np.float32)
        terms = int(term.max(initial=0)) + 1
        self._inverted = invert(_offsets(row, len(nodes)), term, weight.astype(np.float32), terms)

    def scores(self, sources: Int64s) -> Floats:
        from pagekin.kernels.all_pairs import PLACES, products  # loads the compiler

        rows = np.empty((len(sources), len(self._projected)))
        products(sources, *self._queries, self._inverted, rows)
        rows = np.rint(rows * PLACES) / PLACES
        if self._projected.shape[1]:
            rows = (rows + self._projected[sources] @ self._projected.T).round(9)
        return rows

    def similarities(self, sources: Int64s) -> Floats:
        return shares_of_own(np.maximum(self.scores(sources), 0.0), sources)


def shares_of_own(rows: Floats, sources: Int64s) -> Floats:
    """Rows of inner products as shares of that of the source with itself, 1 at most.

    >>> shares_of_own(np.array([[4.0, 1.0], [3.0, 2.0]]), np.array([0, 1])).tolist()
    [[1.0, 0.25], [1.0, 1.0]]
    """
    own = rows[np.arange(len(sources)), sources][:, np.newaxis]
    return np.clip(np.divide(rows, own, out=np.zeros_like(rows), where=own > 0.0), 0.0, 1.0)


def _projected(weighting: Weighting, index: Index, pages: int, row: Int64s, term: UInt32s, weight: Floats) -> Floats:
    """The projection of each page; without one, no columns."""
    if weighting.projection is None:
        return np.zeros((pages, 0))
    known_term, place = weighting.projection.places(list(index.terms.name))
    place_of = np.full(index.words, -1, np.int64)
    place_of[known_term] = place
    known = place_of[term] >= 0
    matrix, weight, page = weighting.projection.matrix[place_of[term[known]]], weight[known], row[known]
    return np.stack([np.bincount(page, weight * column, pages) for column in matrix.T], axis=1)


def _largest(parts: Floats, term: UInt32s, most: int) -> Int64s:
    """The places of the largest parts, the largest first; equal ones in the order of terms."""
    if len(parts) <= most:
        return np.lexsort((term, -parts))
    likely = np.flatnonzero(parts >= np.partition(parts, -most)[-most])
    return likely[np.lexsort((term[likely], -parts[likely]))[:most]]


def _offsets(row: Int64s, rows: int) -> Int64s:
    return offsets_of(np.bincount(row, minlength=rows))
