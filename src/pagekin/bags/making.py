"""A collection and a strategy -> its bags."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from pagekin.arrays import Bytes, Int64s, UInt32s
from pagekin.bags.stemming import UNKNOWN, Vocabulary, check_language, language_of, vocabulary
from pagekin.bags.templates import template_blocks
from pagekin.bags.weighting import factors
from pagekin.kernels.folding import Citations, Plan, Texts, fold_nodes, heap_for, weigh
from pagekin.kernels.windows import BASIC, SYNTACTIC, TOPICAL, block_at
from pagekin.model.bags import Bags, Terms
from pagekin.model.reading import Links, Reading
from pagekin.model.strategy import Strategy
from pagekin.model.strings import Strings
from pagekin.urls import host_of

_WINDOWS = {"basic": BASIC, "syntactic": SYNTACTIC, "topical": TOPICAL}
_PIECE = 1 << 24  # terms that are folded before the arrays are looked at again


@dataclass(frozen=True)
class Collection:
    """What bags are made from: the columns of a store."""

    reading: Reading
    words: Strings
    word_of_form: UInt32s
    nodes: Int64s  # the pages of each node
    links: Links
    node_hosts: list[str]

    def node_of_page(self) -> UInt32s:
        """The node of every page."""
        return np.repeat(np.arange(len(self.nodes) - 1, dtype=np.uint32), np.diff(self.nodes))


def make_bags(collection: Collection, strategy: Strategy) -> tuple[Bags, Terms]:
    """Fold, count, weigh."""
    check_language(strategy.language)
    terms, texts = _texts(collection, strategy)
    nodes = len(collection.links.offsets) - 1
    citations = _citations(collection, strategy)
    lengths, term, content, around = _fold(collection, strategy, texts, citations, len(terms), nodes)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    frequency = np.bincount(term, minlength=len(terms) + nodes)
    weight = np.empty(len(term), np.float32)
    weigh(
        offsets,
        term,
        content,
        around,
        factors(strategy, frequency, nodes),
        len(terms),
        strategy.mix == "sum",
        *_shares(strategy),
        weight,
    )
    return Bags(offsets, term, weight, content, around), Terms(terms.name, terms.shown, frequency)


def _shares(strategy: Strategy) -> tuple[float, float]:
    """The shares of windows and of citing nodes; what is left is that of the contents."""
    links = strategy.link_share if strategy.links else 0.0
    if not strategy.content:
        return 1.0 - links if strategy.anchors else 0.0, links if strategy.anchors else 1.0
    return strategy.anchor_share if strategy.anchors else 0.0, links


def _texts(collection: Collection, strategy: Strategy) -> tuple[Vocabulary, Texts]:
    reading = collection.reading
    tags = list(reading.pages.language)
    used = [language_of(tag, strategy.language) for tag in tags]
    # Languages with a stemmer first: the commonest word of a stem is the one to show, not the stem's own spelling.
    languages = sorted(set(used), key=lambda language: (language == UNKNOWN, language)) or [strategy.language]
    terms = vocabulary(collection.words, collection.word_of_form, languages, strategy.stemming)
    places = {language: place for place, language in enumerate(languages)}
    return terms, Texts(
        token_offsets=reading.tokens.offsets,
        form=reading.tokens.form,
        terms=np.ascontiguousarray(terms.of_form),
        language=np.array([places[language] for language in used], np.uint8),
        block_offsets=reading.blocks.offsets,
        block_token=reading.blocks.token,
        block_kinds=reading.blocks.kinds,
        block_silent=_silent_blocks(reading, strategy),
        sentence_offsets=reading.sentences.offsets,
        sentence=reading.sentences.token,
        title_offsets=reading.titles.offsets,
        title_form=reading.titles.form,
    )


def _host_numbers(reading: Reading) -> Int64s:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(host_of(url), len(numbers)) for url in reading.pages.url], np.int64)


def _silent_blocks(reading: Reading, strategy: Strategy) -> Bytes:
    return np.zeros(len(reading.blocks.hash), np.uint8) if strategy.templates else _templates(reading, strategy)


def _templates(reading: Reading, strategy: Strategy) -> Bytes:
    blocks = reading.blocks
    return template_blocks(_host_numbers(reading), blocks.offsets, blocks.hash, strategy.template_share)


def _citations(collection: Collection, strategy: Strategy) -> Citations:
    reading, links = collection.reading, collection.links
    return Citations(
        node_pages=collection.nodes,
        link_offsets=links.offsets,
        link_page=links.page,
        link_anchor=links.anchor,
        link_counts=_counting_links(collection, strategy),
        anchor_offsets=reading.anchors.offsets,
        anchor_start=reading.anchors.start,
        anchor_end=reading.anchors.end,
        node_of_page=collection.node_of_page(),
    )


def _counting_links(collection: Collection, strategy: Strategy) -> Bytes:
    """1 for every link whose word counts."""
    reading, links = collection.reading, collection.links
    counts = np.ones(len(links.page), bool)
    if strategy.silent:
        patterns = [re.compile(each) for each in strategy.silent]
        quiet = np.array([any(each.search(url) for each in patterns) for url in reading.pages.url], bool)
        counts &= ~quiet[links.page]
    anchor = reading.anchors.offsets[links.page] + links.anchor
    if strategy.voters == "other-hosts":
        target = np.repeat(np.arange(len(links.offsets) - 1), np.diff(links.offsets))
        counts &= _hosts_differ(collection, links.page, target)
    if not strategy.template_links:
        blocks = reading.blocks
        templates = _templates(reading, strategy)
        for k in np.flatnonzero(counts).tolist():
            page = int(links.page[k])
            first, last = int(blocks.offsets[page]), int(blocks.offsets[page + 1])
            if first < last:  # a page of pictures has no blocks
                block = block_at(blocks.token, first, last, int(reading.anchors.start[anchor[k]]))
                counts[k] = not templates[block]
    return counts.astype(np.uint8)


def _hosts_differ(collection: Collection, page: UInt32s, node: Int64s) -> np.typing.NDArray[np.bool_]:
    """Whether the host of each page is another than that of the node beside it."""
    numbers: dict[str, int] = {}
    of_node = [numbers.setdefault(host, len(numbers)) for host in collection.node_hosts]
    of_page = [numbers.setdefault(host_of(url), len(numbers)) for url in collection.reading.pages.url]
    return np.asarray(np.array(of_page)[page] != np.array(of_node)[node])


def _fold(
    collection: Collection, strategy: Strategy, texts: Texts, citations: Citations, words: int, nodes: int
) -> tuple[Int64s, UInt32s, np.typing.NDArray[np.float32], np.typing.NDArray[np.float32]]:
    plan = Plan(
        strategy.content,
        strategy.anchors,
        strategy.links,
        _WINDOWS[strategy.window],
        strategy.window_width,
        strategy.distance_weight,
    )
    heap = heap_for(words + nodes)
    lengths = np.zeros(nodes, np.int64)
    room = max(_PIECE, words + nodes)
    pieces: list[tuple[UInt32s, np.typing.NDArray[np.float32], np.typing.NDArray[np.float32]]] = []
    node = 0
    while node < nodes:
        term = np.empty(room, np.uint32)
        content = np.empty(room, np.float32)
        around = np.empty(room, np.float32)
        node, n = fold_nodes(node, nodes, words, plan, texts, citations, heap, term, content, around, lengths)
        pieces.append((term[:n].copy(), content[:n].copy(), around[:n].copy()))
    if not pieces:
        return lengths, np.empty(0, np.uint32), np.empty(0, np.float32), np.empty(0, np.float32)
    terms, contents, arounds = (np.concatenate(column) for column in zip(*pieces, strict=True))
    return lengths, terms, contents, arounds
