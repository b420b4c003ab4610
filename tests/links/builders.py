"""Small link graphs for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pagekin.links.link_graph import LinkGraph, StoredLinks, prepare
from pagekin.links.settings import Preparation
from pagekin.model.arrays import Array
from pagekin.model.link_columns import LinkColumns
from reference import link_scores as reference

EVERYTHING = Preparation(in_links=10**6, out_links=10**6, popular=1.0)


def stored_links_of(
    links: Mapping[tuple[int, int], list[int]], urls: Sequence[str], pages: int | None = None
) -> StoredLinks:
    """Links {(citing, cited): places} between nodes, of which the first are pages of the collection."""
    flat = [(citing, cited, place) for (citing, cited), places in links.items() for place in places]
    columns = np.array(flat, np.int64).reshape(-1, 3).T
    has_page = np.arange(len(urls)) < (len(urls) if pages is None else pages)
    return StoredLinks(columns[0], columns[1], columns[2], has_page, lambda: urls)


def link_graph_of(
    links: Mapping[tuple[int, int], list[int]], nodes: int, preparation: Preparation = EVERYTHING
) -> LinkGraph:
    return prepare(stored_links_of(links, [f"http://h{node}.example/" for node in range(nodes)]), preparation)


def link_columns_of(pages: reference.Pages) -> LinkColumns:
    """The columns of these pages, each a node of its own; the target of an anchor is the node of its number."""
    count = len(pages)
    links: list[list[tuple[int, int]]] = [[] for _ in pages]
    for page, anchors in enumerate(pages):
        for number, anchor in enumerate(anchors):
            if anchor.target != page:
                links[anchor.target].append((page, number))
    flat = [anchor for anchors in pages for anchor in anchors]
    in_links = [link for each in links for link in each]
    bits = np.array([anchor.counts for anchor in flat], np.uint8)
    in_degree = reference.in_degrees(pages)
    return LinkColumns(
        rows=_mapped(range(count + 1), np.int64),
        node=_mapped(range(count), np.uint32),
        cited=_mapped(np.cumsum([0, *map(len, links)]), np.int64),
        page=_mapped([page for page, _ in in_links], np.uint32),
        anchor=_mapped([anchor for _, anchor in in_links], np.uint32),
        offsets=_mapped(np.cumsum([0, *map(len, pages)]), np.int64),
        start=_mapped([anchor.word for anchor in flat], np.uint32),
        target=_mapped([anchor.target for anchor in flat], np.uint32),
        counting=_mapped(np.packbits(bits, bitorder="little"), np.uint8),
        node_of_target=_mapped(range(count), np.uint32),
        in_degree=_mapped(in_degree, np.uint32),
        norm=_mapped([reference.norm(pages, page) for page in range(count)], np.float32),
        idf=_mapped([reference.idf(pages, page) for page in range(count)], np.float64),
        rarity=_mapped([reference.rarity(pages, page) for page in range(count)], np.float64),
    )


def _mapped(values: Sequence[int] | Sequence[float] | Array, kind: type) -> Array:
    """A read-only array, as those from files are: a kernel is compiled once for both."""
    array: Array = np.array(values, kind)
    array.flags.writeable = False
    return array
