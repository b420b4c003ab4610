"""Weights of counted bags (paper, section 3.3): of all nodes of a collection, and of a page that is not in it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import IO, Any, Protocol, Self

import numpy as np

from pagekin.bags.stemming import language_of, terms_of
from pagekin.kernels.compile import uncompiled
from pagekin.kernels.fold_bags import position_weight, sort_by_weight, weigh
from pagekin.kernels.windows import distance_weight
from pagekin.model.arrays import Bools, Bytes, Float32s, Floats, Int64s, UInt32s, offsets_of, word_of
from pagekin.model.bags import Bags, Contents, Terms
from pagekin.model.reading import Reading
from pagekin.model.strategy import Strategy
from pagekin.model.term_weights import LEAST, TERM_WEIGHTS
from pagekin.model.weighting import Weighting

_TYPES = (np.uint32, np.uint32, np.float32, np.float32)  # of term, count, content, around; 4 bytes each


_IN_MEMORY = 1 << 27  # bytes of pieces that are not written to a file


def term_factors(strategy: Strategy, frequency: Int64s, bags: int) -> Floats:
    """The factor of each term's count, from its document frequency; never 0."""
    weight = TERM_WEIGHTS[strategy.frequency_weight]
    return weight.factors(frequency, bags, *strategy.values(weight.settings))


def content_weights(weighting: Weighting, contents: Contents, term: UInt32s, count: UInt32s, length: Int64s) -> Floats:
    """The weights of terms with these counts in pages of these lengths; 0 for a term with count 0."""
    word = np.minimum(term, len(contents.frequency))  # citing nodes are in no contents
    weight = weighting.weigh(count, np.append(contents.frequency, 0)[word], length, contents.size)
    weight[np.append(contents.stopped, True)[word]] = 0.0
    return np.where(count > 0, np.maximum(weight, LEAST), 0.0)


def outside_shares(strategy: Strategy, evidence: Int64s) -> tuple[Floats, Floats]:
    """The shares of anchor windows and of citing nodes in each bag; the rest is the share of the contents.

    The shares grow with the evidence (citing pages, and the title): what one page says of another is an opinion. A page
    with few in-links, such as a mirror, is described by its own words.
    """
    trust = evidence / np.maximum(evidence + strategy.evidence, 1e-9) if strategy.content else np.ones(len(evidence))
    links = strategy.link_share if strategy.content or strategy.anchors else 1.0
    anchors = strategy.anchor_share if strategy.content else 1.0 - links * strategy.links
    return trust * (anchors * strategy.anchors), trust * (links * strategy.links)


@dataclass(frozen=True)
class SpilledPiece:
    """Some bags in order: their lengths, their terms, and the counts of each term."""

    lengths: Int64s
    term: UInt32s
    count: UInt32s  # occurrences in the page
    content: Float32s  # the same, with early occurrences counting more if the strategy says so
    around: Float32s  # sums over anchor windows and titles

    def load(self) -> Self:
        """The piece itself; one that is elsewhere is loaded."""
        return self


class AnyPiece(Protocol):
    """A piece, or where one is."""

    def load(self) -> SpilledPiece: ...


class Pieces(Protocol):
    """The pieces of all bags, in order."""

    def pieces(self) -> Iterator[tuple[slice, AnyPiece]]:
        """(nodes, piece) for every piece."""
        ...


