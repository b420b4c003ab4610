"""The link graph: which links of a store count, after the preparation of section 6.1 of the paper."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pagekin.bags.source import BagSource, counting_links
from pagekin.links.settings import Preparation
from pagekin.model.arrays import Bools, Floats, Int64s, offsets_of, spans
from pagekin.model.strategy import Strategy
from pagekin.store.store import Store
from pagekin.urls import host_of


@dataclass(frozen=True)
class StoredLinks:
    """The links of a store, from node to node, with their positions.

    Positions on different pages are far apart. Positions of links between the same two nodes are ascending.
    """

    citing: Int64s
    cited: Int64s
    position: Int64s
    has_page: Bools  # per node: whether the collection contains its page
    urls: Callable[[], Sequence[str]]  # of all nodes; a function because they are large and rarely needed


def stored_links(store: Store, strategy: Strategy) -> StoredLinks:
    links, anchors = store.links, store.reading.anchors
    source = BagSource.of(store)
    counting = counting_links(source, strategy) != 0
    page = links.page.astype(np.int64)
    cited = np.repeat(np.arange(len(links.offsets) - 1), links.lengths())
    citing = source.node_of_page()[page].astype(np.int64)
    position = page << 32 | anchors.start[anchors.offsets[page] + links.anchor]
    has_page = np.arange(len(links.offsets) - 1) < len(store.nodes) - 1
    columns = citing[counting], cited[counting], position[counting], has_page
    return StoredLinks(*columns, lambda: [row[0] for row in store.catalog.each("SELECT url FROM nodes ORDER BY node")])


@dataclass(frozen=True)
class DistinctLinks:
    """Distinct (citing, cited) pairs of nodes, sorted."""

    citing: Int64s
    cited: Int64s
    position_offsets: Int64s  # the links of pair k are at position[position_offsets[k]:position_offsets[k+1]]
    position: Int64s

    def __len__(self) -> int:
        return len(self.citing)


@dataclass(frozen=True)
class LinkGraph:
    """The links that count. In-links are (page, pair) rows, because a page may share the in-links of another."""

    pairs: DistinctLinks
    page: Int64s  # the in-links of this page ...
    in_link: Int64s  # ... include the citing node of this pair
    compared: Bools  # per node: whether it is a page to compare
    weight: Floats  # of each node as a common out-link
    node_of: Int64s  # the node of this graph for each node of the store
    hosts: Sequence[str]  # the URLs of the nodes if nodes are hosts, else empty
    counts: dict[str, int]  # ignored or changed links and pages

    def __len__(self) -> int:
        return len(self.compared)

    def expand(self, core: Int64s, steps: int) -> Int64s:
        """Add the in-links and out-links of a core set to it, `steps` times; the resulting nodes."""
        inside = np.zeros(len(self), bool)
        inside[core] = True
        for _ in range(steps):
            before = inside.copy()
            inside[self.pairs.cited[before[self.pairs.citing]]] = True
            inside[self.pairs.citing[self.in_link[before[self.page]]]] = True
        return np.flatnonzero(inside)

    def restrict_to(self, core: Int64s, steps: int) -> "LinkGraph":
        """Compare only the core set expanded `steps` - 1 times, by all its links: the paper's Expansion<steps>."""
        pages = np.zeros(len(self), bool)
        pages[self.expand(core, steps - 1)] = True
        return replace(self, compared=self.compared & pages)


def prepare(links: StoredLinks, preparation: Preparation) -> LinkGraph:
    hosts, node_of = _merge_hosts(links.urls()) if preparation.chop_hosts else ([], np.arange(len(links.has_page)))
    urls = (lambda: hosts) if hosts else links.urls
    nodes = int(node_of.max(initial=-1)) + 1
    stopped = np.zeros(nodes, bool)
    if preparation.stop:
        pattern = re.compile("|".join(f"(?:{each})" for each in preparation.stop))
        stopped = np.array([pattern.search(url) is not None for url in urls()], bool)
    compared = (np.bincount(node_of, links.has_page | preparation.outside, nodes) > 0) & ~stopped
    citing, cited = node_of[links.citing], node_of[links.cited]
    counting = (citing != cited) & ~stopped[citing] & ~stopped[cited]
    pairs = _distinct(citing, cited, links.position, counting, nodes)
    portals = np.bincount(pairs.citing, minlength=nodes) > preparation.out_links
    if portals.any():
        pairs = _distinct(citing, cited, links.position, counting & ~portals[citing], nodes)
    page, in_link, backed_off = _back_off(pairs, preparation.back_off, urls, nodes)
    kept = _limit_in_links(pairs, page, in_link, preparation.in_links, nodes)
    popular = max(1.0, preparation.popular * int(compared.sum()))
    in_degree = np.bincount(pairs.cited, minlength=nodes)
    counts = {
        "portals": int(portals.sum()),
        "stopped": int(stopped.sum()),
        "in_links_dropped": len(page) - len(kept),
        "popular": int((in_degree > popular).sum()),
        "backed_off": backed_off,
    }
    weight = popular / np.maximum(in_degree, popular)
    return LinkGraph(pairs, page[kept], in_link[kept], compared, weight, node_of, hosts, counts)


