"""Latent similarity as evidence: pages about the same subject, even where they say it in different words.

The score is the cosine of two pages in the leading dimensions of the contents of all pages (latent semantic analysis),
0 where it is negative.
"""

from typing import Any

import numpy as np

from pagekin.kernels.query import largest_of_rows
from pagekin.latent.vectors import Vectors, inverse_frequencies, quantised, term_weights
from pagekin.model.arrays import Floats, Int64s, offsets_of, spans
from pagekin.search.node_store import NodeStore
from pagekin.search.query import Query, TermCounts
from pagekin.search.vectors import CosineEvidence

WORDS = 5  # that explain a similarity
_HEAVIEST = 50  # terms of a bag among which these are looked for


class LatentEvidence(CosineEvidence):
    """The cosine of latent vectors. A text from outside gets a vector from those of its words."""

    name = "latent"

    def __init__(self, store: NodeStore) -> None:
        super().__init__(store.latent)
        self._store, self._latent = store, store.latent
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
        return np.asarray(term_weights(lead, inverse) @ self._latent.of_terms(text.word), np.float64)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """Words of each page that speak for the similarity though the query does not have them."""
        queries, index, shown = self.queries(query), self._store.index, self._store.index.terms.shown
        direction = (queries.row / np.maximum(queries.norm, 1.0)[:, np.newaxis]).mean(axis=0)
        own = np.zeros(index.words + 1, bool)  # words of the query; the last entry stands for terms that are no words
        own[np.minimum(query.bag.term, index.words)] = own[-1] = True
        begin = index.bags.offsets[nodes]
        counts = np.minimum(index.bags.offsets[nodes + 1] - begin, _HEAVIEST)
        places = spans(begin, counts)
        new = np.flatnonzero(~own[np.minimum(index.bags.term[places], index.words)])
        term, weight = index.bags.term[places[new]], index.bags.weight[places[new]]
        parts = weight * self._latent.terms.products(term, direction)
        best = largest_of_rows(parts, term, np.searchsorted(new, offsets_of(counts)), WORDS)
        words = [[each for each in terms if each >= 0] for terms in np.append(term.astype(np.int64), -1)[best].tolist()]
        return [{"related_words": each} if each else {} for each in shown.take_lists(words)]
