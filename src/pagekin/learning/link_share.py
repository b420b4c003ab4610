"""The share of links in a similarity: half of the links are hidden, and the share that finds them best is taken.

Text and links are blended as in answers. With a share of 0 the order is that of the raw inner products.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pagekin.learning.corpus import CorpusPart
from pagekin.learning.ranking import AP, MEASURES, Ranker, RankingQueries, compare_measures, sample_queries
from pagekin.links.link_graph import StoredLinks
from pagekin.links.measures import link_similarity
from pagekin.model.arrays import Bools, Floats, Int64s, offsets_of
from pagekin.model.weighting import Learned, Weighting
from pagekin.search.blend import blended
from pagekin.search.links import LinkPairs
from pagekin.search.weighted_text import shares_of_own

SHARES = tuple(k / 20 for k in range(20))  # never 1: for pages without links, text alone decides
HIDDEN = 0.5  # of the pairs of linked pages
SimilarTo = Callable[[int], tuple[Int64s, Floats]]  # from a page to the pages similar by links, and how similar


@dataclass(frozen=True)
class HiddenLinks:
    """A part of the corpus, once with the links that are to be found, once with those that are known."""

    hidden: CorpusPart
    known: CorpusPart

    def pairs(self) -> tuple[Int64s, Int64s]:
        """The pages of the collection that hidden links connect; each pair in both directions."""
        return self.hidden.pages[_rows(self.hidden)], self.hidden.pages[self.hidden.link]


def hide_links(part: CorpusPart, seed: int) -> HiddenLinks:
    """Hide a random half of the pairs of linked pages."""
    first, second = _rows(part), part.link.astype(np.int64)
    pair = np.minimum(first, second) * len(part) + np.maximum(first, second)
    pairs, place = np.unique(pair, return_inverse=True)
    hidden = (np.random.default_rng((seed, 4)).random(len(pairs)) < HIDDEN)[place]
    return HiddenLinks(_with_links(part, first, hidden), _with_links(part, first, ~hidden))


def _rows(part: CorpusPart) -> Int64s:
    return np.repeat(np.arange(len(part)), np.diff(part.link_offsets))


def _with_links(part: CorpusPart, first: Int64s, chosen: Bools) -> CorpusPart:
    lengths = np.bincount(first[chosen], minlength=len(part))
    return replace(part, link_offsets=offsets_of(lengths), link=part.link[chosen])


class LinkShareTuner:
    """Ranks pages by text and links for queries whose relevant pages are hidden links."""

    def __init__(
        self, links: HiddenLinks, weighting: Weighting, similar_to: SimilarTo, queries: RankingQueries
    ) -> None:
        self._known_links, self.queries = links.known, queries
        self._links = LinkPairs(links.hidden.pages, similar_to)
        self._ranker = Ranker(links.hidden, weighting, queries)

    def measure(self, shares: Sequence[float]) -> Floats:
        """The four measures of each query, for each share. Pages with a known link are not listed."""
        result = np.empty((len(shares), len(self.queries), len(MEASURES)))
        for rows, text, links, known in self.rows():
            similar = shares_of_own(text, self.queries.pages[rows])
            for measures, share in zip(result, shares, strict=True):
                scores = blended([1.0 - share, share], [similar, links]) if share else text.copy()
                scores[known] = 0.0
                self.queries.measure(int(rows[0]), scores, measures)
        return result

    def rows(self) -> Iterator[tuple[Int64s, Floats, Floats, Bools]]:
        """Batches of queries with rows of inner products, of link similarities, and of which links are known."""
        for rows, text in self._ranker.rows():
            pages = self.queries.pages[rows]
            yield rows, text, self._links.similarities(pages), self._known(pages)

    def best_share(self) -> tuple[float, dict[str, float]]:
        """The share with the highest average precision, the smallest of equal ones; AP without and with links."""
        if not len(self.queries):
            return 0.0, {}
        average = self.measure(SHARES)[:, :, MEASURES.index(AP)].mean(axis=1)
        best = int(average.argmax())
        return SHARES[best], {"text": float(average[0]), "text_and_links": float(average[best])}

    def _known(self, pages: Int64s) -> Bools:
        known = self._known_links
        rows = np.zeros((len(pages), len(known)), bool)
        for row, page in zip(rows, pages.tolist(), strict=True):
            row[known.link[known.link_offsets[page] : known.link_offsets[page + 1]]] = True
        return rows


def link_share_tuner(
    part: CorpusPart, other: CorpusPart, links: StoredLinks, seed: int, weighting: Learned, most: int | None = None
) -> LinkShareTuner:
    """A tuner over at most `most` pages of a part. It sees no link inside of the other part."""
    hidden = hide_links(part, seed)
    queries = sample_queries(hidden.hidden, most, seed)
    return LinkShareTuner(hidden, weighting, visible_similarity(links, hidden, other), queries)


def visible_similarity(links: StoredLinks, hidden: HiddenLinks, other: CorpusPart) -> SimilarTo:
    kept = visible_links(links, hidden, other)
    columns = (links.citing[kept], links.cited[kept], links.position[kept])
    return link_similarity(StoredLinks(*columns, links.has_page, links.urls)).similar_to


def visible_links(links: StoredLinks, hidden: HiddenLinks, other: CorpusPart) -> Bools:
    nodes = len(links.has_page)
    a, b = hidden.pairs()
    apart = np.zeros(nodes, bool)
    apart[other.pages] = True
    is_hidden = np.isin(links.citing * nodes + links.cited, a * nodes + b)
    return np.asarray(~is_hidden & ~(apart[links.citing] & apart[links.cited]))


def compare_with_links(
    test: CorpusPart, valid: CorpusPart, links: StoredLinks, seed: int, weighting: Learned
) -> dict[str, Any]:
    tuner = link_share_tuner(test, valid, links, seed, weighting)
    if not len(tuner.queries):
        return {"pages": 0, "measures": {}}
    text, both = tuner.measure((0.0, weighting.link_share))
    return {"pages": len(tuner.queries), "measures": compare_measures(text, both, ("text", "text_and_links"))}
