"""Ranking by term weights, measured by how well linked pages rank before others (paper, 4.1), and compared."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.kernels.all_pairs import invert, products
from pagekin.kernels.rankings import measure_rows
from pagekin.learning.corpus import CorpusCounts, CorpusPart
from pagekin.model.arrays import Float32s, Floats, Int64s, UInt32s, offsets_of, spans
from pagekin.model.weighting import Size, Weighting

ERROR, P10, BREAK_EVEN, AP = MEASURES = ("error", "P@10", "break-even", "AP")  # in the order of the kernel
LEVEL = 0.05  # of significance
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
        return self.relevant[self.relevant_offsets[query] : self.relevant_offsets[query + 1]]

    def measure(self, first: int, scores: Floats, measures: Floats) -> None:
        """Write the four measures of the queries from `first` on, each with a row of scores, to their rows."""
        last = first + len(scores)
        offsets = self.relevant_offsets[first : last + 1]
        measure_rows(self.pages[first:last], offsets, self.relevant, scores, measures[first:last])


def page_queries(part: CorpusPart, pages: Int64s | None = None) -> RankingQueries:
    """Pages of a part as queries, by default all linked ones; the pages that they are linked with are relevant."""
    pages = part.linked() if pages is None else pages
    degrees = np.diff(part.link_offsets)[pages]
    linked = part.link[spans(part.link_offsets[pages], degrees)]
    return RankingQueries(part.counts.select(pages), pages, offsets_of(degrees), linked)


def sample_queries(part: CorpusPart, most: int | None, seed: int) -> RankingQueries:
    """A random sample of the linked pages of a part as queries, all of them if there are at most `most`."""
    pages = part.linked()
    if most is not None and len(pages) > most:
        pages = np.sort(np.random.default_rng((seed, 3)).choice(pages, most, replace=False))
    return page_queries(part, pages)


def term_weights(part: CorpusPart, weighting: Weighting) -> Floats:
    counts = part.counts
    inputs = counts.count.astype(np.int64), part.frequency[counts.term], part.lengths[counts.rows()]
    return weighting.weigh(*inputs, Size(len(part), part.mean_length))


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
            self._query_weights: Float32s = np.ones(len(queries.counts.term), np.float32)
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
        measures = np.empty((len(self.queries), len(MEASURES)))
        for rows, scores in self.rows():
            self.queries.measure(int(rows[0]), scores, measures)
        return measures

    def means(self) -> dict[str, float]:
        return dict(zip(MEASURES, self.measure().mean(axis=0).tolist(), strict=True))


def compare_measures(
    first: Floats, second: Floats, names: tuple[str, str] = ("okapi", "linklearn")
) -> dict[str, dict[str, Any]]:
    """Tables 4 and 5: the means of two systems over the same queries, the change, and its significance."""
    table = {}
    for k, name in enumerate(MEASURES):
        before, after = float(first[:, k].mean()), float(second[:, k].mean())
        p = signed_rank(first[:, k], second[:, k])
        better = after < before if name == ERROR else after > before
        table[name] = {
            names[0]: before,
            names[1]: after,
            "change": after / before - 1.0 if before else None,
            "p": p,
            "significantly_better": bool(better and p < LEVEL),
        }
    return table


def signed_rank(first: Floats, second: Floats) -> float:
    """The two-sided p-value of the Wilcoxon signed-rank test, by the normal approximation (for 20 pairs or more).

    Pairs without a difference are dropped; tied differences share their mean rank.
    """
    difference = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    difference = difference[difference != 0.0]
    n = len(difference)
    if n == 0:
        return 1.0
    _, place, times = np.unique(np.abs(difference), return_inverse=True, return_counts=True)
    rank = (np.cumsum(times) - (times - 1) / 2.0)[place]
    positive = float(rank[difference > 0.0].sum())
    ties = float((times.astype(np.float64) ** 3 - times).sum())
    variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0
    return math.erfc(abs(positive - n * (n + 1.0) / 4.0) / math.sqrt(2.0 * variance))


def qrels_of(
    queries: RankingQueries, query_names: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, str, int]]:
    for k, query in enumerate(query_names):
        yield from ((query, names[page], 1) for page in queries.relevant_to(k).tolist())


def rankings_of(
    ranker: Ranker, query_names: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, list[tuple[str, float]]]]:
    """For each query: (page, score) of all pages that share a term with it, the highest score first."""
    for rows, scores in ranker.rows():
        for k, row in zip(rows.tolist(), scores, strict=True):
            if ranker.queries.pages[k] >= 0:
                row[ranker.queries.pages[k]] = 0.0
            order = np.argsort(-row, kind="stable")
            yield query_names[k], [(names[page], float(row[page])) for page in order[row[order] > 0.0].tolist()]
