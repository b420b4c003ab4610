"""Search results as JSON."""

from __future__ import annotations

from typing import Any

from pagekin.collection.pages import search_pages
from pagekin.model.jsons import to_json
from pagekin.search.indexed_store import IndexedStore


def search(indexed: IndexedStore, query: str, limit: int) -> dict[str, Any]:
    """Pages by URL or title."""
    return dict(to_json(search_pages(indexed, query, limit)))
