"""Small link graphs for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pagekin.links.link_graph import LinkGraph, StoredLinks, prepare
from pagekin.links.settings import Preparation

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
