"""The columns of a store that bags are built from, and what of them does not count: templates, navigation, links."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from pagekin.bags.stemming import KnownTerms, TermVocabulary, vocabulary
from pagekin.kernels.page_output import NAVIGATION
from pagekin.kernels.spans import count_rows
from pagekin.kernels.windows import blocks_at
from pagekin.model.arrays import Array, Bools, Bytes, Int64s, Strings, UInt32s, UInt64s, distinct, row_ranges
from pagekin.model.reading import AnchorFlag, CheckedLinks, CheckedReading
from pagekin.model.strategy import Strategy
from pagekin.store.columns import each_string
from pagekin.store.stage_columns import gathered, ranges_of
from pagekin.store.stage_files import IN_MEMORY, Stages
from pagekin.store.store import Store
from pagekin.urls import host_of

_MIN_PAGES = 4  # that share a template
_BUCKETS = 1 << 16  # by which hashes are counted; their counts stay in the cache
_AT_ONCE = 1 << 20  # links, anchors, blocks or nodes
_PAGES = 1 << 16  # whose URLs are looked at in one job


@dataclass(frozen=True)
class BagSource:
    """The columns of a store that bags are built from. It is pickled as the place of the store."""

    store: Store
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
        return cls(store, *columns, store.node_hosts, known)

    def __reduce__(self) -> tuple[Any, ...]:
        return _checked_before, (self.store,)

    def vocabulary(self, languages: list[str], stemming: str, stages: Stages = IN_MEMORY) -> TermVocabulary:
        """The term of every form; strategies with the same stemming share it."""
        key = " ".join([stemming, *languages])
        if key not in self._vocabularies:
            self._vocabularies[key] = vocabulary(self, languages, stemming, stages, self.known)
        return self._vocabularies[key]

    def node_of_page(self, stages: Stages = IN_MEMORY) -> UInt32s:
        ranges = ranges_of(len(self.nodes) - 1, _AT_ONCE)
        return np.asarray(gathered(stages, "citing", _nodes_of_pages, self, ranges)["node"])


def _checked_before(store: Store) -> BagSource:
    """The source on an executor, where the driver has checked the columns."""
    reading, links = CheckedReading(store.reading), CheckedLinks(store.links)
    return BagSource(store, reading, store.words, store.word_of_form, store.nodes, links, store.node_hosts)


def _nodes_of_pages(source: BagSource, nodes: range) -> dict[str, Array]:
    pages = np.diff(source.nodes[nodes.start : nodes.stop + 1])
    return {"node": np.repeat(np.arange(nodes.start, nodes.stop, dtype=np.uint32), pages)}


class IgnoredParts(NamedTuple):
    """What does not count under a strategy."""

    words: Bytes  # 1 for every block whose words do not count
    links: Bytes  # 1 for every block whose links do not count; empty if all count
    sequential: Bools  # links to the previous or the next page that do not count, of all links; empty if all count


class _Ignoring(NamedTuple):
    """What the parts that are ignored depend on."""

    source: BagSource
    strategy: Strategy
    navigation: Bytes  # 1 for every block with a sequential link, if these do not count; else empty


def ignored_parts(source: BagSource, strategy: Strategy, stages: Stages = IN_MEMORY) -> IgnoredParts:
    """The templates and the navigation of pages, as far as a strategy ignores them.

    The navigation of a page counts if the page has nothing else, such as a menu in a file of its own.
    """
    sequential, navigation = np.empty(0, bool), np.empty(0, np.uint8)
    if strategy.navigation and not strategy.sequences:
        sequential, navigation = sequential_links(source)
    pages = row_ranges(source.reading.blocks.offsets, _AT_ONCE) or [(0, 0)]
    found = gathered(stages, "ignored", _ignored, _Ignoring(source, strategy, navigation), pages)
    return IgnoredParts(found["words"], found["links"], sequential)


def _ignored(ignoring: _Ignoring, pages: tuple[int, int]) -> dict[str, Array]:
    """The ignored blocks of the pages of the hosts that begin in a range of pages."""
    source, strategy, _ = ignoring
    blocks, urls = source.reading.blocks, source.reading.pages.url
    first, last = (_first_of_host(urls, page) for page in pages)
    offsets = blocks.offsets[first : last + 1]
    some, offsets = slice(offsets[0], offsets[-1]), offsets - offsets[0]
    templates = navigation = np.zeros(offsets[-1], np.uint8)
    if not (strategy.templates and strategy.template_links):
        (hosts,) = host_numbers(map(host_of, each_string(urls.part(first, last))))
        templates = template_blocks(hosts, offsets, blocks.hash[some], strategy.template_share)
    if not strategy.navigation:
        navigation = blocks.kinds[some] // NAVIGATION
    elif len(ignoring.navigation):
        navigation = ignoring.navigation[some]
    if navigation.any():
        page = np.repeat(np.arange(last - first), np.diff(offsets))
        has_others = np.bincount(page[(navigation | templates) == 0], minlength=last - first) > 0
        navigation = navigation & has_others[page]
    words = navigation if strategy.templates else navigation | templates
    links = np.zeros_like(navigation) if strategy.navigation else navigation
    if not strategy.template_links:
        links = links | templates
    elif strategy.navigation:
        links = links[:0]
    return {"words": words, "links": links}


def _first_of_host(urls: Strings, page: int) -> int:
    """The first page, from `page` on, with another host than the page before it. Pages are ordered by host first."""
    if page in (0, len(urls)):
        return page
    host = host_of(urls[page - 1])
    return bisect_left(range(len(urls)), True, page, key=lambda each: host_of(urls[each]) != host)


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
    pages_at_once = row_ranges(reading.anchors.offsets, _AT_ONCE)
    in_navigation = source, reading.blocks.kinds >= NAVIGATION
    is_place = gathered(IN_MEMORY, "places", _of_anchors, in_navigation, pages_at_once or [(0, 0)])["anchor"]
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
    for some in pages_at_once:
        _, block = _blocks_of_pages(reading, some)
        blocks[block[marked[reading.anchors.offsets[some[0]] : reading.anchors.offsets[some[1]]]]] = 1
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


class _LinkFilter(NamedTuple):
    """What decides whether a link counts. Columns are empty where a strategy does not ask for them."""

    source: BagSource
    strategy: Strategy
    sequential: Bools  # of links
    silent: Bools  # of pages
    excluded: Bools  # of anchors
    hosts: tuple[Int64s, Int64s]  # of nodes and of pages, as numbers


def counting_links(
    source: BagSource, strategy: Strategy, ignored: IgnoredParts | None = None, stages: Stages = IN_MEMORY
) -> Bytes:
    """1 for every link that counts under a strategy; `ignored` are the parts that it ignores, if they are known."""
    reading = source.reading
    ignored = ignored or ignored_parts(source, strategy, stages)
    silent = excluded = np.empty(0, bool)
    hosts = np.empty(0, np.int64), np.empty(0, np.int64)
    if strategy.silent:
        silent = gathered(stages, "silent", _silent, (source, strategy.silent), ranges_of(len(reading), _PAGES))["page"]
    if strategy.voters == "other-hosts":
        of_node, of_page = host_numbers(source.node_hosts(), map(host_of, each_string(reading.pages.url)))
        hosts = of_node, of_page
    if len(ignored.links):
        pages = row_ranges(reading.anchors.offsets, _AT_ONCE) or [(0, 0)]
        excluded = gathered(stages, "excluded", _of_anchors, (source, ignored.links), pages)["anchor"]
    deciding = _LinkFilter(source, strategy, ignored.sequential, silent, excluded, hosts)
    counting = gathered(stages, "counting", _counting, deciding, ranges_of(len(source.links.page), _AT_ONCE))
    return np.asarray(counting["link"])


def _silent(silent: tuple[BagSource, Sequence[str]], pages: range) -> dict[str, Array]:
    """Which pages have a URL that matches one of some patterns."""
    urls, patterns = silent[0].reading.pages.url.part(pages.start, pages.stop), list(map(re.compile, silent[1]))
    return {"page": np.array([any(each.search(url) for each in patterns) for url in urls], bool)}


def _counting(deciding: _LinkFilter, some: range) -> dict[str, Array]:
    source, strategy, sequential, silent, excluded, (of_node, of_page) = deciding
    links, anchors = source.links, source.reading.anchors
    page = links.page[some.start : some.stop]
    counts = ~sequential[some.start : some.stop] if len(sequential) else np.ones(len(page), bool)
    if len(silent):
        counts &= ~silent[page]
    if len(of_page):
        node = np.searchsorted(links.offsets, np.arange(some.start, some.stop), side="right") - 1
        counts &= of_page[page] != of_node[node]
    if not strategy.navigation or len(excluded):
        anchor = anchors.offsets[page] + links.anchor[some.start : some.stop]
        if not strategy.navigation:
            counts &= anchors.flags[anchor] & AnchorFlag.SEQUENTIAL == 0
        if len(excluded):
            counts &= ~excluded[anchor]
    return {"link": counts.view(np.uint8)}


def _ranges_of_links(source: BagSource) -> Iterator[tuple[int, UInt32s, Int64s]]:
    """Ranges of all links: the first of each, their pages, and their places in the columns of anchors."""
    links, anchors = source.links, source.reading.anchors
    for begin in range(0, len(links.page), _AT_ONCE):
        page = links.page[begin : begin + _AT_ONCE]
        yield begin, page, anchors.offsets[page] + links.anchor[begin : begin + _AT_ONCE]


def _of_anchors(marked: tuple[BagSource, Bools | Bytes], pages: tuple[int, int]) -> dict[str, Array]:
    """Whether the block of each anchor of some pages is marked; not for an anchor on a page without blocks."""
    source, of_block = marked
    page, block = _blocks_of_pages(source.reading, pages)
    offsets = source.reading.blocks.offsets
    found = np.zeros(len(page), bool)
    has_blocks = offsets[page + 1] > offsets[page]
    found[has_blocks] = of_block[block[has_blocks]] != 0
    return {"anchor": found}


def _blocks_of_pages(reading: CheckedReading, pages: tuple[int, int]) -> tuple[Int64s, Int64s]:
    """The page and the block of each anchor of some pages."""
    (first, last), offsets = pages, reading.anchors.offsets
    page = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
    return page, blocks_of_anchors(reading, page, np.arange(offsets[first], offsets[last]))


def blocks_of_links(reading: CheckedReading, links: CheckedLinks) -> Int64s:
    """The block that contains each link; any block for a page without blocks."""
    return blocks_of_anchors(reading, links.page, reading.anchors.offsets[links.page] + links.anchor)


def blocks_of_anchors(reading: CheckedReading, page: UInt32s | Int64s, anchor: Int64s) -> Int64s:
    """The block that contains each of some anchors, given the page and the place in the columns of anchors."""
    anchors, blocks = reading.anchors, reading.blocks
    token = anchors.start[anchor].astype(np.int64) - ((anchors.flags[anchor] & AnchorFlag.TRAILING) != 0)
    return blocks_at(blocks.offsets, blocks.token, page.astype(np.int64), token)
