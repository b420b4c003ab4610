"""How well a weighting puts the linked pages of each page first (paper, 4.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.arrays import Floats, Int64s, UInt32s, spans
from pagekin.kernels.crossing import invert, products
from pagekin.kernels.precision import measure_rows
from pagekin.learning.corpus import Counts, Part, offsets_of

MEASURES = ("error", "P@10", "break_even", "AP")  # as the kernel has them; the first should be small
_ROWS = 64  # of scores that are held at a time


@dataclass(frozen=True)
class Questions:
    """What is asked: terms, which pages are right, and which page asks (-1: a query that is no page)."""

    counts: Counts
    pages: Int64s
    right_offsets: Int64s
    right: UInt32s

    def __len__(self) -> int:
        return len(self.pages)


def questions_of(part: Part, pages: Int64s) -> Questions:
    """Pages of a part as questions; right are the pages that they are linked with."""
    degrees = np.diff(part.link_offsets)[pages]
    return Questions(
        part.counts.of(pages), pages, offsets_of(degrees), part.link[spans(part.link_offsets[pages], degrees)]
    )


class Product:
    """Pages ordered by the inner product of the weights of a question and theirs (equation 2)."""

    def __init__(self, counts: Counts, terms: int, weight: Floats) -> None:
        """`weight` is that of each term of each page."""
        self.pages = len(counts)
        self._inverted = invert(counts.offsets, counts.term, weight.astype(np.float32), terms)

    def scores(self, asking: Counts, weight: NDArray[np.float32], rows: Int64s) -> Floats:
        """A row of scores for each of some questions."""
        out = np.empty((len(rows), self.pages))
        products(rows, asking.offsets, asking.term, weight, *self._inverted, out)
        return out

    def measured(self, questions: Questions, weight: Floats) -> Floats:
        """The four measures of each question, whose terms weigh so much."""
        result = np.empty((len(questions), len(MEASURES)))
        single = weight.astype(np.float32)
        for first in range(0, len(questions), _ROWS):
            rows = np.arange(first, min(first + _ROWS, len(questions)))
            scores = self.scores(questions.counts, single, rows)
            offsets = questions.right_offsets[first : rows[-1] + 2]
            measure_rows(questions.pages[rows], offsets, questions.right, scores, result[rows[0] : rows[-1] + 1])
        return result
