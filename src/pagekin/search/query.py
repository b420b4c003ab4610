"""A query: the pages, or the text from outside, that related pages are wanted for; and what its words are worth."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np

from pagekin.errors import MisuseError
from pagekin.index.index import Index, keys_of, make_signatures, seeded, truncate
from pagekin.kernels.weighted_rows import WordWorths
from pagekin.model.arrays import Float32s, Floats, Int64s, UInt32s, Unsigned, offsets_of
from pagekin.model.bags import Bags, Contents
from pagekin.model.projection import Projection
from pagekin.model.weighting import Weighting

_NO_WORD = np.uint32(0xFFFFFFFF)
MAX_COUNT = 1 << 20  # larger counts of a word on a page are treated as this


@dataclass(frozen=True)
class Bag:
    """The terms of one page or query and their weights."""

    term: UInt32s
    weight: Float32s


@dataclass(frozen=True)
class TermCounts:
    """How often words occur in the contents of a page."""

    word: UInt32s
    count: UInt32s
    lead: Float32s | None = None  # the same, with early occurrences counting more; only known of a text from outside


@dataclass(frozen=True, eq=False)
class Query:
    """What every evidence gets to know of a request."""

    nodes: tuple[int, ...]  # the pages of the collection that are asked for; none for a text from outside
    bag: Bag  # of several pages the mean of their bags
    signature: Unsigned
    outside: TermCounts | None = None  # the word counts of a text from outside
    title: str = ""  # of a page from outside
    exclude: tuple[int, ...] = ()  # nodes that are never candidates
    allowed: Callable[[int], bool] | None = None  # whether a node passes the filters of the request
    min_similarity: float = 0.0


def query_of_nodes(index: Index, nodes: Sequence[int]) -> Query:
    """The query for some pages of a collection; several count as one page, the mean of them."""
    bag = mean_bag([bag_of(index, node) for node in nodes])
    known = len(nodes) == 1 and nodes[0] < len(index.signatures)
    signature = index.signatures[nodes[0]] if known else signature_of(index, bag)
    return Query(tuple(nodes), bag, signature, exclude=tuple(nodes))


def term_counts(index: Index, query: Query) -> list[TermCounts]:
    """The word counts of every page of a query, or of its text from outside."""
    return [term_counts_of(index, node) for node in query.nodes] if query.outside is None else [query.outside]


def bag_of(index: Index, node: int) -> Bag:
    row = index.bags.row(node)
    return Bag(np.asarray(index.bags.term[row]), np.asarray(index.bags.weight[row]))


def mean_bag(bags: list[Bag]) -> Bag:
    """The mean of several bags, each of which sums to 1."""
    if len(bags) == 1:
        return bags[0]
    terms, place = np.unique(np.concatenate([bag.term for bag in bags]), return_inverse=True)
    weights = np.bincount(place, weights=np.concatenate([bag.weight for bag in bags])) / len(bags)
    return Bag(terms, weights.astype(np.float32))


def term_counts_of(index: Index, node: int) -> TermCounts:
    row = index.bags.row(node)
    term, count = index.bags.term[row], index.bags.content[row]
    words = (term < index.words) & (count > 0)
    return TermCounts(term[words], count[words])


def signature_of(index: Index, bag: Bag) -> Unsigned:
    """The signature of a bag that H does not hold."""
    strategy, count = index.strategy, len(bag.term)
    term, content = np.arange(count, dtype=np.uint32), np.zeros(count, np.uint32)
    one = Bags(np.array([0, count]), term, bag.weight, content, bag.weight)
    keys = seeded(keys_of(index.terms.name, bag.term), strategy.seed)
    made = make_signatures(one, keys, strategy.signature_length)
    return np.asarray(truncate(made, index.signatures.dtype.type)[0])


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
        word = np.concatenate([self.word, weighed.word[~known]])
        worth = np.concatenate([worth, weighed.worth[~known]])
        return replace(weighed, word=word, worth=worth, own=weighed.own + float(inside @ inside))


def tables_of(weighting: Weighting, contents: Contents) -> WeightTables:
    rarity = weighting.rarity(contents.frequency, contents.size.pages)
    # A word that is not stopped occurs at most as often as its page is long.
    counts = np.arange(min(int(contents.length.max(initial=0)), MAX_COUNT) + 1)
    scale, base = weighting.lengths(contents.length, contents.size.mean_length)
    return WeightTables(np.where(contents.stopped, 0.0, rarity), weighting.rise(counts), scale, base, weighting.slope)


def projected_terms(projection: Projection, names: Iterable[str]) -> ProjectedTerms:
    word, row = projection.places(list(names))
    return ProjectedTerms(word.astype(np.uint32), projection.matrix[row].astype(np.float64))


class QueryWeights:
    """Weights queries for a collection. The tables of a weighting are made once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._tables = cache(lambda weighting: tables_of(weighting, index.contents))
        self._projected = cache(lambda projection: projected_terms(projection, index.terms.name))

    def weighted(self, weighting: Weighting, pages: Iterable[TermCounts]) -> WeightedQuery:
        """The query for some pages. The score for several pages is the mean of the scores for each."""
        if not self._index.strategy.content:
            raise MisuseError(
                f"{weighting.kind} weighs contents, but the bags of this index have none; build it with content = true"
            )
        tables = self._tables(weighting)
        weighted = [_weighted(weighting, tables, self._index.contents, said) for said in pages]
        if weighting.projection is not None:
            projected = self._projected(weighting.projection)
            return _mean([projected.widened(*each) for each in weighted])
        return _mean([each for each, _ in weighted])

    def weighted_block(self, weighting: Weighting, nodes: Int64s) -> tuple[WordWorths, Floats, WeightTables]:
        """What words are worth to each of some pages, and the score of each page with itself; without a projection."""
        tables, contents = self._tables(weighting), self._index.contents
        row, places = self._index.bags.places(nodes)
        word, count = self._index.bags.term[places], self._index.bags.content[places]
        said = (word < self._index.words) & (count > 0)
        row, word, count = row[said], word[said], count[said]
        length = np.bincount(row, np.where(contents.stopped[word], 0, count), len(nodes)).astype(np.int64)
        weight, asked = _asked(weighting, contents, TermCounts(word, count), length[row])
        offsets = offsets_of(np.bincount(row, minlength=len(nodes)))
        own = [float(asked[a:b] @ weight[a:b]) for a, b in pairwise(offsets.tolist())]
        return WordWorths(offsets, word, asked * tables.rarity[word]), np.array(own), tables


