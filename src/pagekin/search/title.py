"""Titles as evidence: pages whose titles share rare words, most of all the first ones."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from pagekin.index.titles import TitleIndex
from pagekin.kernels import page_rows
from pagekin.kernels.page_rows import PageRows, ScoredRows, SparseVectors
from pagekin.kernels.sparse_products import row_products
from pagekin.model.arrays import Floats, Int64s, distinct
from pagekin.search.evidence import SHORT_PAGES, Evidence, PairScores, SparsePairs, largest
from pagekin.search.page_block import PageBlock
from pagekin.search.query import Query

_MAX_POSTINGS = 2_000  # pages of title words that are looked at, those of rare words first


class TitleEvidence(Evidence):
    """The cosine of the weighted words of titles."""

    name = "title"
    by_length = SHORT_PAGES

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
        if len(query.nodes) == 1 and query.exclude == query.nodes and query.nodes[0] < len(self._titles.offsets) - 1:
            return self._sharing(np.array(query.nodes, np.int64), n).node
        pages = self._titles.pages
        words = distinct(np.concatenate([np.empty(0, np.int64), *(word for word, _ in self._queries(query))]))
        counts = pages.offsets[words + 1] - pages.offsets[words]
        order = np.argsort(counts, kind="stable")
        _, places = pages.places(words[order][np.cumsum(counts[order]) <= _MAX_POSTINGS])
        nodes = distinct(pages.page[places].astype(np.int64))
        for excluded in query.exclude:
            nodes = nodes[nodes != excluded]
        return nodes[largest(self.scores(query, nodes), nodes, n)]

    def candidates_for(self, block: PageBlock, n: int) -> PageRows:
        return self._sharing(block.node, n)

    def _sharing(self, nodes: Int64s, n: int) -> PageRows:
        """For each of some pages the best among those that share the rarest words of its title."""
        pages, seen = self._titles.pages, np.zeros(len(self._titles.offsets), bool)
        listed = page_rows.ListedPages(pages.offsets, pages.page)
        sharing = page_rows.sharing_rare_columns(nodes, self._rows, listed, _MAX_POSTINGS, seen)
        return page_rows.best_of_rows(ScoredRows(*sharing, self._products(nodes, sharing)), n)

    def scores_for(self, block: PageBlock, rows: PageRows) -> Floats:
        return self._products(block.node, rows)

    def _products(self, nodes: Int64s, rows: PageRows) -> Floats:
        scores = np.empty(len(rows.node))
        page_rows.products(nodes, self._rows, rows, scores)
        return scores.round(9)

    @cached_property
    def _rows(self) -> SparseVectors:
        return SparseVectors(self._titles.offsets, self._titles.word, self._titles.weight)

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The cosines; of several pages the mean."""
        titles, scores, some = self._titles, np.zeros(len(nodes)), np.empty(len(nodes))
        for own, worth in self._queries(query):
            row_products(own, worth, titles.offsets, titles.word, titles.weight, nodes, some)
            scores += some
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
        titles = self._titles
        row, places = titles.places(np.where(nodes < len(titles.offsets) - 1, nodes, -1))
        lengths = np.bincount(row, minlength=len(nodes))
        return SparsePairs(lengths, titles.word[places], titles.weight[places], len(titles.words))
