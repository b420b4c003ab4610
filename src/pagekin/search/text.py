"""Text as evidence: pages whose bags share much weight.

Candidates come from collisions of min-hash signatures; their similarity is exact, from the stored bags. `MEASURES` has
the ways to compare bags.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from pagekin.index.index import Index
from pagekin.kernels import all_pairs
from pagekin.kernels.page_rows import PageRows
from pagekin.kernels.query import largest_of_rows
from pagekin.model.arrays import Floats, Int64s, UInt32s, offsets_of
from pagekin.search.evidence import Evidence, PairScores, ranked
from pagekin.search.page_block import PageBlock
from pagekin.search.query import Query, WeightedQuery
from pagekin.search.scorer import Scorer, ScorerPool, jaccard

TERMS = 5  # shared terms that explain a similarity


class TextEvidence(Evidence):
    """What is common to all ways to compare the text of pages."""

    name = "text"
    costly = True
    slack = 1  # times the wanted number of candidates that is taken from signatures
    room = 0  # candidates that are compared exactly, if more than usual

    def __init__(self, index: Index, scorers: ScorerPool[Scorer]) -> None:
        self.index, self._scorers = index, scorers

    def scorer(self, query: Query) -> Scorer:
        """A scorer with the query loaded."""
        scorer = self._scorers.scorer
        scorer.load(query.bag, self._weighted(query))
        return scorer

    def _weighted(self, query: Query) -> WeightedQuery | None:
        """The worth of the words of a query, for measures with weights of their own."""
        return None

    def candidates(self, query: Query, n: int) -> Int64s:
        """The `n` best nodes that pass the filters."""
        return np.array([node for _, node in self.nearest(query, n)], np.int64)

    def nearest(self, query: Query, n: int) -> list[tuple[float, int]]:
        """The `n` best nodes that pass the filters, with their similarities.

        The most promising nodes are compared exactly. If the filters leave too few of them, all nodes whose signature
        agrees anywhere are compared.
        """
        nodes = self.scorer(query).narrowed(query.signature, query.exclude, self.slack * n, self.room)
        scores = self.scores(query, nodes)
        similar = self.similarities(query, scores)
        found = ranked(query, n, nodes, scores, similar)
        if len(found) < n and similar.min(initial=np.inf) >= query.min_similarity:
            nodes = np.setdiff1d(self.scorer(query).agreements(query.signature)[0], query.exclude)
            scores = self.scores(query, nodes)
            found = ranked(query, n, nodes, scores, self.similarities(query, scores))
        return found

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The words that the query shares with each node and their shares of the score, the largest first."""
        shown, (row, places) = self.index.terms.shown, self.index.bags.places(nodes)
        term = self.index.bags.term[places]
        parts = self._parts(self.scorer(query), query, nodes[row], places, term)
        of_words = np.where(term < self.index.words, parts, 0.0)
        if (own := self._own_words(query)) is not None:
            of_words[~np.isin(term, own)] = 0.0
        best = largest_of_rows(of_words, term, np.searchsorted(row, np.arange(len(nodes) + 1)), TERMS)
        terms, total = np.append(term, 0)[best].tolist(), np.bincount(row, parts, len(nodes))
        shares = (np.append(of_words, 0.0)[best] / np.where(total > 0.0, total, np.inf)[:, np.newaxis]).tolist()
        told = [[each for each in zip(*both, strict=True) if each[1] > 0.0] for both in zip(terms, shares, strict=True)]
        words = shown.take_lists([[term for term, _ in each] for each in told])
        return [
            {"terms": [(word, share) for word, (_, share) in zip(*both, strict=True)]}
            for both in zip(words, told, strict=True)
        ]

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

    def scores_for(self, block: PageBlock, rows: PageRows) -> Floats:
        return jaccard(self._scorers.scorer.minima_of_rows(block.node, rows))

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
        bags = index.checked_bags
        row, places = bags.places(nodes)
        term, weight = bags.term[places], bags.weight[places]
        self._bags = offsets_of(np.bincount(row, minlength=len(nodes))), term, weight
        self._inverted = all_pairs.invert(*self._bags, int(term.max(initial=0)) + 1)
        self._lengths = np.sqrt(np.bincount(row, np.square(weight, dtype=np.float64), len(nodes))) if cosine else None
        self._pages = len(nodes)

    def scores(self, sources: Int64s) -> Floats:
        rows = np.empty((len(sources), self._pages))
        if self._lengths is None:
            all_pairs.jaccards(sources, *self._bags, self._inverted, rows)
        else:
            all_pairs.cosines(sources, *self._bags, self._inverted, self._lengths, rows)
        return rows