class Spill:
    """Pieces until document frequencies are known, in the order of writing: the first in memory, then in a file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lengths: list[Int64s] = []
        self._in_memory: list[list[Any]] = []  # the columns of the first pieces
        self._room = _IN_MEMORY

    def add(self, piece: SpilledPiece) -> None:
        self._lengths.append(piece.lengths)
        columns = [piece.term, piece.count, piece.content, piece.around]
        self._room -= sum(column.nbytes for column in columns)
        if self._room >= 0:
            # Views would keep what they are views of.
            self._in_memory.append([column if column.base is None else column.copy() for column in columns])
            return
        self._room = -1  # all later pieces are in the file
        for column in columns:
            self._file.write(column.data)

    def pieces(self) -> Iterator[tuple[slice, SpilledPiece]]:
        """(nodes, piece) for every piece; its columns may be changed."""
        self._file.seek(0)
        first = 0
        for number, lengths in enumerate(self._lengths):
            count = int(lengths.sum())
            if number < len(self._in_memory):
                columns: list[Any] = [column.copy() for column in self._in_memory[number]]
            else:
                columns = [np.frombuffer(bytearray(self._file.read(4 * count)), kind) for kind in _TYPES]
            yield slice(first, first + len(lengths)), SpilledPiece(lengths, *columns)
            first += len(lengths)


@dataclass(frozen=True)
class FoldedBags:
    """The bags of a collection, counted but not yet weighted: weights need the document frequencies of all terms."""

    strategy: Strategy
    terms: Terms
    contents: Contents  # its lengths are complete after `weighted` has been iterated
    evidence: Int64s  # of each node: the pages whose links to it count, plus 1 if it has a title
    counting_links: Bytes  # 1 for every link that counts
    node_of_page: UInt32s
    spill: Pieces

    @property
    def weighing(self) -> "Weighing":
        return Weighing(self.strategy, self.terms.frequency, self.contents, self.evidence)

    @property
    def needs_lengths(self) -> bool:
        """Whether weights depend on the lengths of all pages."""
        return self.strategy.weighting_named(self.strategy.frequency_weight) is not None

    def weighted(self) -> Iterator[Bags]:
        """The bags with weights, heaviest terms first, in pieces of bounded size."""
        weighing, length = self.weighing, self.contents.length
        if self.needs_lengths:
            for numbered in self.spill.pieces():
                length[numbered[0]] = weighing.lengths(numbered)
        for numbered in self.spill.pieces():
            bags, length[numbered[0]] = weighing.weighted(numbered)
            yield bags


@dataclass(frozen=True)
class Weighing:
    """What the weights of terms depend on, besides the counts of their bag."""

    strategy: Strategy
    frequency: Int64s  # of all terms
    contents: Contents
    evidence: Int64s  # of each node, as in FoldedBags

    @cached_property
    def _factor(self) -> Floats:
        return term_factors(self.strategy, self.frequency, len(self.evidence))

    @cached_property
    def _shares(self) -> tuple[Floats, Floats]:
        return outside_shares(self.strategy, self.evidence)

    @cached_property
    def _counting(self) -> Bools:
        """Which terms count for the length of a page."""
        return np.append(~self.contents.stopped, np.zeros(len(self.evidence), bool))

    def lengths(self, numbered: tuple[slice, AnyPiece]) -> Int64s:
        """The lengths of the pages of a piece, in words without stop words."""
        nodes, piece = numbered[0], numbered[1].load()
        return self._lengths(piece)[: max(0, len(self.contents.length) - nodes.start)]

    def _lengths(self, piece: SpilledPiece) -> Int64s:
        """The same for all nodes of a piece."""
        counted = np.cumsum(piece.count * self._counting[piece.term], dtype=np.int64)
        return np.diff(np.append(0, counted)[offsets_of(piece.lengths)])

    def weighted(self, numbered: tuple[slice, AnyPiece]) -> tuple[Bags, Int64s]:
        """The bags of a piece, heaviest terms first, and the lengths of its pages."""
        nodes, piece = numbered[0], numbered[1].load()
        strategy, factor, length = self.strategy, self._factor, self._lengths(piece)
        weighting = strategy.weighting_named(strategy.frequency_weight)
        content = piece.content * factor[piece.term]
        if weighting is not None:
            each = np.repeat(length, piece.lengths)
            content = content_weights(weighting, self.contents, piece.term, piece.count, each)
        anchors, links = (share[nodes] for share in self._shares)
        offsets, weight = offsets_of(piece.lengths), np.empty(len(piece.term), np.float32)
        words, summed = len(self.contents.frequency), strategy.mix == "sum"
        weigh(offsets, piece.term, content, piece.around, factor, words, summed, anchors, links, weight)
        sort_by_weight(offsets, piece.term, weight, piece.count, piece.around)
        pages = max(0, len(self.contents.length) - nodes.start)
        return Bags(offsets, piece.term, weight, piece.count, piece.around), length[:pages]


@dataclass(frozen=True)
class QueryBag:
    """The terms of a query in ascending order, their weights, and their counts in its contents."""

    term: UInt32s
    weight: Float32s
    count: UInt32s
    lead: Float32s  # counts, with early occurrences counting more if the strategy says so


def query_bag(reading: Reading, terms: Terms, contents: Contents, strategy: Strategy, bags: int) -> QueryBag:
    """The bag of the one page of `reading`, from its contents and its title; no page links to it yet.

    Words that no page of the collection has cannot distinguish between its pages, and are dropped.
    """
    words = [word_of(form) for form in reading.forms]
    language = language_of(reading.pages.language[0], strategy.language)
    terms_of_forms = terms_of(words, strategy.stemming, language)
    of_form = [terms.numbers.get(term, -1) if term else -1 for term in terms_of_forms]
    kept = [of_form[form] for form in reading.tokens.form.tolist() if terms_of_forms[form] is not None]
    counts = Counter(kept)
    said: dict[int, float] = {}
    around: dict[int, float] = {}
    weight_at, title_weight = uncompiled(position_weight), uncompiled(distance_weight)(0, strategy.distance_weight)
    for place, number in enumerate(kept):
        said[number] = said.get(number, 0.0) + weight_at(place, strategy.lead)
    for form in reading.titles.form.tolist():
        around[of_form[form]] = around.get(of_form[form], 0.0) + title_weight
    known = sorted((said.keys() | around.keys()) - {-1})
    term = np.array(known, np.uint32)
    count = np.array([counts[each] for each in known], np.uint32)
    factor = term_factors(strategy, np.asarray(terms.frequency), bags)
    lead = np.array([said.get(each, 0.0) for each in known], np.float32)
    content = lead * factor[term]
    weighting = strategy.weighting_named(strategy.frequency_weight)
    if weighting is not None:
        length = np.full(len(term), contents.length_of(term, count))
        content = content_weights(weighting, contents, term, count, length)
    weight = np.zeros(len(term), np.float32)
    offsets, windows = np.array([0, len(term)]), np.array([around.get(each, 0.0) for each in known], np.float32)
    shares = outside_shares(strategy, np.array([1 if len(reading.titles.form) else 0]))
    weigh(offsets, term, content, windows, factor, len(terms.name), strategy.mix == "sum", *shares, weight)
    return QueryBag(term, weight, count, lead)
