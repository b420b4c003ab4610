"""Latent similarity as evidence: pages about the same subject, even where they say it in different words.

The score is the cosine of two pages in the leading dimensions of the contents of all pages (latent semantic analysis),
0 where it is negative.
"""

from typing import Any

import numpy as np

from pagekin.latent.vectors import Vectors, inverse_frequencies, quantised, term_weights
from pagekin.model.arrays import Floats, Int64s
from pagekin.search.evidence import largest
from pagekin.search.node_store import NodeStore
from pagekin.search.query import Query, TermCounts, bag_of
from pagekin.search.vectors import CosineEvidence

WORDS = 5  # that explain a similarity
_HEAVIEST = 50  # terms of a bag among which these are looked for


class LatentEvidence(CosineEvidence):
    """The cosine of latent vectors. A text from outside gets a vector from those of its words."""

    name = "latent"

    def __init__(self, store: NodeStore) -> None:
        super().__init__(store.latent)
        self._store, self._terms = store, store.latent.terms
        self.complete = not store.index.strategy.outside  # pages that are known only from links have no vector

    def queries(self, query: Query) -> Vectors:
        """The vector of each page of a query, or of its text from outside."""
        if query.outside is None:
            return super().queries(query)
        return quantised(self._folded_in(query.outside)[np.newaxis])

    def _folded_in(self, text: TermCounts) -> Floats:
        """The vector of a text from outside: the sum of the vectors of its words by their weights."""
        contents = self._store.index.contents
        inverse = inverse_frequencies(contents.frequency[text.word], len(contents.length))
        lead = text.lead if text.lead is not None else text.count
        return np.asarray(term_weights(lead, inverse) @ self._terms.take(text.word), np.float64)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """Words of each page that speak for the similarity though the query does not have them."""
        queries, index = self.queries(query), self._store.index
        direction = (queries.row / np.maximum(queries.norm, 1.0)[:, np.newaxis]).mean(axis=0)
        own = np.zeros(index.words + 1, bool)  # words of the query; the last entry stands for terms that are no words
        own[np.minimum(query.bag.term, index.words)] = own[-1] = True
        bags = [bag_of(index, node) for node in nodes.tolist()]
        term = np.concatenate([np.empty(0, np.uint32), *(bag.term[:_HEAVIEST] for bag in bags)])
        weight = np.concatenate([np.empty(0, np.float32), *(bag.weight[:_HEAVIEST] for bag in bags)])
        row = np.repeat(np.arange(len(bags)), [min(len(bag.term), _HEAVIEST) for bag in bags])
        new = ~own[np.minimum(term, index.words)]
        term, row = term[new], row[new]
        parts = weight[new] * np.einsum("ij,j->i", self._terms.take(term), direction)  # a product would start threads
        reasons: list[dict[str, Any]] = []
        for k in range(len(bags)):
            speaking = np.flatnonzero((row == k) & (parts > 0.0))
            best = speaking[largest(parts[speaking], term[speaking], WORDS)].tolist()
            reasons.append({"related_words": [index.terms.shown[int(term[each])] for each in best]} if best else {})
        return reasons
