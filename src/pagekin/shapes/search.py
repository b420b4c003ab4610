"""Pages that somebody who types may mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagekin.search.indexed_store import IndexedStore

_PREFIXES = ("", "http://", "https://", "http://www.", "https://www.")
_ROWS = "SELECT row FROM pages WHERE "


def search(indexed: IndexedStore, query: str, limit: int) -> dict[str, Any]:
    """The page of this URL, pages whose titles hold the words, whose URLs begin so, or have this anywhere."""
    rows: dict[int, None] = {}
    catalog, query = indexed.catalog, query.strip().encode("utf-8", "replace").decode("utf-8")
    for url in indexed.urls_meant(query) if query else ():
        row = catalog.page_at(url)
        if row is not None:
            rows[row] = None
    for row in catalog.exactly_titled(query)[:limit] + catalog.titled(query, limit):
        rows[row] = None
    for prefix in _PREFIXES if query else ():
        begin = prefix + query
        found = catalog.rows(f"{_ROWS} url >= ? AND url < ? ORDER BY url LIMIT ?", begin, begin + "\U0010ffff", limit)
        rows |= {each["row"]: None for each in found}
    if query and len(rows) < limit:
        anywhere = catalog.rows(f"{_ROWS} instr(url, ?) ORDER BY row LIMIT ?", query, limit)
        rows |= {each["row"]: None for each in anywhere}
    return {"query": query, "pages": [_named(indexed, row) for row in list(rows)[:limit]]}


def _named(indexed: IndexedStore, row: int) -> dict[str, Any]:
    page = indexed.catalog.page(row)
    return {name: page[name] for name in ("id", "url", "title", "host", "language", "in_degree")}
