"""Ranking by term weights, measured by how well linked pages rank before others (paper, 4.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.kernels.all_pairs import invert, products
from pagekin.kernels.precision import measure_rows
from pagekin.learning.corpus import CorpusCounts, CorpusPart, offsets_of
from pagekin.model.arrays import Floats, Int64s, UInt32s, spans
from pagekin.model.weighting import Size, Weighting

ERROR, P10, BREAK_EVEN, AP = MEASURES = ("error", "P@10", "break-even", "AP")  # in the order of the kernel
_MAX_ROWS, _MAX_SCORES = 64, 1 << 24  # in memory at a time


@dataclass(frozen=True)
class RankingQueries:
    """Queries: their terms, their relevant pages, and the page that each is (-1: a query that is no page)."""

    counts: CorpusCounts
    pages: Int64s
    relevant_offsets: Int64s
    relevant: UInt32s

    def __len__(self) -> int:
        return len(self.pages)

    def relevant_to(self, query: int) -> UInt32s:
        """The relevant pages of a query."""
        return self.relevant[self.relevant_offsets[query] : self.relevant_offsets[query + 1]]


def page_queries(part: CorpusPart, pages: Int64s | None = None) -> RankingQueries:
    """Pages of a part as queries, by default all linked ones; the pages that they are linked with are relevant."""
    pages = part.linked() if pages is None else pages
    degrees = np.diff(part.link_offsets)[pages]
    return RankingQueries(
        part.counts.select(pages), pages, offsets_of(degrees), part.link[spans(part.link_offsets[pages], degrees)]
    )


def sample_queries(part: CorpusPart, most: int, seed: int) -> RankingQueries:
    """A random sample of the linked pages of a part as queries, all of them if there are at most `most`."""
    pages = part.linked()
    if len(pages) > most:
        pages = np.sort(np.random.default_rng((seed, 3)).choice(pages, most, replace=False))
    return page_queries(part, pages)


def term_weights(part: CorpusPart, weighting: Weighting) -> Floats:
    """The weight of each term on each page of a part."""
    counts, size = part.counts, Size(len(part), part.mean_length)
    return weighting.weigh(
        counts.count.astype(np.int64), part.frequency[counts.term], part.lengths[counts.rows()], size
    )


class Ranker:
    """Scores the pages of a part by the inner product of query weights and page weights (equation 2)."""

    def __init__(
        self, part: CorpusPart, weighting: Weighting, queries: RankingQueries, *, binary: bool | None = None
    ) -> None:
        """Query terms weigh 1 each if `binary`; by default the weighting decides."""
        weight = term_weights(part, weighting).astype(np.float32)
        self.queries = queries
        self._pages = len(part)
        self._inverted = invert(part.counts.offsets, part.counts.term, weight, len(part.terms))
        if weighting.binary if binary is None else binary:
            self._query_weights: NDArray[np.float32] = np.ones(len(queries.counts.term), np.float32)
        else:
            first = part.counts.offsets[queries.pages]
            self._query_weights = weight[spans(first, np.diff(queries.counts.offsets))]

    def rows(self) -> Iterator[tuple[Int64s, Floats]]:
        """The scores of all queries in batches: the numbers of some queries, and a row of scores for each."""
        terms = self.queries.counts
        step = max(1, min(_MAX_ROWS, _MAX_SCORES // max(1, self._pages)))
        for first in range(0, len(self.queries), step):
            rows = np.arange(first, min(first + step, len(self.queries)))
            scores = np.empty((len(rows), self._pages))
            products(rows, terms.offsets, terms.term, self._query_weights, self._inverted, scores)
            yield rows, scores

    def measure(self) -> Floats:
        """The four measures of each query."""
        queries, measures = self.queries, np.empty((len(self.queries), len(MEASURES)))
        for rows, scores in self.rows():
            first, last = int(rows[0]), int(rows[-1]) + 1
            offsets = queries.relevant_offsets[first : last + 1]
            measure_rows(queries.pages[first:last], offsets, queries.relevant, scores, measures[first:last])
        return measures


def mean_measures(part: CorpusPart, weighting: Weighting, queries: RankingQueries) -> dict[str, float]:
    """The mean of each measure over the queries."""
    means = Ranker(part, weighting, queries).measure().mean(axis=0)
    return dict(zip(MEASURES, means.tolist(), strict=True))
