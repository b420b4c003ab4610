"""References to pages: what a template needs to name and link a page, and how pages are found."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pagekin.collection.info import search_pages
from pagekin.errors import NoPageError
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.views.text import clean_line, name_from_url, site_suffix
from pagekin.store.catalog import Catalog

_TITLES, _MIN_TITLES = 60, 4  # of a host: titles that are read, and titles that must have the same suffix
_QUERY_LENGTH = 500


@dataclass(frozen=True)
class PageRef:
    """A page that a template can link to."""

    node: int
    id: str
    url: str
    title: str  # for display: never empty, shortened, without control characters and the name of the site
    host: str


def refs(indexed: IndexedStore, nodes: Iterable[int]) -> list[PageRef]:
    """Return the pages of nodes."""
    return [page for node in nodes for page in _select(indexed, "node", int(node))]


def refs_by_url(indexed: IndexedStore, urls: Iterable[str]) -> list[PageRef]:
    """Return the pages at URLs of the collection."""
    return [page for url in urls for page in _select(indexed, "url", url)]


def refs_by_row(indexed: IndexedStore, rows: Sequence[int]) -> list[PageRef]:
    """Return the pages of rows, without repetition."""
    query = "SELECT node FROM pages WHERE row = ?"
    return refs(indexed, dict.fromkeys(found["node"] for row in rows for found in indexed.catalog.rows(query, row)))


def ref_by_id(indexed: IndexedStore, id: str) -> PageRef:
    """Return the page with an id."""
    for page in _select(indexed, "id", id):
        return page
    raise NoPageError(f"no page has the id {clean_line(id, 40)!r}; it may have left the collection, so search for it")


def find_page(indexed: IndexedStore, name: str) -> PageRef:
    """Return the page with an id, URL or title."""
    if re.fullmatch("[0-9a-f]{16}", name):
        return ref_by_id(indexed, name)
    return refs(indexed, [indexed.find_node(name)])[0]


def search_refs(indexed: IndexedStore, query: str, limit: int) -> list[PageRef]:
    """Return the pages that match what a user has typed so far."""
    return refs_by_url(indexed, [page.url for page in search_pages(indexed, query[:_QUERY_LENGTH], limit)])


def _select(indexed: IndexedStore, column: str, value: int | str) -> list[PageRef]:
    query = f"SELECT node, id, url, title, host FROM nodes WHERE {column} = ? LIMIT 1"
    return [
        PageRef(node, id, url, _display_title(indexed, url, title, host), clean_line(host, 80))
        for node, id, url, title, host in indexed.catalog.rows(query, value)
    ]


def _display_title(indexed: IndexedStore, url: str, title: str, host: str) -> str:
    suffix = _common_suffix(indexed.catalog, host) if title else ""
    return clean_line(title if title == suffix else title.removesuffix(suffix)) or clean_line(name_from_url(url))


@lru_cache(4096)
def _common_suffix(catalog: Catalog, host: str) -> str:
    """Return the end that the titles of a host have in common, usually the name of the site."""
    found = catalog.rows("SELECT title FROM nodes WHERE host = ? AND title != '' LIMIT ?", host, _TITLES)
    suffixes = Counter(site_suffix(row["title"]) for row in found)
    suffix, count = suffixes.most_common(1)[0] if suffixes else ("", 0)
    return suffix if count >= _MIN_TITLES and count >= 0.8 * len(found) else ""
