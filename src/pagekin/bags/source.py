"""The columns of a store that bags are built from, and what of them does not count: templates, navigation, links."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from pagekin.bags.stemming import KnownTerms, TermVocabulary, vocabulary
from pagekin.kernels.page_output import NAVIGATION
from pagekin.kernels.spans import count_rows
from pagekin.kernels.windows import blocks_at
from pagekin.model.arrays import Bools, Bytes, Int64s, Strings, UInt32s, UInt64s, distinct
from pagekin.model.reading import AnchorFlag, CheckedLinks, CheckedReading
from pagekin.model.strategy import Strategy
from pagekin.store.columns import each_string, row_ranges
from pagekin.store.store import Store
from pagekin.urls import host_of

_MIN_PAGES = 4  # that share a template
_BUCKETS = 1 << 16  # by which hashes are counted; their counts stay in the cache
_AT_ONCE = 1 << 20  # links, anchors or blocks


@dataclass(frozen=True)
class BagSource:
    """The columns of a store that bags are built from."""

    reading: CheckedReading
    words: Strings
    word_of_form: UInt32s
    nodes: Int64s  # the pages of node k are rows nodes[k] to nodes[k+1]
    links: CheckedLinks
    node_hosts: Callable[[], list[str]]  # a function, since they are many and rarely needed
    known: KnownTerms | None = None
    _vocabularies: dict[str, TermVocabulary] = field(default_factory=dict)  # by stemming and languages

    @classmethod
    def of(cls, store: Store, known: KnownTerms | None = None) -> Self:
        columns = (store.checked_reading, store.words, store.word_of_form, store.nodes, store.checked_links)
        return cls(*columns, store.node_hosts, known)

    def vocabulary(self, languages: list[str], stemming: str) -> TermVocabulary:
        """The term of every form; strategies with the same stemming share it."""
        key = " ".join([stemming, *languages])
        if key not in self._vocabularies:
            self._vocabularies[key] = vocabulary(self.words, self.word_of_form, languages, stemming, self.known)
        return self._vocabularies[key]

    def node_of_page(self) -> UInt32s:
        return np.repeat(np.arange(len(self.nodes) - 1, dtype=np.uint32), np.diff(self.nodes))


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
        templates = _templates(reading, strategy.template_share)
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
    is_rel = reading.anchors.flags & AnchorFlag.SEQUENTIAL != 0
    is_place = _of_anchors(reading, reading.blocks.kinds >= NAVIGATION)
    parts = (begin + np.flatnonzero((is_rel | is_place)[anchor]) for begin, _, anchor in _ranges_of_links(source))
    link = np.concatenate([np.empty(0, np.int64), *parts])
    link = link[link < links.offsets[pages]]  # to pages of the collection
    anchor = reading.anchors.offsets[links.page[link]] + links.anchor[link]
    by_rel, by_place = is_rel[anchor], is_place[anchor]
    citing = source.node_of_page()[links.page[link]].astype(np.int64)
    pair = citing * pages + np.searchsorted(links.offsets, link, side="right") - 1
    there_and_back = _mutual(pair[by_place], pages)
    partners = np.bincount(there_and_back // pages, minlength=pages)
    in_sequence = (partners[there_and_back // pages] <= 2) & (partners[there_and_back % pages] <= 2)
    found = by_place & _is_among(pair, there_and_back[in_sequence])
    found |= by_rel & _is_among(pair, _mutual(pair[by_rel], pages))
    sequential[link[found]] = True
    marked = np.zeros(len(is_place), bool)
    marked[anchor[found & by_place]] = True
    for some, _, block in _blocks_by_range(reading):
        blocks[block[marked[some]]] = 1
    return sequential, blocks


def _mutual(pairs: Int64s, nodes: int) -> Int64s:
    """The distinct pairs of two nodes, `one * nodes + other`, that are there in both directions."""
    pairs = distinct(pairs[pairs // nodes != pairs % nodes])
    return pairs[_is_among(pairs % nodes * nodes + pairs // nodes, pairs)]


def _is_among(numbers: Int64s, ordered: Int64s) -> Bools:
    """Whether each number is among some that ascend; as `distinct`, it does without numpy.ma."""
    if not len(ordered):
        return np.zeros(len(numbers), bool)
    found: Bools = ordered[np.minimum(np.searchsorted(ordered, numbers), len(ordered) - 1)] == numbers
    return found


def _templates(reading: CheckedReading, share: float) -> Bytes:
    """`template_blocks` of all pages, for one range of hosts after the other."""
    (hosts,) = host_numbers(map(host_of, each_string(reading.pages.url)))
    blocks = reading.blocks
    found = np.zeros(len(blocks.hash), np.uint8)
    bounds = np.append(np.flatnonzero(np.diff(hosts, prepend=-1)), len(hosts))  # pages are ordered by host first
    for first, last in row_ranges(blocks.offsets[bounds], _AT_ONCE):
        begin, end = bounds[first], bounds[last]
        some = slice(blocks.offsets[begin], blocks.offsets[end])
        offsets = blocks.offsets[begin : end + 1] - blocks.offsets[begin]
        found[some] = template_blocks(hosts[begin:end] - hosts[begin], offsets, blocks.hash[some], share)
    return found


def template_blocks(hosts: Int64s, offsets: Int64s, hashes: UInt64s, share: float) -> Bytes:
    """1 for every block whose text is on more than `share` of the pages of its host, and on at least four.

    `hosts` gives the host of every page, `offsets` and `hashes` the blocks of every page.
    """
    found, sizes = np.zeros(len(hashes), np.uint8), np.bincount(hosts)
    if len(hashes) == 0:
        return found
    # Most hashes are rare, and are left out by counts of their last bits, which take less time than sorting them.
    bucket = (hashes & np.uint64(_BUCKETS - 1)).astype(np.int64)
    counts = np.bincount(bucket, minlength=_BUCKETS)
    possible = np.flatnonzero(((counts >= _MIN_PAGES) & (counts > share * sizes[sizes > 0].min()))[bucket])
    if len(possible) == 0:
        return found
    offsets = np.searchsorted(possible, offsets)
    offsets.flags.writeable = False  # as in a store, for which the kernel is compiled
    values, number = np.unique(hashes[possible], return_inverse=True)
    keys = np.arange(len(values))
    if hosts.any():  # the same text on two hosts is two blocks
        of_block = np.repeat(hosts, np.diff(offsets)) * len(values) + number
        keys, number = np.unique(of_block, return_inverse=True)
    pages = count_rows(offsets, number.astype(np.uint32), len(keys))
    found[possible] = ((pages >= _MIN_PAGES) & (pages > share * sizes[keys // len(values)]))[number]
    return found


def host_numbers(*columns: Iterable[str]) -> list[Int64s]:
    """Columns of hosts as numbers; equal hosts have the same number in all columns."""
    numbers: dict[str, int] = {}
    return [np.fromiter((numbers.setdefault(host, len(numbers)) for host in hosts), np.int64) for hosts in columns]


def counting_links(source: BagSource, strategy: Strategy, ignored: IgnoredParts | None = None) -> Bytes:
    """1 for every link that counts under a strategy; `ignored` are the parts that it ignores, if they are known."""
    reading, links = source.reading, source.links
    ignored = ignored or ignored_parts(source, strategy)
    counts = ~ignored.sequential
    patterns = [re.compile(each) for each in strategy.silent]
    silent = np.array([any(each.search(url) for each in patterns) for url in reading.pages.url if patterns], bool)
    if other_hosts := strategy.voters == "other-hosts":
        of_node, of_page = host_numbers(source.node_hosts(), map(host_of, each_string(reading.pages.url)))
    excluded = _of_anchors(reading, ignored.links) if ignored.links.any() else np.empty(0, bool)
    for begin, page, anchor in _ranges_of_links(source):
        some = counts[begin : begin + len(page)]
        if patterns:
            some &= ~silent[page]
        if other_hosts:
            node = np.searchsorted(links.offsets, np.arange(begin, begin + len(page)), side="right") - 1
            some &= of_page[page] != of_node[node]
        if not strategy.navigation:
            some &= reading.anchors.flags[anchor] & AnchorFlag.SEQUENTIAL == 0
        if len(excluded):
            some &= ~excluded[anchor]
    return counts.view(np.uint8)


def _ranges_of_links(source: BagSource) -> Iterator[tuple[int, UInt32s, Int64s]]:
    """Ranges of all links: the first of each, their pages, and their places in the columns of anchors."""
    links, anchors = source.links, source.reading.anchors
    for begin in range(0, len(links.page), _AT_ONCE):
        page = links.page[begin : begin + _AT_ONCE]
        yield begin, page, anchors.offsets[page] + links.anchor[begin : begin + _AT_ONCE]


def _of_anchors(reading: CheckedReading, of_block: Bools | Bytes) -> Bools:
    """Whether it holds for the block of each anchor; not for an anchor on a page without text, which has no blocks."""
    found, has_blocks = np.zeros(len(reading.anchors.start), bool), reading.blocks.lengths() > 0
    for some, page, block in _blocks_by_range(reading):
        found[some] = has_blocks[page] & (of_block[block] != 0)
    return found


def _blocks_by_range(reading: CheckedReading) -> Iterator[tuple[slice, Int64s, Int64s]]:
    """Ranges of all anchors, their pages, and `blocks_of_anchors`."""
    offsets = reading.anchors.offsets
    for first, last in row_ranges(offsets, _AT_ONCE):
        some, page = (
            slice(offsets[first], offsets[last]),
            np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1])),
        )
        yield some, page, blocks_of_anchors(reading, page, np.arange(some.start, some.stop))


def blocks_of_links(reading: CheckedReading, links: CheckedLinks) -> Int64s:
    """The block that contains each link; any block for a page without blocks."""
    return blocks_of_anchors(reading, links.page, reading.anchors.offsets[links.page] + links.anchor)


def blocks_of_anchors(reading: CheckedReading, page: UInt32s | Int64s, anchor: Int64s) -> Int64s:
    """The block that contains each of some anchors, given the page and the place in the columns of anchors."""
    anchors, blocks = reading.anchors, reading.blocks
    token = anchors.start[anchor].astype(np.int64) - ((anchors.flags[anchor] & AnchorFlag.TRAILING) != 0)
    return blocks_at(blocks.offsets, blocks.token, page.astype(np.int64), token)
