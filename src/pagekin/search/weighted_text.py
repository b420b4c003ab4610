"""Text as evidence, by an inner product of weights that come from counts: Okapi BM25 and LinkLearn."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pagekin.index.index import Index
from pagekin.kernels import all_pairs
from pagekin.kernels.page_rows import PageRows
from pagekin.model.arrays import Floats, Int64s, UInt32s, offsets_of
from pagekin.model.weighting import Bm25, Weighting
from pagekin.search.evidence import SHORT_PAGES, PairScores
from pagekin.search.page_block import PageBlock, row_of
from pagekin.search.query import Query, QueryWeights, WeightedQuery, term_counts
from pagekin.search.scorer import Scorer, ScorerPool
from pagekin.search.text import TextEvidence

_PLACES = 1e9


class WeightedText(TextEvidence):
    """Inner products of the weights of words. The similarity is the share of the query's score with itself."""

    # Bags foretell these scores less well, so that more candidates are compared and may agree less often.
    slack = 10
    room = 800

    def __init__(self, index: Index, scorers: ScorerPool[Scorer], weights: QueryWeights, weighting: Weighting) -> None:
        super().__init__(index, scorers)
        self._weights, self._weighting = weights, weighting
        self._last: tuple[Query, WeightedQuery] | None = None

    def _weighted(self, query: Query) -> WeightedQuery:
        if self._last is None or self._last[0].bag is not query.bag:
            self._last = query, self._weights.weighted(self._weighting, term_counts(self.index, query))
        return self._last[1]

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The inner products, to nine places."""
        return self.scorer(query).weighted_products(nodes, self._weighted(query).tables).round(9)

    def similarities(self, query: Query, scores: Floats) -> Floats:
        own = self._weighted(query).own
        return (np.clip(scores / own, 0.0, 1.0) if own > 0.0 else np.zeros(len(scores))).round(9)

    def _own_words(self, query: Query) -> UInt32s | None:
        weighted = self._weighted(query)
        return weighted.said if len(weighted.said) < len(weighted.word) else None  # a projection adds other words

    def _parts(self, scorer: Scorer, query: Query, node: Int64s, places: Int64s, term: UInt32s) -> Floats:
        parts = self._weighted(query).tables.weights(node, self.index.bags.content[places])
        words = term < self.index.words
        parts[words] *= scorer.worth[term[words]]
        parts[~words] = 0.0
        return parts

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        return WeightedPairs(self.index, nodes, self._weighting)


class Bm25Evidence(WeightedText):
    """The inner product of BM25 weights, divided by the norm of the query. It has no candidates of its own."""

    name = "bm25"
    by_length = SHORT_PAGES

    def __init__(self, index: Index, scorers: ScorerPool[Scorer], weights: QueryWeights) -> None:
        super().__init__(index, scorers, weights, Bm25(1.2, 0.75))

    def candidates(self, query: Query, n: int) -> Int64s:
        """None: those of text are as good, and finding others would take longer than all else."""
        return np.empty(0, np.int64)

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The inner products over the norm of the query."""
        own = self._weighted(query).own
        return super().scores(query, nodes) / np.sqrt(own) if own > 0.0 else np.zeros(len(nodes))

    def scores_for(self, block: PageBlock, rows: PageRows) -> Floats:
        asked, own, tables = self._weights.weighted_block(self._weighting, block.node)
        products = self._scorers.scorer.weighted_products_of_rows(asked, rows, tables).round(9)
        root = np.sqrt(own)[row_of(rows)]
        return np.divide(products, root, out=np.zeros(len(products)), where=root > 0.0)

    def similarities(self, query: Query, scores: Floats) -> Floats:
        """The share of the query's score with itself, 1 at most."""
        return super().similarities(query, scores * np.sqrt(self._weighted(query).own))

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """Nothing: the words that pages share explain their text similarity already."""
        return [{} for _ in nodes]

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        """All pairs of pages at once."""
        return Bm25Pairs(self.index, nodes, self._weighting)


class WeightedPairs(PairScores):
    """The weighted words of a population, inverted, and what a projection makes of each page."""

    def __init__(self, index: Index, nodes: Int64s, weighting: Weighting) -> None:
        """Of all pages, those of `nodes` are compared; -1 is a page without a bag."""
        bags, contents = index.checked_bags, index.contents
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
        self._inverted = all_pairs.invert(_offsets(row, len(nodes)), term, weight.astype(np.float32), terms)
        self._pages = len(nodes)

    def scores(self, sources: Int64s) -> Floats:
        """Rows of inner products, to nine places."""
        rows = np.empty((len(sources), self._pages))
        all_pairs.products(sources, *self._queries, self._inverted, rows)
        rows = np.rint(rows * _PLACES) / _PLACES
        if self._projected.shape[1]:
            rows = (rows + self._projected[sources] @ self._projected.T).round(9)
        return rows

    def similarities(self, sources: Int64s) -> Floats:
        """Shares of the score of each source with itself, 1 at most."""
        return shares_of_own(np.maximum(self.scores(sources), 0.0), sources)


class Bm25Pairs(WeightedPairs):
    """Rows of inner products over the norms of their sources."""

    def scores(self, sources: Int64s) -> Floats:
        rows = np.maximum(super().scores(sources), 0.0)
        own = np.sqrt(rows[np.arange(len(sources)), sources])[:, np.newaxis]
        return np.divide(rows, own, out=np.zeros_like(rows), where=own > 0.0)

    def similarities(self, sources: Int64s) -> Floats:
        return shares_of_own(self.scores(sources), sources)


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


def _offsets(row: Int64s, rows: int) -> Int64s:
    return offsets_of(np.bincount(row, minlength=rows))
