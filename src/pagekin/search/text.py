"""Text as evidence: pages whose bags share much weight.

Candidates come from collisions of min-hash signatures; their similarity is exact, from the stored bags. `MEASURES` has
the ways to compare bags.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from pagekin.index.index import Index
from pagekin.model.arrays import Floats, Int64s, UInt32s, spans
from pagekin.search.evidence import Evidence
from pagekin.search.query import Query
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
        scorer.load(query.bag)
        return scorer

    def candidates(self, query: Query, n: int) -> Int64s:
        """The `n` best nodes that pass the filters."""
        return np.array([node for _, node in self.nearest(query, n)], np.int64)

    def nearest(self, query: Query, n: int) -> list[tuple[float, int]]:
        """The `n` best nodes that pass the filters, with their similarities.

        The most promising nodes are compared exactly. If the filters leave too few of them, all nodes whose signature
        agrees anywhere are compared.
        """
        similar, nodes = self._likely(query, n)
        found = _first(query, similar, nodes, n)
        if len(found) < n and (len(similar) == 0 or similar[-1] >= query.min_similarity):
            everything = np.setdiff1d(self.scorer(query).agreements(query.signature)[0], query.exclude)
            found = _first(query, *self._ranked(query, everything), n)
        return found

    def _likely(self, query: Query, n: int) -> tuple[Floats, Int64s]:
        nodes = self.scorer(query).narrowed(query.signature, query.exclude, self.slack * n, self.room)
        return self._ranked(query, nodes)

    def _ranked(self, query: Query, nodes: Int64s) -> tuple[Floats, Int64s]:
        """The similarities of nodes, and the nodes, in the order of their scores."""
        scores = self.scores(query, nodes)
        order = np.lexsort((nodes, -scores))
        return self.similarities(query, scores)[order], nodes[order]

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The words that the query shares with each node and their shares of the score, the largest first."""
        scorer, shown = self.scorer(query), self.index.terms.shown
        row, places = scorer.places(nodes)
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
    """Measures that compare the weights of bags."""

    def _weights(self, scorer: Scorer, places: Int64s, term: UInt32s) -> tuple[Floats, Floats]:
        return scorer.asked[term].astype(np.float64), self.index.bags.weight[places].astype(np.float64)

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> BagPairs:
        """All pairs of bags at once."""
        return BagPairs(self.index, nodes, self._kernel)

    @abstractmethod
    def _kernel(self, pairs: BagPairs, sources: Int64s, rows: Floats) -> None:
        """Fill rows with the similarities of sources to all bags."""


class Jaccard(BagEvidence):
    """The sum of the minima of weights over the sum of their maxima."""

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The bag Jaccard, to nine places."""
        return jaccard(self.scorer(query).minima(nodes))

    def _likely(self, query: Query, n: int) -> tuple[Floats, Int64s]:
        return self.scorer(query).compared(query.signature, query.exclude, n)

    def _parts(self, scorer: Scorer, query: Query, node: Int64s, places: Int64s, term: UInt32s) -> Floats:
        return np.minimum(*self._weights(scorer, places, term))

    def _kernel(self, pairs: BagPairs, sources: Int64s, rows: Floats) -> None:
        from pagekin.kernels.all_pairs import jaccards  # loads the compiler

        jaccards(sources, *pairs.bags, pairs.inverted, rows)


class Cosine(BagEvidence):
    """The cosine of the weights as vectors."""

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The cosine, to nine places."""
        both, squares = self.scorer(query).products(nodes)
        own = float(np.square(query.bag.weight, dtype=np.float64).sum())
        lengths = np.sqrt(own * squares)
        return np.divide(both, lengths, out=np.zeros(len(nodes)), where=lengths > 0).round(9)

    def _parts(self, scorer: Scorer, query: Query, node: Int64s, places: Int64s, term: UInt32s) -> Floats:
        mine, theirs = self._weights(scorer, places, term)
        return mine * theirs

    def _kernel(self, pairs: BagPairs, sources: Int64s, rows: Floats) -> None:
        from pagekin.kernels.all_pairs import cosines  # loads the compiler

        cosines(sources, *pairs.bags, pairs.inverted, pairs.lengths, rows)


class BagPairs:
    """The bags of a population, inverted, so that a row costs as many steps as its terms have bags."""

    def __init__(self, index: Index, nodes: Int64s, kernel: Callable[[BagPairs, Int64s, Floats], None]) -> None:
        """Of all bags, those of `nodes` are compared; -1 is a page without a bag."""
        from pagekin.kernels.all_pairs import invert  # loads the compiler

        bags = index.bags
        begin = np.where(nodes >= 0, bags.offsets[nodes], 0)
        counts = np.where(nodes >= 0, bags.offsets[nodes + 1] - begin, 0)
        places = spans(begin, counts)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        term, weight = bags.term[places], bags.weight[places]
        squares = np.square(weight, dtype=np.float64)
        self.bags = offsets, term, weight
        self.inverted = invert(*self.bags, int(term.max(initial=0)) + 1)
        self.lengths: Floats = np.sqrt(np.bincount(np.repeat(np.arange(len(nodes)), counts), squares, len(nodes)))
        self._pages, self._kernel = len(nodes), kernel

    def scores(self, sources: Int64s) -> Floats:
        """Rows of similarities, to nine places."""
        rows = np.empty((len(sources), self._pages))
        self._kernel(self, sources, rows)
        return rows

    def similarities(self, sources: Int64s) -> Floats:
        """The same, with 0 where bags share nothing."""
        return np.maximum(self.scores(sources), 0.0)


def _first(query: Query, similar: Floats, nodes: Int64s, n: int) -> list[tuple[float, int]]:
    """The first `n` nodes that are similar enough and pass the filters, with their similarities."""
    found: list[tuple[float, int]] = []
    for similarity, node in zip(similar.tolist(), nodes.tolist(), strict=True):
        if similarity < query.min_similarity or len(found) == n:
            break
        if query.allowed is None or query.allowed(node):
            found.append((similarity, node))
    return found


def _largest(parts: Floats, term: UInt32s, most: int) -> Int64s:
    """The places of the largest parts, the largest first; equal ones in the order of terms."""
    if len(parts) <= most:
        return np.lexsort((term, -parts))
    likely = np.flatnonzero(parts >= np.partition(parts, -most)[-most])
    return likely[np.lexsort((term[likely], -parts[likely]))[:most]]