def _weighted(
    weighting: Weighting, tables: WeightTables, contents: Contents, said: TermCounts
) -> tuple[WeightedQuery, Floats]:
    """The query for one page, and the weights of its words."""
    length = np.full(len(said.word), contents.length_of(said.word, said.count))
    weight, asked = _asked(weighting, contents, said, length)
    worth = asked * tables.rarity[said.word]
    return WeightedQuery(tables, said.word, worth, float(asked @ weight), said.word), weight


def _asked(weighting: Weighting, contents: Contents, said: TermCounts, length: Int64s) -> tuple[Floats, Floats]:
    """The weights of words in a page of this length, and as words of a query."""
    weight = weighting.weigh(said.count, contents.frequency[said.word], length, contents.size)
    weight[contents.stopped[said.word]] = 0.0
    return weight, np.ones(len(weight)) if weighting.binary else weight


def _mean(pages: list[WeightedQuery]) -> WeightedQuery:
    if len(pages) == 1:
        return pages[0]
    word, place = np.unique(np.concatenate([page.word for page in pages]), return_inverse=True)
    worth = np.bincount(place, np.concatenate([page.worth for page in pages]), len(word)) / len(pages)
    said = np.unique(np.concatenate([page.said for page in pages]))
    return WeightedQuery(pages[0].tables, word, worth, sum(page.own for page in pages) / len(pages), said)
