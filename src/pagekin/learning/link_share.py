"""How much should links say beside words? Half of the links of a part are hidden: the share that finds them is best.

Similarity is (1 - share) times that by words plus share times that by links, as answers have it. Where a share is
nothing, the order is that of the raw inner products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pagekin.kernels.precision import measure_rows
from pagekin.learning.corpus import CorpusPart, offsets_of
from pagekin.learning.ranking import AP, MEASURES, Ranker, RankingQueries
from pagekin.model.arrays import Bools, Floats, Int64s
from pagekin.model.weighting import Weighting
from pagekin.search.blend import blended
from pagekin.search.links import LinkPairs
from pagekin.search.weighted_text import shares_of_own

# Words keep a say: of pages that have no links they alone can tell.
SHARES = tuple(k / 20 for k in range(20))
HIDDEN = 0.5  # of the pairs of linked pages of a part
Beside = Callable[[int], tuple[Int64s, Floats]]  # the pages similar to a page by links, and how similar they are


@dataclass(frozen=True)
class HiddenLinks:
    """A part whose links are hidden in part: which links are to be found, and which are known."""

    hidden: CorpusPart
    known: CorpusPart

    def pairs(self) -> tuple[Int64s, Int64s]:
        """The pages, of the collection, of the hidden links; each pair from both sides."""
        return self.hidden.pages[_rows(self.hidden)], self.hidden.pages[self.hidden.link]


def hide(part: CorpusPart, seed: int) -> HiddenLinks:
    """Hide half of the pairs of linked pages, by lot."""
    first, second = _rows(part), part.link.astype(np.int64)
    pair = np.minimum(first, second) * len(part) + np.maximum(first, second)
    pairs, place = np.unique(pair, return_inverse=True)
    hidden = (np.random.default_rng((seed, 4)).random(len(pairs)) < HIDDEN)[place]
    return HiddenLinks(_with(part, first, hidden), _with(part, first, ~hidden))


def _rows(part: CorpusPart) -> Int64s:
    return np.repeat(np.arange(len(part)), np.diff(part.link_offsets))


def _with(part: CorpusPart, first: Int64s, chosen: Bools) -> CorpusPart:
    """A part with some of its links."""
    lengths = np.bincount(first[chosen], minlength=len(part))
    return replace(part, link_offsets=offsets_of(lengths), link=part.link[chosen])


class LinkShareTuner:
    """Pages ordered by words and links together, for questions whose right answers are hidden links."""

    def __init__(self, riddle: HiddenLinks, weighting: Weighting, beside: Beside, queries: RankingQueries) -> None:
        self._riddle = riddle
        self._links = LinkPairs(riddle.hidden.pages, beside)
        self._ranker = Ranker(riddle.hidden, weighting, queries)
        self.queries = queries

    def measured(self, shares: Sequence[float]) -> Floats:
        """The four measures of each question, for each share. Links that are known are no news, and not listed."""
        asked = self.queries
        result = np.empty((len(shares), len(asked), len(MEASURES)))
        for rows, words, links, known in self.rows():
            first, last = int(rows[0]), int(rows[-1]) + 1
            pages, offsets = asked.pages[first:last], asked.relevant_offsets[first : last + 1]
            similar = shares_of_own(words, pages)
            for n, share in enumerate(shares):
                scores = blended([1.0 - share, share], [similar, links]) if share else words.copy()
                scores[known] = 0.0
                measure_rows(pages, offsets, asked.relevant, scores, result[n, first:last])
        return result

    def rows(self) -> Iterator[tuple[Int64s, Floats, Floats, Bools]]:
        """Some questions, with rows of inner products, of similarities by links, and of which links are known."""
        for rows, words in self._ranker.rows():
            pages = self.queries.pages[rows]
            yield rows, words, self._links.similarities(pages), self._known(pages)

    def best_share(self) -> tuple[float, dict[str, float]]:
        """The share of most average precision, of equal ones the smallest; and that, without links and with them."""
        if not len(self.queries):
            return 0.0, {}
        average = self.measured(SHARES)[:, :, MEASURES.index(AP)].mean(axis=1)
        best = int(average.argmax())
        return SHARES[best], {"words": float(average[0]), "words_and_links": float(average[best])}

    def _known(self, pages: Int64s) -> Bools:
        known = self._riddle.known
        rows = np.zeros((len(pages), len(known)), bool)
        for row, page in zip(rows, pages.tolist(), strict=True):
            row[known.link[known.link_offsets[page] : known.link_offsets[page + 1]]] = True
        return rows
