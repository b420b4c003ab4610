"""Questions whose answers are ordered by an inner product: what Okapi and learned weightings make of bags."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from pagekin.errors import MisuseError
from pagekin.index.files import Index
from pagekin.model.arrays import Floats, Int64s, UInt32s
from pagekin.model.bags import Contents
from pagekin.model.projection import Projection
from pagekin.model.weighting import Weighting

_NO_WORD = np.uint32(0xFFFFFFFF)
MOST_COUNTED = 1 << 20  # occurrences on a page; that there are more says nothing more


@dataclass(frozen=True)
class WeightTables:
    """A weighting, evaluated once for every number that a collection has for it."""

    rarity: Floats  # of words; nothing for those that are on too many pages
    rise: Floats  # of counts; larger ones count as the last
    scale: Floats  # of pages
    base: Floats
    slope: float

    def weights(self, node: Int64s, count: UInt32s) -> Floats:
        """What words that are so often on nodes weigh there, but for their rarity."""
        weight = np.zeros(len(count))
        known = (count > 0) & (node < len(self.scale))  # others have no contents
        node, rise = node[known], self.rise[np.minimum(count[known], len(self.rise) - 1)]
        weight[known] = self.scale[node] * (rise / (self.base[node] + self.slope * rise))
        return weight


@dataclass(frozen=True)
class TermCounts:
    """How often words are on a page."""

    word: UInt32s
    count: UInt32s


@dataclass(frozen=True)
class WeightedQuery:
    """What is asked for: the worth of words, and what it would score itself."""

    tables: WeightTables
    word: UInt32s
    worth: Floats
    own: float
    said: UInt32s  # the words that it has; with a projection others are worth something, too


@dataclass(frozen=True)
class ProjectedTerms:
    """A projection in the words of a collection: the score of two vectors x, y grows by (x matrix) . (y matrix)."""

    word: UInt32s  # those that it knows, in order
    matrix: Floats

    def widened(self, weighed: WeightedQuery, weight: Floats) -> WeightedQuery:
        """What is asked for, of which words weigh this, with what other words are worth to it."""
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
    """The tables of a weighting for a collection."""
    rarity = weighting.rarity(contents.frequency, contents.size.pages)
    # No word that is not stopped is more often on a page than the page is long.
    counts = np.arange(min(int(contents.length.max(initial=0)), MOST_COUNTED) + 1)
    scale, base = weighting.lengths(contents.length, contents.size.mean_length)
    return WeightTables(np.where(contents.stopped, 0.0, rarity), weighting.rise(counts), scale, base, weighting.slope)


def term_counts_of(index: Index, node: int) -> TermCounts:
    """What the contents of a node say."""
    row = index.bags.row(node)
    term, count = index.bags.term[row], index.bags.content[row]
    words = (term < index.words) & (count > 0)
    return TermCounts(term[words], count[words])


class QueryWeights:
    """What weighs the contents of a collection for questions; the tables of a weighting are made once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._tables: dict[Weighting, WeightTables] = {}
        self._spreads: dict[int, tuple[Projection, ProjectedTerms]] = {}  # a projection that is kept keeps its number

    def weighed(self, measure: str, given: Weighting | None, pages: Iterable[TermCounts]) -> WeightedQuery | None:
        """What is asked for, as a measure weighs it; None for a measure that goes by the weights of bags.

        `given` is a weighting in place of the strategy's. The score for several pages is the mean of those for each.
        """
        weighting = given or self._index.strategy.weighting_named(measure)
        if weighting is None:
            return None
        if not self._index.strategy.content:
            raise MisuseError(f"{measure} weighs contents, which this index has none of; build it with content = true")
        contents = self._index.contents
        if weighting not in self._tables:
            self._tables[weighting] = tables_of(weighting, contents)
        weighed = [_weighed(weighting, self._tables[weighting], contents, said) for said in pages]
        if weighting.projection is not None:
            spread = self._spread(weighting.projection)
            return _mean([spread.widened(*each) for each in weighed])
        return _mean([each for each, _ in weighed])

    def _spread(self, projection: Projection) -> ProjectedTerms:
        if id(projection) not in self._spreads:
            word, row = projection.places(list(self._index.terms.name))
            self._spreads[id(projection)] = (
                projection,
                ProjectedTerms(word.astype(np.uint32), projection.matrix[row].astype(np.float64)),
            )
        return self._spreads[id(projection)][1]


def _weighed(
    weighting: Weighting, tables: WeightTables, contents: Contents, said: TermCounts
) -> tuple[WeightedQuery, Floats]:
    """What is asked for, and what its words weigh in it."""
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
