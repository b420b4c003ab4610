"""How well a weighting puts the linked pages of each page first (paper, 4.1)."""

from __future__ import annotations

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
_ROWS = 64  # of scores that are held at a time, at most
_SCORES = 1 << 24


@dataclass(frozen=True)
class RankingQueries:
    """What is asked: terms, which pages are right, and which page asks (-1: a query that is no page)."""

    counts: CorpusCounts
    pages: Int64s
    right_offsets: Int64s
    right: UInt32s

    def __len__(self) -> int:
        return len(self.pages)


def questions_of(part: CorpusPart, pages: Int64s | None = None) -> RankingQueries:
    """Pages of a part, by default all that have links, as questions; right are the pages that they are linked with."""
    pages = part.linked() if pages is None else pages
    degrees = np.diff(part.link_offsets)[pages]
    return RankingQueries(
        part.counts.of(pages), pages, offsets_of(degrees), part.link[spans(part.link_offsets[pages], degrees)]
    )


def weights_in(part: CorpusPart, weighting: Weighting) -> Floats:
    """What each term of each page of a part weighs."""
    counts, size = part.counts, Size(len(part), part.mean_length)
    return weighting.weigh(
        counts.count.astype(np.int64), part.frequency[counts.term], part.lengths[counts.rows()], size
    )


class Ranker:
    """The pages of a part ordered by the inner product of the weights of a question and theirs (equation 2)."""

    def __init__(
        self, part: CorpusPart, weighting: Weighting, queries: RankingQueries, *, binary: bool | None = None
    ) -> None:
        """Terms of questions count one each if `binary`; by default as the weighting says."""
        weight = weights_in(part, weighting).astype(np.float32)
        self.queries = queries
        self._pages = len(part)
        self._inverted = invert(part.counts.offsets, part.counts.term, weight, len(part.terms))
        if weighting.binary if binary is None else binary:
            self._asking: NDArray[np.float32] = np.ones(len(queries.counts.term), np.float32)
        else:
            begin = part.counts.offsets[queries.pages]
            self._asking = weight[spans(begin, np.diff(queries.counts.offsets))]

    def rows(self) -> Iterator[tuple[Int64s, Floats]]:
        """Some questions, and a row of scores for each, until all have come."""
        asking = self.queries.counts
        step = max(1, min(_ROWS, _SCORES // max(1, self._pages)))
        for first in range(0, len(self.queries), step):
            rows = np.arange(first, min(first + step, len(self.queries)))
            scores = np.empty((len(rows), self._pages))
            products(rows, asking.offsets, asking.term, self._asking, self._inverted, scores)
            yield rows, scores

    def measured(self) -> Floats:
        """The four measures of each question."""
        asked, result = self.queries, np.empty((len(self.queries), len(MEASURES)))
        for rows, scores in self.rows():
            first, last = int(rows[0]), int(rows[-1]) + 1
            offsets = asked.right_offsets[first : last + 1]
            measure_rows(asked.pages[first:last], offsets, asked.right, scores, result[first:last])
        return result


def measured(part: CorpusPart, weighting: Weighting, queries: RankingQueries) -> dict[str, float]:
    """The mean of each measure over some questions."""
    means = Ranker(part, weighting, queries).measured().mean(axis=0)
    return dict(zip(MEASURES, means.tolist(), strict=True))


def sampled(part: CorpusPart, most: int, seed: int) -> RankingQueries:
    """At most so many questions of a part, by lot."""
    pages = part.linked()
    if len(pages) > most:
        pages = np.sort(np.random.default_rng((seed, 3)).choice(pages, most, replace=False))
    return questions_of(part, pages)
