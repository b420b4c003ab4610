"""Titles as evidence: pages whose titles share rare words."""

from typing import Any

import numpy as np

from pagekin.index.titles import TitleIndex
from pagekin.model.arrays import Floats, Int64s
from pagekin.search.evidence import Evidence
from pagekin.search.query import Query

_MAX_POSTINGS = 20_000  # pages of title words that are looked at, those of rare words first


class TitleEvidence(Evidence):
    """The cosine of the words of titles, weighted by their inverse document frequencies."""

    name = "title"
    damped = True

    def __init__(self, titles: TitleIndex) -> None:
        self._titles = titles

    def _queries(self, query: Query) -> list[Int64s]:
        """The words of every page of a query, or of its title from outside."""
        if not query.nodes:
            return [self._titles.numbers_of(query.title)]
        rows = [self._titles.row(node) for node in query.nodes if node < len(self._titles.offsets) - 1]
        return [self._titles.word[row].astype(np.int64) for row in rows]

    def candidates(self, query: Query, n: int) -> Int64s:
        """The pages whose titles share the rarest words."""
        titles = self._titles
        words = np.unique(np.concatenate([np.empty(0, np.int64), *self._queries(query)]))
        words = words[np.lexsort((words, -titles.idf[words]))]
        counts = np.cumsum(titles.pages.offsets[words + 1] - titles.pages.offsets[words])
        row, places = titles.pages.places(words[: int(np.searchsorted(counts, _MAX_POSTINGS, side="right"))])
        nodes, place = np.unique(titles.pages.page[places], return_inverse=True)
        shared = np.bincount(place, np.square(titles.idf[words[row]]), len(nodes))
        order = np.lexsort((nodes, -shared))
        best: Int64s = nodes[order].astype(np.int64)
        return best[~np.isin(best, query.exclude)][:n]

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The cosines; of several pages the mean."""
        titles, scores = self._titles, np.zeros(len(nodes))
        row, places = titles.places(np.where(nodes < len(titles.offsets) - 1, nodes, -1))
        word = titles.word[places].astype(np.int64)
        square = np.square(titles.idf[word])
        norms = np.sqrt(np.bincount(row, square, len(nodes)))
        queries = self._queries(query)
        for own in queries:
            shared = np.bincount(row, square * np.isin(word, own), len(nodes))
            lengths = norms * np.sqrt(np.square(titles.idf[own]).sum())
            scores += np.divide(shared, lengths, out=np.zeros(len(nodes)), where=lengths > 0.0)
        return (scores / max(1, len(queries))).round(9)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The words that the titles share, the rarest first."""
        titles = self._titles
        own = np.unique(np.concatenate([np.empty(0, np.int64), *self._queries(query)]))
        reasons: list[dict[str, Any]] = []
        for node in nodes.tolist():
            words = titles.word[titles.row(node)] if node < len(titles.offsets) - 1 else np.empty(0, np.uint32)
            shared = np.intersect1d(words, own)
            shared = shared[titles.idf[shared] > 0.0]
            shared = shared[np.lexsort((shared, -titles.idf[shared]))]
            reasons.append({"words": [titles.words[word] for word in shared.tolist()]} if len(shared) else {})
        return reasons
