"""What the words of a query are worth by a weighting (Okapi, LinkLearn): the query side of an inner product."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from pagekin.errors import MisuseError
from pagekin.index.index import Index
from pagekin.model.arrays import Floats, Int64s, UInt32s
from pagekin.model.bags import Contents
from pagekin.model.projection import Projection
from pagekin.model.weighting import Weighting
from pagekin.search.query import TermCounts

_NO_WORD = np.uint32(0xFFFFFFFF)
MAX_COUNT = 1 << 20  # larger counts of a word on a page are treated as this


@dataclass(frozen=True)
class WeightTables:
    """A weighting, evaluated once for every document frequency, count and page length of a collection."""

    rarity: Floats  # by word; 0 for words on too many pages
    rise: Floats  # by count; larger counts have the value of the last
    scale: Floats  # by page
    base: Floats  # by page
    slope: float

    def weights(self, node: Int64s, count: UInt32s) -> Floats:
        """The weights of words that occur `count` times on nodes, without the factor for rarity."""
        weight = np.zeros(len(count))
        known = (count > 0) & (node < len(self.scale))  # other nodes have no contents
        node, rise = node[known], self.rise[np.minimum(count[known], len(self.rise) - 1)]
        weight[known] = self.scale[node] * (rise / (self.base[node] + self.slope * rise))
        return weight


@dataclass(frozen=True)
class WeightedQuery:
    """The worth of words to a query, and the score of the query with itself."""

    tables: WeightTables
    word: UInt32s
    worth: Floats
    own: float
    said: UInt32s  # the words of the query itself; a projection gives a worth to others as well


@dataclass(frozen=True)
class ProjectedTerms:
    """A projection over the words of a collection: it adds (x matrix) . (y matrix) to the score of vectors x and y."""

    word: UInt32s  # the words of the projection, ascending
    matrix: Floats

    def widened(self, weighed: WeightedQuery, weight: Floats) -> WeightedQuery:
        """A query whose words have these weights, with the worth that the projection gives to other words."""
        place = np.searchsorted(self.word, weighed.word)
        known = np.append(self.word, _NO_WORD)[place] == weighed.word
        inside = weight[known] @ self.matrix[place[known]]
        worth = (self.matrix @ inside) * weighed.tables.rarity[self.word]
        worth[place[known]] += weighed.worth[known]
        return replace(
            weighed,
            word=np.concatenate([self.word, weighed.word[~known]]),
            worth=np.concatenate([worth, weighed.worth[~known]]),
            own=weighed.own + float(inside @ inside),
        )


def tables_of(weighting: Weighting, contents: Contents) -> WeightTables:
    """Evaluate a weighting for the contents of a collection."""
    rarity = weighting.rarity(contents.frequency, contents.size.pages)
    # A word that is not stopped occurs at most as often as its page is long.
    counts = np.arange(min(int(contents.length.max(initial=0)), MAX_COUNT) + 1)
    scale, base = weighting.lengths(contents.length, contents.size.mean_length)
    return WeightTables(np.where(contents.stopped, 0.0, rarity), weighting.rise(counts), scale, base, weighting.slope)


class QueryWeights:
    """Weights queries for a collection. The tables of a weighting are made once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._tables: dict[Weighting, WeightTables] = {}
        self._spreads: dict[int, tuple[Projection, ProjectedTerms]] = {}  # by id of a kept projection

    def weighted(self, weighting: Weighting, pages: Iterable[TermCounts]) -> WeightedQuery:
        """The query for some pages. The score for several pages is the mean of the scores for each."""
        if not self._index.strategy.content:
            raise MisuseError(
                f"{weighting.kind} weighs contents, but the bags of this index have none; build it with content = true"
            )
        contents = self._index.contents
        if weighting not in self._tables:
            self._tables[weighting] = tables_of(weighting, contents)
        weighted = [_weighted(weighting, self._tables[weighting], contents, said) for said in pages]
        if weighting.projection is not None:
            spread = self._spread(weighting.projection)
            return _mean([spread.widened(*each) for each in weighted])
        return _mean([each for each, _ in weighted])

    def _spread(self, projection: Projection) -> ProjectedTerms:
        if id(projection) not in self._spreads:
            word, row = projection.places(list(self._index.terms.name))
            self._spreads[id(projection)] = (
                projection,
                ProjectedTerms(word.astype(np.uint32), projection.matrix[row].astype(np.float64)),
            )
        return self._spreads[id(projection)][1]


def _weighted(
    weighting: Weighting, tables: WeightTables, contents: Contents, said: TermCounts
) -> tuple[WeightedQuery, Floats]:
    """The query for one page, and the weights of its words."""
    length = np.full(len(said.word), contents.length_of(said.word, said.count))
    weight = weighting.weigh(said.count, contents.frequency[said.word], length, contents.size)
    weight[contents.stopped[said.word]] = 0.0
    asked = np.ones(len(weight)) if weighting.binary else weight
    worth = asked * tables.rarity[said.word]
    return WeightedQuery(tables, said.word, worth, float(asked @ weight), said.word), weight


def _mean(pages: list[WeightedQuery]) -> WeightedQuery:
    if len(pages) == 1:
        return pages[0]
    word, place = np.unique(np.concatenate([page.word for page in pages]), return_inverse=True)
    worth = np.bincount(place, np.concatenate([page.worth for page in pages]), len(word)) / len(pages)
    said = np.unique(np.concatenate([page.said for page in pages]))
    return WeightedQuery(pages[0].tables, word, worth, sum(page.own for page in pages) / len(pages), said)
