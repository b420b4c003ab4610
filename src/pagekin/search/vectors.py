"""Vectors of pages as evidence: the cosine of the vectors of two pages, 0 where it is negative."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pagekin.kernels import page_rows
from pagekin.kernels.page_rows import PageRows
from pagekin.latent.vectors import PageVectors, Vectors, exact_products
from pagekin.model.arrays import Floats, Int64s
from pagekin.search.evidence import Evidence, PairScores, ranked
from pagekin.search.page_block import PageBlock
from pagekin.search.query import Bag, Query


class CosineEvidence(Evidence):
    """The cosine of vectors, whatever they are made of."""

    def __init__(self, vectors: PageVectors) -> None:
        self._vectors = vectors
        self._last: tuple[Bag, Int64s, Floats] | None = None

    def queries(self, query: Query) -> Vectors:
        """The vector of each page of a query."""
        return self._vectors.take(np.array(query.nodes, np.int64))

    def _searched(self, query: Query) -> tuple[Int64s, Floats]:
        """The pages of the lists that are nearest to a query, and their scores; found once for a query."""
        if self._last is None or self._last[0] is not query.bag:
            queries = self.queries(query)
            nodes = self._vectors.search(queries)
            self._last = query.bag, nodes, self._scores(queries, nodes)
        return self._last[1:]

    def candidates(self, query: Query, n: int) -> Int64s:
        """The `n` pages with the largest cosines that pass the filters, among those of the nearest lists."""
        if query.allowed is None and len(query.nodes) <= 1 and len(query.exclude) <= 1:
            return self._vectors.nearest(self.queries(query), np.array(query.exclude or (-1,), np.int64), n).node
        nodes, scores = self._searched(query)
        for excluded in query.exclude:
            nodes, scores = nodes[nodes != excluded], scores[nodes != excluded]
        nodes, scores = nodes[scores > 0.0], scores[scores > 0.0]
        return np.array([node for _, node in ranked(query, n, nodes, scores, scores)], np.int64)

    def candidates_for(self, block: PageBlock, n: int) -> PageRows:
        return self._vectors.nearest(self._vectors.take(block.node), block.node, n)

    def scores_for(self, block: PageBlock, rows: PageRows) -> Floats:
        vectors, cosines = self._vectors, np.empty((len(rows.node), 1))
        candidates = PageRows(rows.offsets, vectors.rows_of(rows.node))
        page_rows.cosines(vectors.rows_of(block.node), vectors.rows.row, vectors.rows.norm, candidates, cosines)
        return np.clip(cosines[:, 0], 0.0, 1.0)

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The cosines; of several pages the mean."""
        return self._scores(self.queries(query), nodes)

    def _scores(self, queries: Vectors, nodes: Int64s) -> Floats:
        cosines = np.clip(self._vectors.cosines(queries, nodes), 0.0, 1.0)
        return np.asarray(cosines[:, 0] if len(queries.row) == 1 else cosines.mean(axis=1), np.float64)

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        """All pairs by matrix products."""
        return CosinePairs(self._vectors.take(nodes))


class VectorEvidence(CosineEvidence):
    """Vectors that were given to the build. Texts from outside have none."""

    name = "vectors"
    inside_only = True

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The cosine, to six places."""
        if not query.nodes:
            return super().explain(query, nodes)
        return [{"cosine": round(each, 6)} for each in self.scores(query, nodes).tolist()]


class CosinePairs(PairScores):
    """Rows of cosines over a population."""

    def __init__(self, pages: Vectors) -> None:
        self._rows = pages.row.astype(np.float32)
        self._norms = pages.norm.astype(np.float64)

    def scores(self, sources: Int64s) -> Floats:
        """The cosines, to nine places, 0 where they are negative."""
        lengths = np.outer(self._norms[sources], self._norms)
        products = exact_products(self._rows[sources], self._rows)
        cosines = np.divide(products, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
        return np.asarray(np.clip(cosines.round(9), 0.0, 1.0), np.float64)
