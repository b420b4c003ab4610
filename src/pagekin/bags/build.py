"""A collection and a strategy -> its bags."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import IO

import numpy as np

from pagekin.bags.spill import Spill, SpilledPiece
from pagekin.bags.stemming import UNKNOWN, TermVocabulary, check_language, language_of, vocabulary
from pagekin.bags.templates import template_blocks
from pagekin.bags.term_weights import factors, shares_of_others, weighed_contents
from pagekin.kernels.fold_bags import Citations, FoldPlan, fold_nodes, make_sums, sort_by_weight, weigh
from pagekin.kernels.windows import BASIC, SYNTACTIC, TOPICAL, Texts
from pagekin.model.arrays import Bools, Bytes, Floats, Int64s, UInt32s
from pagekin.model.bags import Bags, Contents, Terms
from pagekin.model.mapper import Mapper
from pagekin.model.reading import AnchorFlag, Links, Reading
from pagekin.model.strategy import Strategy
from pagekin.model.strings import Strings
from pagekin.model.weighting import Weighting
from pagekin.urls import host_of

_WINDOWS = {"basic": BASIC, "syntactic": SYNTACTIC, "topical": TOPICAL}
_TOKEN_BITS = 32
_PIECE = 1 << 22  # terms that are held in memory at a time
_MOST_NODES = 20_000  # that are folded at a time


@dataclass(frozen=True)
class BagSource:
    """What bags are made from: the columns of a store."""

    reading: Reading
    words: Strings
    word_of_form: UInt32s
    nodes: Int64s  # the pages of each node
    links: Links
    node_hosts: Callable[[], list[str]]  # many, and rarely needed
    _vocabularies: dict[str, TermVocabulary] = field(default_factory=dict)  # by stemming and languages

    def vocabulary(self, languages: list[str], stemming: str) -> TermVocabulary:
        """What becomes of every word; strategies that stem alike have it in common."""
        key = " ".join([stemming, *languages])
        if key not in self._vocabularies:
            self._vocabularies[key] = vocabulary(self.words, self.word_of_form, languages, stemming)
        return self._vocabularies[key]

    def node_of_page(self) -> UInt32s:
        """The node of every page."""
        return np.repeat(np.arange(len(self.nodes) - 1, dtype=np.uint32), np.diff(self.nodes))


@dataclass(frozen=True)
class FoldedBags:
    """The bags of a collection, folded and counted; `weighed` makes them what they shall be, piece by piece."""

    strategy: Strategy
    terms: Terms
    contents: Contents  # whose lengths are known when all bags have been weighed
    lengths: Int64s  # the same, with those of nodes that have no page
    offsets: Int64s
    voices: Int64s
    silent: Bytes  # 1 for every block that does not count as contents
    spill: Spill

    def weighed(self, mapper: Mapper = map) -> Iterable[Bags]:
        """The bags in pieces of bounded size, with weights, their heaviest terms first."""
        factor = factors(self.strategy, self.terms.frequency, len(self.offsets) - 1)
        shares = shares_of_others(self.strategy, self.voices)
        weighting = self.strategy.weighting_named(self.strategy.frequency_weight)
        counting = np.append(~self.contents.stopped, np.zeros(len(self.offsets) - 1, bool))
        measured = partial(self._measured, counting)
        if weighting is not None:  # a weight depends on the lengths of all pages
            deque(mapper(measured, self._numbered()), maxlen=0)
        return mapper(lambda each: self._weighed(weighting, factor, shares, *measured(each)), self._numbered())

    def _numbered(self) -> Iterator[tuple[slice, SpilledPiece]]:
        """The pieces, and the nodes that each is of."""
        first = 0
        for piece in self.spill.pieces():
            yield slice(first, first + len(piece.lengths)), piece
            first += len(piece.lengths)

    def _measured(self, counting: Bools, numbered: tuple[slice, SpilledPiece]) -> tuple[slice, SpilledPiece]:
        """A piece, after the lengths of its pages have been noted."""
        some, piece = numbered
        row = np.repeat(np.arange(len(piece.lengths)), piece.lengths)
        self.lengths[some] = np.bincount(row, piece.count * counting[piece.term], len(piece.lengths))
        return numbered

    def _weighed(
        self,
        weighting: Weighting | None,
        factor: Floats,
        shares: tuple[Floats, Floats],
        some: slice,
        piece: SpilledPiece,
    ) -> Bags:
        content = piece.content * factor[piece.term]
        if weighting is not None:
            length = np.repeat(self.lengths[some], piece.lengths)
            content = weighed_contents(weighting, self.contents, piece.term, piece.count, length)
        anchors, links = (share[some] for share in shares)
        offsets, weight = piece.offsets, np.empty(len(piece.term), np.float32)
        words, summed = len(self.terms.name), self.strategy.mix == "sum"
        weigh(offsets, piece.term, content, piece.around, factor, words, summed, anchors, links, weight)
        sort_by_weight(offsets, piece.term, weight, piece.count, piece.around)
        return Bags(offsets, piece.term, weight, piece.count, piece.around)


def fold_bags(collection: BagSource, strategy: Strategy, file: IO[bytes], mapper: Mapper = map) -> FoldedBags:
    """Fold the bags of all nodes into `file`, and count in how many of them each term is.

    `mapper` is like `map`, but may work on several ranges of nodes at a time.
    """
    check_language(strategy.language)
    templates = _templates(collection.reading, strategy)
    terms, texts = _texts(collection, strategy, templates)
    nodes = len(collection.links.offsets) - 1
    citations = _citations(collection, strategy, templates)
    frequency = np.zeros(len(terms) + nodes, np.int64)
    lengths = np.zeros(nodes, np.int64)
    contents = Contents(np.zeros(len(terms), np.int64), lengths[: len(collection.nodes) - 1])
    spill = Spill(file)
    for piece in _fold(strategy, texts, citations, len(terms), nodes, mapper):
        frequency += np.bincount(piece.term, minlength=len(frequency))
        contents.frequency[:] += np.bincount(piece.term[piece.count > 0], minlength=len(terms))
        spill.add(piece)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(spill.lengths)])
    voices = _voices(collection, citations, nodes)
    named = Terms(terms.name, terms.shown, frequency)
    return FoldedBags(strategy, named, contents, lengths, offsets, voices, texts.block_excluded, spill)


def _voices(collection: BagSource, citations: Citations, nodes: int) -> Int64s:
    """How many speak of each node in its windows: the pages whose links count, and its own title."""
    counting = citations.link_counts != 0
    node = np.repeat(np.arange(nodes), np.diff(citations.link_offsets))[counting]
    page = citations.link_page[counting]  # in order for each node
    first = np.ones(len(node), bool)
    first[1:] = (node[1:] != node[:-1]) | (page[1:] != page[:-1])
    titled = np.diff(collection.reading.titles.offsets) > 0
    own = collection.node_of_page()[titled]
    voices: Int64s = np.bincount(node[first], minlength=nodes) + np.bincount(own, minlength=nodes).clip(max=1)
    return voices


def _texts(collection: BagSource, strategy: Strategy, templates: Bytes) -> tuple[TermVocabulary, Texts]:
    reading = collection.reading
    tags = list(reading.pages.language)
    used = [language_of(tag, strategy.language) for tag in tags]
    # Languages with a stemmer first: the commonest word of a stem is the one to show, not the stem's own spelling.
    languages = sorted(set(used), key=lambda language: (language == UNKNOWN, language)) or [strategy.language]
    terms = collection.vocabulary(languages, strategy.stemming)
    places = {language: place for place, language in enumerate(languages)}
    return terms, Texts(
        token_offsets=reading.tokens.offsets,
        form=reading.tokens.form,
        terms=np.ascontiguousarray(terms.of_form),
        language=np.array([places[language] for language in used], np.uint8),
        block_offsets=reading.blocks.offsets,
        block_token=reading.blocks.token,
        block_kinds=reading.blocks.kinds,
        block_excluded=np.zeros(len(templates), np.uint8) if strategy.templates else templates,
        sentence_offsets=reading.sentences.offsets,
        sentence=reading.sentences.token,
        title_offsets=reading.titles.offsets,
        title_form=reading.titles.form,
    )


def _host_numbers(reading: Reading) -> Int64s:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(host_of(url), len(numbers)) for url in reading.pages.url], np.int64)


def _templates(reading: Reading, strategy: Strategy) -> Bytes:
    """1 for every block that is a template, if that matters."""
    blocks = reading.blocks
    if strategy.templates and strategy.template_links:
        return np.zeros(len(blocks.hash), np.uint8)
    return template_blocks(_host_numbers(reading), blocks.offsets, blocks.hash, strategy.template_share)


def counting_links(collection: BagSource, strategy: Strategy) -> Bytes:
    """1 for every link that counts for a strategy: of whom it lets vote, and outside of templates if it says so."""
    return _counting_links(collection, strategy, _templates(collection.reading, strategy))


def _citations(collection: BagSource, strategy: Strategy, templates: Bytes) -> Citations:
    reading, links = collection.reading, collection.links
    return Citations(
        node_pages=collection.nodes,
        link_offsets=links.offsets,
        link_page=links.page,
        link_anchor=links.anchor,
        link_counts=_counting_links(collection, strategy, templates),
        anchor_offsets=reading.anchors.offsets,
        anchor_start=reading.anchors.start,
        anchor_end=reading.anchors.end,
        anchor_flags=reading.anchors.flags,
        node_of_page=collection.node_of_page(),
    )


def _counting_links(collection: BagSource, strategy: Strategy, templates: Bytes) -> Bytes:
    """1 for every link whose word counts."""
    reading, links = collection.reading, collection.links
    counts = np.ones(len(links.page), bool)
    if strategy.silent:
        patterns = [re.compile(each) for each in strategy.silent]
        quiet = np.array([any(each.search(url) for each in patterns) for url in reading.pages.url], bool)
        counts &= ~quiet[links.page]
    if strategy.voters == "other-hosts":
        target = np.repeat(np.arange(len(links.offsets) - 1), np.diff(links.offsets))
        counts &= _hosts_differ(collection, links.page, target)
    if not strategy.template_links and len(templates):
        in_block = np.diff(reading.blocks.offsets)[links.page] > 0  # a page of pictures has none
        counts &= ~in_block | (templates[_blocks_of_links(reading, links)] == 0)
    return counts.astype(np.uint8)


def _blocks_of_links(reading: Reading, links: Links) -> Int64s:
    """The block that each link stands in; of a page without blocks, any."""
    anchors, blocks = reading.anchors, reading.blocks
    anchor = anchors.offsets[links.page] + links.anchor
    token = anchors.start[anchor].astype(np.int64) - ((anchors.flags[anchor] & AnchorFlag.TRAILING) != 0)
    page = np.repeat(np.arange(len(blocks.offsets) - 1), np.diff(blocks.offsets))
    begins = page << _TOKEN_BITS | blocks.token
    found = np.searchsorted(begins, links.page.astype(np.int64) << _TOKEN_BITS | token, side="right") - 1
    return np.asarray(np.minimum(np.maximum(found, blocks.offsets[links.page]), len(page) - 1), np.int64)


def _hosts_differ(collection: BagSource, page: UInt32s, node: Int64s) -> np.typing.NDArray[np.bool_]:
    """Whether the host of each page is another than that of the node beside it."""
    numbers: dict[str, int] = {}
    of_node = [numbers.setdefault(host, len(numbers)) for host in collection.node_hosts()]
    of_page = [numbers.setdefault(host_of(url), len(numbers)) for url in collection.reading.pages.url]
    return np.asarray(np.array(of_page)[page] != np.array(of_node)[node])


def _fold(
    strategy: Strategy, texts: Texts, citations: Citations, words: int, nodes: int, mapper: Mapper
) -> Iterator[SpilledPiece]:
    plan = FoldPlan(
        strategy.content,
        strategy.anchors,
        strategy.links,
        _WINDOWS[strategy.window],
        strategy.window_width,
        strategy.distance_weight,
        float(strategy.lead),
    )
    step = max(1, min(_MOST_NODES, nodes // 64))
    ranges = [range(first, min(first + step, nodes)) for first in range(0, nodes, step)]
    for pieces in mapper(partial(_fold_range, plan, texts, citations, words, np.zeros(nodes, np.int64)), ranges):
        yield from pieces


def _fold_range(
    plan: FoldPlan, texts: Texts, citations: Citations, words: int, lengths: Int64s, nodes: range
) -> list[SpilledPiece]:
    terms = words + len(lengths)
    sums = make_sums(terms)
    room = max(_PIECE, terms)  # for the largest bag that there could be
    pieces = []
    node = nodes.start
    while node < nodes.stop:
        term, count = np.empty(room, np.uint32), np.empty(room, np.uint32)
        content, around = np.empty(room, np.float32), np.empty(room, np.float32)
        columns = (term, count, content, around)
        end, n = fold_nodes(node, nodes.stop, words, plan, texts, citations, sums, *columns, lengths)
        pieces.append(SpilledPiece(lengths[node:end], term[:n], count[:n], content[:n], around[:n]))
        node = end
    return pieces
