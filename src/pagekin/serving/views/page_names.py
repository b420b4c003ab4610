"""Pages as the page names them, and how they are found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pagekin.errors import NoPageError
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.views.text import last_part, shown, site_end
from pagekin.shapes.search import search as searched
from pagekin.store.catalog import Catalog

_TITLES, _FEWEST = 60, 4  # of a host, that are looked at; that must end alike
_TYPED = 500  # letters that are searched for


@dataclass(frozen=True)
class PageRef:
    """A page that can be gone to."""

    node: int
    id: str
    url: str
    title: str  # as it is shown: never empty, cut, without control characters and the name of the site
    host: str


def refs(indexed: IndexedStore, nodes: Iterable[int]) -> list[PageRef]:
    """The pages of some nodes."""
    return [_ref(indexed, row) for node in nodes for row in indexed.catalog.rows(_SELECT + "WHERE node = ?", int(node))]


def ref(indexed: IndexedStore, node: int) -> PageRef:
    """The page of a node."""
    return refs(indexed, [node])[0]


def refs_by_url(indexed: IndexedStore, urls: Iterable[str]) -> list[PageRef]:
    """The pages at some URLs, which the collection has."""
    return [_ref(indexed, row) for url in urls for row in indexed.catalog.rows(_SELECT + "WHERE url = ? LIMIT 1", url)]


def refs_by_row(indexed: IndexedStore, rows: Sequence[int]) -> list[PageRef]:
    """The pages of some rows, each once."""
    query = "SELECT node FROM pages WHERE row = ?"
    return refs(indexed, dict.fromkeys(found["node"] for row in rows for found in indexed.catalog.rows(query, row)))


def ref_by_id(indexed: IndexedStore, id: str) -> PageRef:
    """The page of an id."""
    for row in indexed.catalog.rows(_SELECT + "WHERE id = ? LIMIT 1", id):
        return _ref(indexed, row)
    raise NoPageError(f"no page has the id {shown(id, 40)!r}; it may have left the collection, so search for it")


def meant(indexed: IndexedStore, name: str) -> PageRef:
    """The page that somebody means: an id, a URL, a title."""
    if re.fullmatch("[0-9a-f]{16}", name):
        return ref_by_id(indexed, name)
    return ref(indexed, indexed.find_node(name))


def search(indexed: IndexedStore, query: str, limit: int) -> list[PageRef]:
    """Pages that somebody who has typed so much may mean."""
    return refs_by_url(indexed, [page["url"] for page in searched(indexed, query[:_TYPED], limit)["pages"]])


_SELECT = "SELECT node, id, url, title, host FROM nodes "


def _ref(indexed: IndexedStore, row: Sequence[Any]) -> PageRef:
    node, id, url, title, host = row
    site = _site_name(indexed.catalog, host) if title else ""
    title = shown(title.removesuffix(site)) if title != site else shown(title)
    return PageRef(node, id, url, title or shown(last_part(url)), shown(host, 80))


@lru_cache(4096)
def _site_name(catalog: Catalog, host: str) -> str:
    """The end that titles of a host have in common, where sites put their name; a list can do without it."""
    found = catalog.rows("SELECT title FROM nodes WHERE host = ? AND title != '' LIMIT ?", host, _TITLES)
    ends = Counter(site_end(row["title"]) for row in found)
    end, count = ends.most_common(1)[0] if ends else ("", 0)
    return end if count >= _FEWEST and count >= 0.8 * len(found) else ""
