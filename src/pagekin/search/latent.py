"""Latent similarity as evidence: pages about the same subject, even where they say it in different words.

The score is the cosine of two pages in the leading dimensions of the contents of all pages (latent semantic analysis),
0 where it is negative.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pagekin.latent.vectors import Vectors, inverse_frequencies, quantised, term_weights
from pagekin.model.arrays import Floats, Int64s
from pagekin.search.evidence import Evidence, PairScores, ranked
from pagekin.search.node_store import NodeStore
from pagekin.search.query import Query, TermCounts, bag_of

WORDS = 5  # that explain a similarity
_HEAVIEST = 200  # terms of a bag among which these are looked for


class LatentEvidence(Evidence):
    """The cosine of latent vectors. A text from outside gets a vector from those of its words."""

    name = "latent"

    def __init__(self, store: NodeStore) -> None:
        self._store, self._latent = store, store.latent

    def candidates(self, query: Query, n: int) -> Int64s:
        """The `n` pages with the largest cosines that pass the filters, among those of the nearest lists."""
        queries = self._queries(query)
        nodes = self._latent.search(queries)
        nodes = nodes[~np.isin(nodes, query.exclude)]
        scores = self._scores(queries, nodes)
        least = np.partition(scores, -n)[-n] if query.allowed is None and len(nodes) > n else 0.0
        likely = (scores >= least) & (scores > 0.0)
        nodes, scores = nodes[likely], scores[likely]
        return np.array([node for _, node in ranked(query, n, nodes, scores, scores)], np.int64)

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The cosines; of several pages the mean."""
        return self._scores(self._queries(query), nodes)

    def _scores(self, queries: Vectors, nodes: Int64s) -> Floats:
        return np.asarray(np.maximum(self._latent.pages.cosines(queries, nodes), 0.0).mean(axis=1), np.float64)

    def _queries(self, query: Query) -> Vectors:
        """The vector of each page of a query, or of its text from outside."""
        if query.outside is None:
            return self._latent.pages.take(np.array(query.nodes, np.int64))
        return quantised(self._folded_in(query.outside)[np.newaxis])

    def _folded_in(self, text: TermCounts) -> Floats:
        """The vector of a text from outside: the sum of the vectors of its words by their weights."""
        contents = self._store.index.contents
        inverse = inverse_frequencies(contents.frequency[text.word], len(contents.length))
        lead = text.lead if text.lead is not None else text.count
        return np.asarray(term_weights(lead, inverse) @ self._latent.terms.take(text.word), np.float64)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """Words of each page that speak for the similarity though the query does not have them."""
        queries, index = self._queries(query), self._store.index
        direction = (queries.row / np.maximum(queries.norm, 1.0)[:, np.newaxis]).mean(axis=0)
        own = np.zeros(index.words + 1, bool)  # words of the query; the last entry stands for terms that are no words
        own[np.minimum(query.bag.term, index.words)] = own[-1] = True
        reasons = []
        for node in nodes.tolist():
            bag = bag_of(index, node)
            new = ~own[np.minimum(bag.term[:_HEAVIEST], index.words)]
            term, weight = bag.term[:_HEAVIEST][new], bag.weight[:_HEAVIEST][new]
            parts = weight * (self._latent.terms.take(term) @ direction)
            best = [k for k in np.lexsort((term, -parts))[:WORDS].tolist() if parts[k] > 0.0]
            reasons.append({"related_words": [index.terms.shown[int(term[k])] for k in best]} if best else {})
        return reasons

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        """All pairs by matrix products."""
        return LatentPairs(self._latent.pages.take(nodes))


class LatentPairs(PairScores):
    """Rows of cosines over a population."""

    def __init__(self, pages: Vectors) -> None:
        self._rows = pages.row.astype(np.float32)  # products are integers, which float32 holds exactly
        self._norms = pages.norm.astype(np.float64)

    def scores(self, sources: Int64s) -> Floats:
        """The cosines, to nine places, 0 where they are negative."""
        lengths = np.outer(self._norms[sources], self._norms)
        products = self._rows[sources] @ self._rows.T
        cosines = np.divide(products, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
        return np.asarray(np.maximum(cosines.round(9), 0.0), np.float64)
