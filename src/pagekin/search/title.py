"""Titles as evidence: pages whose titles share rare words, most of all the first ones."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pagekin.index.titles import TitleIndex
from pagekin.model.arrays import Floats, Int64s, distinct, offsets_of
from pagekin.search.evidence import Evidence, PairScores, largest
from pagekin.search.query import Query

_MAX_POSTINGS = 4_000  # pages of title words that are looked at, those of rare words first


class TitleEvidence(Evidence):
    """The cosine of the weighted words of titles."""

    name = "title"
    damped = True

    def __init__(self, titles: TitleIndex) -> None:
        self._titles = titles

    def _queries(self, query: Query) -> list[tuple[Int64s, Floats]]:
        """The words of every page of a query, or of its title from outside, and their weights."""
        if not query.nodes:
            return [self._titles.weighted(query.title)]
        rows = [self._titles.row(node) for node in query.nodes if node < len(self._titles.offsets) - 1]
        return [(self._titles.word[row].astype(np.int64), self._titles.weight[row].astype(np.float64)) for row in rows]

    def candidates(self, query: Query, n: int) -> Int64s:
        """The best pages among those that share the rarest words."""
        pages = self._titles.pages
        words = distinct(np.concatenate([np.empty(0, np.int64), *(word for word, _ in self._queries(query))]))
        counts = pages.offsets[words + 1] - pages.offsets[words]
        order = np.argsort(counts, kind="stable")
        _, places = pages.places(words[order][np.cumsum(counts[order]) <= _MAX_POSTINGS])
        nodes = distinct(pages.page[places].astype(np.int64))
        for excluded in query.exclude:
            nodes = nodes[nodes != excluded]
        return nodes[largest(self.scores(query, nodes), nodes, n)]

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The cosines; of several pages the mean."""
        titles, scores = self._titles, np.zeros(len(nodes))
        row, places = titles.places(np.where(nodes < len(titles.offsets) - 1, nodes, -1))
        word, weight = titles.word[places], titles.weight[places].astype(np.float64)
        queries = [each for each in self._queries(query) if len(each[0])]
        for own, worth in queries:
            place = np.minimum(np.searchsorted(own, word), len(own) - 1)
            scores += np.bincount(row, np.where(own[place] == word, weight * worth[place], 0.0), len(nodes))
        return (scores / max(1, len(query.nodes))).round(9)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The words that the titles share, those that count most first."""
        titles, own = self._titles, {word for words, _ in self._queries(query) for word in words.tolist()}
        reasons: list[dict[str, Any]] = []
        for node in nodes.tolist():
            row = titles.row(node) if node < len(titles.offsets) - 1 else slice(0)
            words = zip(titles.weight[row].tolist(), titles.word[row].tolist(), strict=True)
            shared = sorted((-weight, word) for weight, word in words if weight > 0.0 and word in own)
            reasons.append({"words": [titles.words[word] for _, word in shared]} if shared else {})
        return reasons

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        return TitlePairs(self._titles, nodes)


class TitlePairs(PairScores):
    """The weighted words of the titles of a population, inverted."""

    def __init__(self, titles: TitleIndex, nodes: Int64s) -> None:
        from pagekin.kernels.all_pairs import invert  # loads the compiler

        row, places = titles.places(np.where(nodes < len(titles.offsets) - 1, nodes, -1))
        offsets = offsets_of(np.bincount(row, minlength=len(nodes)))
        self._titles = offsets, titles.word[places], titles.weight[places]
        self._inverted = invert(*self._titles, len(titles.words))

    def scores(self, sources: Int64s) -> Floats:
        from pagekin.kernels.all_pairs import products  # loads the compiler

        rows = np.empty((len(sources), len(self._titles[0]) - 1))
        products(sources, *self._titles, self._inverted, rows)
        return np.maximum(rows, 0.0).round(9)