def _merge_hosts(urls: Sequence[str]) -> tuple[list[str], Int64s]:
    """The URLs of all hosts, and the host number of every node."""
    hosts = sorted({host_of(url) for url in urls})
    number = {host: k for k, host in enumerate(hosts)}
    return [f"http://{host}/" for host in hosts], np.array([number[host_of(url)] for url in urls], np.int64)


def _distinct(citing: Int64s, cited: Int64s, position: Int64s, counting: Bools, nodes: int) -> DistinctLinks:
    key, position = (citing * nodes + cited)[counting], position[counting]
    order = np.argsort(key, kind="stable")
    key, position = key[order], position[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return DistinctLinks(key[first] // nodes, key[first] % nodes, np.append(first, len(key)), position)


def _back_off(
    pairs: DistinctLinks, least: int, urls: Callable[[], Sequence[str]], nodes: int
) -> tuple[Int64s, Int64s, int]:
    """All in-links as (page, pair), sorted by page and citing node; and the number of pages that share others'."""
    in_link = np.argsort(pairs.cited, kind="stable")
    page = pairs.cited[in_link]
    in_degree = np.bincount(page, minlength=nodes)
    ancestor = _ancestors(urls(), in_degree, least) if least else {}
    if not ancestor:
        return page, in_link, 0
    poor, rich = np.array(list(ancestor), np.int64), np.array(list(ancestor.values()), np.int64)
    shared = in_link[spans((np.cumsum(in_degree) - in_degree)[rich], in_degree[rich])]
    page = np.concatenate([page, np.repeat(poor, in_degree[rich])])
    in_link = np.concatenate([in_link, shared])
    key, first = np.unique(page * nodes + pairs.citing[in_link], return_index=True)
    first = first[key // nodes != key % nodes]
    return page[first], in_link[first], len(ancestor)


def _ancestors(urls: Sequence[str], in_degree: Int64s, least: int) -> dict[int, int]:
    """For each node with fewer than `least` in-links, the nearest URL above it that has enough."""
    node_of = {url: node for node, url in enumerate(urls)}
    found = {}
    for node in np.flatnonzero(in_degree < least).tolist():
        above = (node_of.get(url) for url in parent_urls(urls[node]))
        ancestor = next((each for each in above if each is not None and in_degree[each] >= least), None)
        if ancestor is not None:
            found[node] = ancestor
    return found


def parent_urls(url: str) -> list[str]:
    """Remove the last path element of a URL repeatedly, down to the host.

    >>> parent_urls("http://example.org/a/b/c.html")
    ['http://example.org/a/b/', 'http://example.org/a/', 'http://example.org/']
    """
    parts = url.partition("?")[0].rstrip("/").split("/")
    return ["/".join(parts[:end]) + "/" for end in range(len(parts) - 1, 2, -1)]


def _limit_in_links(pairs: DistinctLinks, page: Int64s, in_link: Int64s, limit: int, nodes: int) -> Int64s:
    """Select up to `limit` in-links per page: from the pages with most out-links, ties by URL."""
    counts = np.bincount(page, minlength=nodes)
    many = np.flatnonzero(counts[page] > limit)
    out_degree = np.bincount(pairs.citing, minlength=nodes)[pairs.citing[in_link[many]]]
    order = np.lexsort((-out_degree, page[many]))
    before = offsets_of(counts * (counts > limit))[page[many]]
    dropped = many[order[np.arange(len(many)) - before >= limit]]
    return np.delete(np.arange(len(page)), dropped)
