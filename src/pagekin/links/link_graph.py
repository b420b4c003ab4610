"""Whose links count: the preparation of section 6.1 of the paper, on the links of a store."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pagekin.links.settings import Preparation as Preparation
from pagekin.model.arrays import Bools, Floats, Int64s, spans
from pagekin.urls import host_of


@dataclass(frozen=True)
class StoredLinks:
    """Links as a store has them: from which node to which, and where each stands.

    Places of two pages lie far apart, and those of links between the same two nodes are in order.
    """

    citing: Int64s
    cited: Int64s
    place: Int64s
    has_page: Bools  # whether the collection has the page of a node, for every node
    urls: Callable[[], Sequence[str]]  # of every node; many, and rarely needed


@dataclass(frozen=True)
class LinkPairs:
    """Nodes that link to nodes, each pair once, by citing node, then by cited node."""

    citing: Int64s
    cited: Int64s
    place_offsets: Int64s  # the links of pair k stand at place[place_offsets[k]:place_offsets[k+1]]
    place: Int64s

    def __len__(self) -> int:
        return len(self.citing)


@dataclass(frozen=True)
class LinkGraph:
    """Links that count. The in-links I of a page are given as pairs, since a page may borrow those of another."""

    pairs: LinkPairs
    page: Int64s  # this page has among its in-links ...
    in_link: Int64s  # ... the citing node of this pair
    compared: Bools  # the nodes that are pages to compare
    weight: Floats  # of a node where out-links are compared
    node_of: Int64s  # the node here of each node of the store
    hosts: Sequence[str]  # the URLs of the nodes, if they are hosts; else none
    counts: dict[str, int]  # what was left out, or changed

    def __len__(self) -> int:
        return len(self.compared)

    def expanded(self, core: Int64s, steps: int) -> Int64s:
        """The nodes that a core set becomes when all in-links and out-links of its pages join it, so many times."""
        inside = np.zeros(len(self), bool)
        inside[core] = True
        for _ in range(steps):
            before = inside.copy()
            inside[self.pairs.cited[before[self.pairs.citing]]] = True
            inside[self.pairs.citing[self.in_link[before[self.page]]]] = True
        return np.flatnonzero(inside)

    def around(self, core: Int64s, steps: int) -> LinkGraph:
        """Expansion1 compares the pages of a core set by all their links, Expansion2 those of Expansion1, and so on."""
        pages = np.zeros(len(self), bool)
        pages[self.expanded(core, steps - 1)] = True
        return replace(self, compared=self.compared & pages)


def prepare(found: StoredLinks, preparation: Preparation) -> LinkGraph:
    """The links that count."""
    hosts, node_of = _chopped(found.urls()) if preparation.chop_hosts else ([], np.arange(len(found.has_page)))

    def urls() -> Sequence[str]:
        return hosts or found.urls()

    nodes = int(node_of.max(initial=-1)) + 1
    stopped = _stopped(urls, preparation.stop, nodes)
    compared = (np.bincount(node_of, found.has_page | preparation.outside, nodes) > 0) & ~stopped
    citing, cited = node_of[found.citing], node_of[found.cited]
    counting = (citing != cited) & ~stopped[citing] & ~stopped[cited]
    pairs = _once(citing, cited, found.place, counting, nodes)
    portals = np.bincount(pairs.citing, minlength=nodes) > preparation.out_links
    if portals.any():
        pairs = _once(citing, cited, found.place, counting & ~portals[citing], nodes)
    page, in_link, borrowing = _borrowed(pairs, preparation.back_off, urls, nodes)
    kept = _kept(pairs, page, in_link, preparation.in_links, nodes)
    bar = max(1.0, preparation.popular * int(compared.sum()))
    linked = np.bincount(pairs.cited, minlength=nodes)
    counts = {
        "portals": int(portals.sum()),
        "stopped": int(stopped.sum()),
        "in_links_dropped": len(page) - len(kept),
        "popular": int((linked > bar).sum()),
        "backed_off": borrowing,
    }
    return LinkGraph(pairs, page[kept], in_link[kept], compared, bar / np.maximum(linked, bar), node_of, hosts, counts)


def _chopped(urls: Sequence[str]) -> tuple[list[str], Int64s]:
    """The URLs of all hosts, and the host of every node."""
    hosts = sorted({host_of(url) for url in urls})
    number = {host: k for k, host in enumerate(hosts)}
    return [f"http://{host}/" for host in hosts], np.array([number[host_of(url)] for url in urls], np.int64)


def _stopped(urls: Callable[[], Sequence[str]], stop: tuple[str, ...], nodes: int) -> Bools:
    if not stop:
        return np.zeros(nodes, bool)
    pattern = re.compile("|".join(f"(?:{each})" for each in stop))
    return np.array([pattern.search(url) is not None for url in urls()], bool)


def _once(citing: Int64s, cited: Int64s, place: Int64s, counting: Bools, nodes: int) -> LinkPairs:
    key, place = (citing * nodes + cited)[counting], place[counting]
    order = np.argsort(key, kind="stable")
    key, place = key[order], place[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    return LinkPairs(key[first] // nodes, key[first] % nodes, np.append(first, len(key)), place)


def _borrowed(
    pairs: LinkPairs, least: int, urls: Callable[[], Sequence[str]], nodes: int
) -> tuple[Int64s, Int64s, int]:
    """(page, pair) of all in-links by page, then by citing node, with those that pages borrow; how many borrow."""
    in_link = np.argsort(pairs.cited, kind="stable")
    page = pairs.cited[in_link]
    linked = np.bincount(page, minlength=nodes)
    lender = _lenders(urls(), linked, least) if least else {}
    if not lender:
        return page, in_link, 0
    borrowers, lenders = np.array(list(lender), np.int64), np.array(list(lender.values()), np.int64)
    lent = in_link[spans((np.cumsum(linked) - linked)[lenders], linked[lenders])]
    page = np.concatenate([page, np.repeat(borrowers, linked[lenders])])
    in_link = np.concatenate([in_link, lent])
    citing = pairs.citing[in_link]
    key, once = np.unique(page * nodes + citing, return_index=True)
    once = once[key // nodes != key % nodes]
    return page[once], in_link[once], len(lender)


def _lenders(urls: Sequence[str], linked: Int64s, least: int) -> dict[int, int]:
    """For nodes with too few in-links the first with enough whose URL is theirs without its last path elements."""
    known = {url: node for node, url in enumerate(urls)}
    found = {}
    for node in np.flatnonzero(linked < least).tolist():
        for url in above(urls[node]):
            other = known.get(url)
            if other is not None and linked[other] >= least:
                found[node] = other
                break
    return found


def above(url: str) -> list[str]:
    """A URL without its last path element, without its last two, and so on down to the host.

    >>> above("http://example.org/a/b/c.html")
    ['http://example.org/a/b/', 'http://example.org/a/', 'http://example.org/']
    """
    parts = url.partition("?")[0].rstrip("/").split("/")
    return ["/".join(parts[:end]) + "/" for end in range(len(parts) - 1, 2, -1)]


def _kept(pairs: LinkPairs, page: Int64s, in_link: Int64s, most: int, nodes: int) -> Int64s:
    """Of the in-links of each page `most`: from those pages that link to most others, of equals the first by URL."""
    counts = np.bincount(page, minlength=nodes)
    many = np.flatnonzero(counts[page] > most)
    links = np.bincount(pairs.citing, minlength=nodes)[pairs.citing[in_link[many]]]
    order = np.lexsort((-links, page[many]))
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts * (counts > most))])[page[many]]
    dropped = many[order[np.arange(len(many)) - before >= most]]
    return np.delete(np.arange(len(page)), dropped)
