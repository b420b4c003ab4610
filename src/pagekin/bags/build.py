"""Bags: the weighted terms of every node of a collection under a strategy (paper, section 3)."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple, Protocol, Self

import numpy as np

from pagekin.bags.stemming import UNKNOWN, TermVocabulary, check_language, language_of, vocabulary
from pagekin.bags.weigh import FoldedBags, Pieces, Spill, SpilledPiece
from pagekin.kernels.fold_bags import Citations, FoldPlan, TermSums, fold_nodes, make_sums
from pagekin.kernels.page_output import NAVIGATION
from pagekin.kernels.spans import count_rows, count_values
from pagekin.kernels.windows import BASIC, SYNTACTIC, TOPICAL, Texts
from pagekin.model.arrays import Bools, Bytes, Floats, Int64s, Strings, UInt32s, UInt64s, offsets_of
from pagekin.model.bags import BAG_COLUMNS, Bags, Contents, Terms
from pagekin.model.reading import AnchorFlag, CheckedLinks, CheckedReading
from pagekin.model.strategy import Strategy
from pagekin.store.columns import Mapper
from pagekin.store.store import Store
from pagekin.urls import host_of

_WINDOWS = {"basic": BASIC, "syntactic": SYNTACTIC, "topical": TOPICAL}
_TOKEN_BITS = 32
_PIECE = 1 << 22  # terms held in memory at a time
_MAX_NODES = 20_000  # folded in one job
_MIN_PAGES = 4  # that share a template


@dataclass(frozen=True)
class BagSource:
    """The columns of a store that bags are built from."""

    reading: CheckedReading
    words: Strings
    word_of_form: UInt32s
    nodes: Int64s  # the pages of node k are rows nodes[k] to nodes[k+1]
    links: CheckedLinks
    node_hosts: Callable[[], list[str]]  # a function, since they are many and rarely needed
    _vocabularies: dict[str, TermVocabulary] = field(default_factory=dict)  # by stemming and languages

    @classmethod
    def of(cls, store: Store) -> Self:
        columns = (store.checked_reading, store.words, store.word_of_form, store.nodes, store.checked_links)
        return cls(*columns, store.node_hosts)

    def vocabulary(self, languages: list[str], stemming: str) -> TermVocabulary:
        """The term of every form; strategies with the same stemming share it."""
        key = " ".join([stemming, *languages])
        if key not in self._vocabularies:
            self._vocabularies[key] = vocabulary(self.words, self.word_of_form, languages, stemming)
        return self._vocabularies[key]

    def node_of_page(self) -> UInt32s:
        return np.repeat(np.arange(len(self.nodes) - 1, dtype=np.uint32), np.diff(self.nodes))


class Folding(NamedTuple):
    """All that bags are folded from."""

    plan: FoldPlan
    texts: Texts
    citations: Citations
    words: int
    nodes: int


class BagSums(NamedTuple):
    """Some bags in order: their lengths, their terms, and sums for each term, which are not rounded yet."""

    lengths: Int64s
    term: UInt32s
    occurrences: UInt32s
    content: Floats
    around: Floats

    def spilled(self) -> SpilledPiece:
        content, around = self.content.astype(np.float32), self.around.astype(np.float32)
        return SpilledPiece(self.lengths, self.term.copy(), self.occurrences.copy(), content, around)


class FoldMemory(NamedTuple):
    """What a range of nodes is folded in. Ranges use it one after the other, since new memory takes time."""

    sums: TermSums  # all zero between ranges
    term: UInt32s
    occurrences: UInt32s
    content: Floats
    around: Floats

    @classmethod
    def of(cls, folding: Folding) -> Self:
        terms = folding.words + folding.nodes
        room = max(_PIECE, terms)  # the largest possible bag fits
        columns: list[Any] = [np.empty(room, kind) for kind in (np.uint32, np.uint32, np.float64, np.float64)]
        return cls(make_sums(terms), *columns)


class CountedPieces(Pieces, Protocol):
    """Pieces that are kept elsewhere, with their terms counted."""

    def frequencies(self) -> Iterable[tuple[Int64s, Int64s, Int64s]]:
        """Distinct terms, the number of bags with each, and of pages with each, which is 0 for citing nodes."""
        ...


def fold_bags(
    source: BagSource,
    strategy: Strategy,
    file: IO[bytes],
    mapper: Mapper = map,
    fold_elsewhere: "Callable[[Folding], CountedPieces] | None" = None,
    ignored: "IgnoredParts | None" = None,
) -> FoldedBags:
    """Count the terms of every node into `file`, and the document frequency of every term.

    `mapper` is like `map`, but may work on several ranges of nodes at a time; `fold_elsewhere`, if given, folds
    the bags, and keeps them; `ignored` are the parts that the strategy ignores, if they are known.
    """
    check_language(strategy.language)
    ignored = ignored or ignored_parts(source, strategy)
    terms, texts = _texts(source, strategy, ignored.words)
    nodes = len(source.links.offsets) - 1
    citations = _citations(source, strategy, ignored)
    frequency = np.zeros(len(terms) + nodes, np.int64)
    lengths = np.zeros(nodes, np.int64)
    contents = Contents(np.zeros(len(terms), np.int64), lengths[: len(source.nodes) - 1])
    folding = Folding(_plan(strategy), texts, citations, len(terms), nodes)
    spill: Pieces
    if fold_elsewhere is not None:
        spill = elsewhere = fold_elsewhere(folding)
        for counted, bags, pages in elsewhere.frequencies():
            frequency[counted] += bags
            contents.frequency[counted[pages > 0]] += pages[pages > 0]  # these are words
    else:
        spill = local = Spill(file)
        for piece in _pieces(folding, mapper):
            for term, counts in ((piece.term, frequency), (piece.term[piece.count > 0], contents.frequency)):
                count_values(term, np.zeros(1, np.int64), np.array([len(term)]), counts)
            local.add(piece)
    named = Terms(terms.name, terms.shown, frequency)
    offsets, evidence = offsets_of(spill.lengths), _evidence(source, citations, nodes)
    return FoldedBags(strategy, named, contents, lengths, offsets, evidence, citations.link_counts, spill)


def bags_of_pages(source: BagSource, strategy: Strategy) -> tuple[Bags, Terms, Contents]:
    """The bags of the nodes that have pages, in memory, with their terms and the statistics of their contents."""
    pages = len(source.nodes) - 1
    pieces = [Bags(np.zeros(1, np.int64), **{name: np.empty(0, kind) for name, kind in BAG_COLUMNS.items()})]
    with TemporaryFile() as file:
        folded = fold_bags(source, strategy, file)
        for piece in folded.weighted():
            pieces.append(piece)
            if sum(map(len, pieces)) >= pages:
                break
    end = int(folded.offsets[pages])
    columns = {name: np.concatenate([getattr(piece, name) for piece in pieces])[:end] for name in BAG_COLUMNS}
    return Bags(folded.offsets[: pages + 1], **columns), folded.terms, folded.contents


def _evidence(source: BagSource, citations: Citations, nodes: int) -> Int64s:
    """For each node, the number of pages whose links to it count, plus 1 if it has a title."""
    counting = citations.link_counts != 0
    node = np.repeat(np.arange(nodes), np.diff(citations.link_offsets))[counting]
    page = citations.link_page[counting]  # ascending within each node
    first = np.ones(len(node), bool)
    first[1:] = (node[1:] != node[:-1]) | (page[1:] != page[:-1])
    titled = source.node_of_page()[np.diff(source.reading.titles.offsets) > 0]
    evidence: Int64s = np.bincount(node[first], minlength=nodes) + np.bincount(titled, minlength=nodes).clip(max=1)
    return evidence


def _texts(source: BagSource, strategy: Strategy, ignored: Bytes) -> tuple[TermVocabulary, Texts]:
    reading = source.reading
    used = [language_of(tag, strategy.language) for tag in reading.pages.language]
    # Languages with a stemmer come first, so that the most frequent word of a stem is shown, not the stem itself.
    languages = sorted(set(used), key=lambda language: (language == UNKNOWN, language)) or [strategy.language]
    terms = source.vocabulary(languages, strategy.stemming)
    places = {language: place for place, language in enumerate(languages)}
    of_page = np.array([places[language] for language in used], np.uint8)
    forms, tokens, blocks = np.ascontiguousarray(terms.of_form), reading.tokens, reading.blocks
    ends = (reading.sentences.offsets, reading.sentences.token, reading.titles.offsets, reading.titles.form)
    text = (blocks.offsets, blocks.token, blocks.kinds, ignored, *ends)
    return terms, Texts(tokens.offsets, tokens.form, forms, of_page, *text)


class IgnoredParts(NamedTuple):
    """What does not count under a strategy."""

    words: Bytes  # 1 for every block whose words do not count
    links: Bytes  # 1 for every block whose links do not count
    sequential: Bools  # links to the previous or the next page that do not count; of all links


def ignored_parts(source: BagSource, strategy: Strategy) -> IgnoredParts:
    """The templates and the navigation of pages, as far as a strategy ignores them.

    The navigation of a page counts if the page has nothing else, such as a menu in a file of its own.
    """
    reading, blocks = source.reading, source.reading.blocks
    templates = navigation = np.zeros(len(blocks.hash), np.uint8)
    sequential = np.zeros(len(source.links.page), bool)
    if not (strategy.templates and strategy.template_links):
        (hosts,) = host_numbers(map(host_of, reading.pages.url))
        templates = template_blocks(hosts, blocks.offsets, blocks.hash, strategy.template_share)
    if not strategy.navigation:
        navigation = blocks.kinds // NAVIGATION
    elif not strategy.sequences:
        sequential, navigation = sequential_links(source)
    if navigation.any():
        page = np.repeat(np.arange(len(blocks)), blocks.lengths())
        navigation &= np.bincount(page[(navigation | templates) == 0], minlength=len(blocks))[page] > 0
    words = navigation if strategy.templates else navigation | templates
    links = np.zeros_like(navigation) if strategy.navigation else navigation
    return IgnoredParts(words, links if strategy.template_links else links | templates, sequential)


def sequential_links(source: BagSource) -> tuple[Bools, Bytes]:
    """The links to the previous and the next page, and 1 for every block of navigation that contains one.

    Links back and forth between two pages are such links if their `rel` attributes say so, or if they are navigation
    and each of the pages has at most two such partners. Other navigation, such as the path of chapters or a menu,
    leads to pages that do not link back, or to many that do.
    """
    reading, links, pages = source.reading, source.links, len(source.nodes) - 1
    sequential, blocks = np.zeros(len(links.page), bool), np.zeros(len(reading.blocks.hash), np.uint8)
    if not len(blocks):
        return sequential, blocks
    flags = reading.anchors.flags[reading.anchors.offsets[links.page] + links.anchor]
    block = blocks_of_links(reading, links)
    by_rel = flags & AnchorFlag.SEQUENTIAL != 0
    by_place = (reading.blocks.kinds[block] >= NAVIGATION) & (np.diff(reading.blocks.offsets)[links.page] > 0)
    link = np.flatnonzero(by_rel | by_place)
    link = link[link < links.offsets[pages]]  # to pages of the collection
    citing = source.node_of_page()[links.page[link]].astype(np.int64)
    pair = citing * pages + np.searchsorted(links.offsets, link, side="right") - 1
    there_and_back = _mutual(pair[by_place[link]], pages)
    partners = np.bincount(there_and_back // pages, minlength=pages)
    in_sequence = (partners[there_and_back // pages] <= 2) & (partners[there_and_back % pages] <= 2)
    found = by_place[link] & np.isin(pair, there_and_back[in_sequence])
    found |= by_rel[link] & np.isin(pair, _mutual(pair[by_rel[link]], pages))
    sequential[link[found]] = True
    blocks[block[sequential & by_place]] = 1
    return sequential, blocks


def _mutual(pairs: Int64s, nodes: int) -> Int64s:
    """The distinct pairs of two nodes, `one * nodes + other`, that are there in both directions."""
    pairs = np.unique(pairs[pairs // nodes != pairs % nodes])
    return pairs[np.isin(pairs, pairs % nodes * nodes + pairs // nodes, assume_unique=True)]


def template_blocks(hosts: Int64s, offsets: Int64s, hashes: UInt64s, share: float) -> Bytes:
    """1 for every block whose text is on more than `share` of the pages of its host, and on at least four.

    `hosts` gives the host of every page, `offsets` and `hashes` the blocks of every page.
    """
    if len(hashes) == 0:
        return np.zeros(0, np.uint8)
    values, number = np.unique(hashes, return_inverse=True)
    keys = np.arange(len(values))
    if hosts.any():  # the same text on two hosts is two blocks
        of_block = np.repeat(hosts, np.diff(offsets)) * len(values) + number
        keys, number = np.unique(of_block, return_inverse=True)
    pages = count_rows(offsets, number.astype(np.uint32), len(keys))
    template = (pages >= _MIN_PAGES) & (pages > share * np.bincount(hosts)[keys // len(values)])
    return template[number].astype(np.uint8)


def host_numbers(*columns: Iterable[str]) -> list[Int64s]:
    """Columns of hosts as numbers; equal hosts have the same number in all columns."""
    numbers: dict[str, int] = {}
    return [np.array([numbers.setdefault(host, len(numbers)) for host in hosts], np.int64) for hosts in columns]


def _citations(source: BagSource, strategy: Strategy, ignored: IgnoredParts) -> Citations:
    links, anchors = source.links, source.reading.anchors
    link = (links.offsets, links.page, links.anchor, counting_links(source, strategy, ignored))
    anchor = (anchors.offsets, anchors.start, anchors.end, anchors.flags)
    return Citations(source.nodes, *link, *anchor, source.node_of_page())


def counting_links(source: BagSource, strategy: Strategy, ignored: IgnoredParts | None = None) -> Bytes:
    """1 for every link that counts under a strategy; `ignored` are the parts that it ignores, if they are known."""
    reading, links = source.reading, source.links
    ignored = ignored or ignored_parts(source, strategy)
    counts = ~ignored.sequential
    if strategy.silent:
        patterns = [re.compile(each) for each in strategy.silent]
        silent = np.array([any(each.search(url) for each in patterns) for url in reading.pages.url], bool)
        counts &= ~silent[links.page]
    if strategy.voters == "other-hosts":
        of_node, of_page = host_numbers(source.node_hosts(), map(host_of, reading.pages.url))
        counts &= of_page[links.page] != np.repeat(of_node, np.diff(links.offsets))
    if not strategy.navigation:
        counts &= reading.anchors.flags[reading.anchors.offsets[links.page] + links.anchor] & AnchorFlag.SEQUENTIAL == 0
    if ignored.links.any():
        in_block = np.diff(reading.blocks.offsets)[links.page] > 0  # a page without text has no blocks
        counts &= ~in_block | (ignored.links[blocks_of_links(reading, links)] == 0)
    return counts.astype(np.uint8)


def _plan(strategy: Strategy) -> FoldPlan:
    parts = (strategy.content, strategy.anchors, strategy.links)
    window = (_WINDOWS[strategy.window], strategy.window_width, strategy.distance_weight)
    return FoldPlan(*parts, *window, float(strategy.lead))


def blocks_of_links(reading: CheckedReading, links: CheckedLinks) -> Int64s:
    """The block that contains each link; any block for a page without blocks."""
    return blocks_of_anchors(reading, links.page, reading.anchors.offsets[links.page] + links.anchor)


def blocks_of_anchors(reading: CheckedReading, page: UInt32s | Int64s, anchor: Int64s) -> Int64s:
    """The block that contains each of some anchors, given the page and the place in the columns of anchors."""
    anchors, blocks = reading.anchors, reading.blocks
    token = anchors.start[anchor].astype(np.int64) - ((anchors.flags[anchor] & AnchorFlag.TRAILING) != 0)
    begins = np.repeat(np.arange(len(blocks)), blocks.lengths()) << _TOKEN_BITS | blocks.token
    found = np.searchsorted(begins, page.astype(np.int64) << _TOKEN_BITS | token, side="right") - 1
    return np.asarray(np.minimum(np.maximum(found, blocks.offsets[page]), len(begins) - 1), np.int64)


def _pieces(folding: Folding, mapper: Mapper = map) -> Iterator[SpilledPiece]:
    """The bags of all nodes, range by range."""
    spare: list[FoldMemory] = []

    def fold(nodes: range) -> list[SpilledPiece]:
        try:
            memory = spare.pop()
        except IndexError:
            memory = FoldMemory.of(folding)
        pieces = [bags.spilled() for bags in _folded(folding, nodes, memory)]
        spare.append(memory)
        return pieces

    step = max(1, min(_MAX_NODES, folding.nodes // 64))
    ranges = [range(first, min(first + step, folding.nodes)) for first in range(0, folding.nodes, step)]
    for folded in mapper(fold, ranges):
        yield from folded


def fold_range(folding: Folding, nodes: range) -> BagSums:
    """Fold the bags of a range of nodes."""
    memory = FoldMemory.of(folding)
    pieces = [[column.copy() for column in piece] for piece in _folded(folding, nodes, memory)]
    return BagSums(*map(np.concatenate, zip(*pieces, strict=True)))


def _folded(folding: Folding, nodes: range, memory: FoldMemory) -> Iterator[BagSums]:
    """The bags of a range of nodes, as many at a time as fit into the memory, which the next ones overwrite."""
    sums, term, occurrences, content, around = memory
    inputs = (folding.words, folding.plan, folding.texts, folding.citations, sums)
    node = nodes.start
    while node < nodes.stop:
        lengths = np.empty(nodes.stop - node, np.int64)
        end, n = fold_nodes(node, nodes.stop, *inputs, term, occurrences, content, around, lengths)
        yield BagSums(lengths[: end - node], term[:n], occurrences[:n], content[:n], around[:n])
        node = end
