"""Weights of counted bags (paper, section 3.3): of all nodes of a collection, and of a page that is not in it."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from pagekin.bags.stemming import language_of, terms_of
from pagekin.bags.term_weights import content_weights, outside_shares, term_factors
from pagekin.kernels.fold_bags import position_weight, sort_by_weight, weigh
from pagekin.kernels.windows import distance_weight
from pagekin.model.arrays import Bytes, Float32s, Int64s, UInt32s, offsets_of, word_of
from pagekin.model.bags import Bags, Contents, Terms
from pagekin.model.mapper import Mapper
from pagekin.model.reading import Reading
from pagekin.model.strategy import Strategy

_TYPES = (np.uint32, np.uint32, np.float32, np.float32)  # of term, count, content, around; 4 bytes each


@dataclass(frozen=True)
class SpilledPiece:
    """Some bags in order: their lengths, their terms, and the counts of each term."""

    lengths: Int64s
    term: UInt32s
    count: UInt32s  # occurrences in the page
    content: Float32s  # the same, with early occurrences counting more if the strategy says so
    around: Float32s  # sums over anchor windows and titles


class Spill:
    """Pieces in a temporary file, until document frequencies are known; they are read in the order of writing."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._lengths: list[Int64s] = []

    def add(self, piece: SpilledPiece) -> None:
        self._lengths.append(piece.lengths)
        for column in (piece.term, piece.count, piece.content, piece.around):
            self._file.write(column.data)

    @property
    def lengths(self) -> Int64s:
        return np.concatenate([np.empty(0, np.int64), *self._lengths])

    def pieces(self) -> Iterator[SpilledPiece]:
        self._file.seek(0)
        for lengths in self._lengths:
            count = int(lengths.sum())
            columns: list[Any] = [np.frombuffer(bytearray(self._file.read(4 * count)), kind) for kind in _TYPES]
            yield SpilledPiece(lengths, *columns)


@dataclass(frozen=True)
class FoldedBags:
    """The bags of a collection, counted but not yet weighted: weights need the document frequencies of all terms."""

    strategy: Strategy
    terms: Terms
    contents: Contents  # its lengths are complete after `weighted` has been iterated
    lengths: Int64s  # the array that `contents.length` is a view of, with the nodes that have no page
    offsets: Int64s
    evidence: Int64s  # of each node: the pages whose links to it count, plus 1 if it has a title
    ignored_blocks: Bytes  # 1 for every block that does not count as contents
    spill: Spill

    def weighted(self, mapper: Mapper = map) -> Iterable[Bags]:
        """The bags with weights, heaviest terms first, in pieces of bounded size."""
        factor = term_factors(self.strategy, self.terms.frequency, len(self.offsets) - 1)
        shares = outside_shares(self.strategy, self.evidence)
        weighting = self.strategy.weighting_named(self.strategy.frequency_weight)
        counting = np.append(~self.contents.stopped, np.zeros(len(self.offsets) - 1, bool))
        words, summed = len(self.terms.name), self.strategy.mix == "sum"

        def measure(nodes: slice, piece: SpilledPiece) -> None:
            row = np.repeat(np.arange(len(piece.lengths)), piece.lengths)
            self.lengths[nodes] = np.bincount(row, piece.count * counting[piece.term], len(piece.lengths))

        def weigh_piece(numbered: tuple[slice, SpilledPiece]) -> Bags:
            nodes, piece = numbered
            measure(nodes, piece)
            content = piece.content * factor[piece.term]
            if weighting is not None:
                length = np.repeat(self.lengths[nodes], piece.lengths)
                content = content_weights(weighting, self.contents, piece.term, piece.count, length)
            anchors, links = (share[nodes] for share in shares)
            offsets, weight = offsets_of(piece.lengths), np.empty(len(piece.term), np.float32)
            weigh(offsets, piece.term, content, piece.around, factor, words, summed, anchors, links, weight)
            sort_by_weight(offsets, piece.term, weight, piece.count, piece.around)
            return Bags(offsets, piece.term, weight, piece.count, piece.around)

        if weighting is not None:  # its weights depend on the lengths of all pages
            deque(mapper(lambda numbered: measure(*numbered), self._pieces()), maxlen=0)
        return mapper(weigh_piece, self._pieces())

    def _pieces(self) -> Iterator[tuple[slice, SpilledPiece]]:
        """(nodes, piece) for every piece."""
        first = 0
        for piece in self.spill.pieces():
            yield slice(first, first + len(piece.lengths)), piece
            first += len(piece.lengths)


@dataclass(frozen=True)
class QueryBag:
    """The terms of a query in ascending order, their weights, and their counts in its contents."""

    term: UInt32s
    weight: Float32s
    count: UInt32s


def query_bag(reading: Reading, terms: Terms, contents: Contents, strategy: Strategy, bags: int) -> QueryBag:
    """The bag of the one page of `reading`, from its contents and its title; no page links to it yet.

    Words that no page of the collection has cannot distinguish between its pages, and are dropped.
    """
    numbers = {name: number for number, name in enumerate(terms.name)}
    words = [word_of(form) for form in reading.forms]
    language = language_of(reading.pages.language[0], strategy.language)
    terms_of_forms = terms_of(words, strategy.stemming, language)
    of_form = [numbers.get(term, -1) if term else -1 for term in terms_of_forms]
    kept = [of_form[form] for form in reading.tokens.form.tolist() if terms_of_forms[form] is not None]
    counts = Counter(kept)
    said: dict[int, float] = {}
    around: dict[int, float] = {}
    for place, number in enumerate(kept):
        said[number] = said.get(number, 0.0) + position_weight(place, strategy.lead)
    for form in reading.titles.form.tolist():
        around[of_form[form]] = around.get(of_form[form], 0.0) + distance_weight(0, strategy.distance_weight)
    known = sorted((said.keys() | around.keys()) - {-1})
    term = np.array(known, np.uint32)
    count = np.array([counts[each] for each in known], np.uint32)
    factor = term_factors(strategy, np.asarray(terms.frequency), bags)
    content = np.array([said.get(each, 0.0) for each in known], np.float32) * factor[term]
    weighting = strategy.weighting_named(strategy.frequency_weight)
    if weighting is not None:
        length = np.full(len(term), contents.length_of(term, count))
        content = content_weights(weighting, contents, term, count, length)
    weight = np.zeros(len(term), np.float32)
    offsets, windows = np.array([0, len(term)]), np.array([around.get(each, 0.0) for each in known], np.float32)
    shares = outside_shares(strategy, np.array([1 if len(reading.titles.form) else 0]))
    weigh(offsets, term, content, windows, factor, len(terms.name), strategy.mix == "sum", *shares, weight)
    return QueryBag(term, weight, count)
