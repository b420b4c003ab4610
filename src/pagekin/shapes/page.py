"""A page as JSON."""

from __future__ import annotations

from typing import Any

from pagekin.collection.pages import describe_page
from pagekin.model.jsons import to_json
from pagekin.search.indexed_store import IndexedStore


def describe(store: IndexedStore, row: int) -> dict[str, Any]:
    """All that is stored of a page."""
    return dict(to_json(describe_page(store, row)))
