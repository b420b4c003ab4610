"""What a store knows of a page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagekin.search.indexed_store import IndexedStore

SHOWN = 10  # pages that link to it, and that it links to
_EXCERPT = 400


def describe(store: IndexedStore, row: int) -> dict[str, Any]:
    """All that `show` tells."""
    page = store.page(row)
    node = page["node"]
    return {
        "id": page["id"],
        "url": page["url"],
        "title": page["title"],
        "host": page["host"],
        "language": page["language"],
        "charset": page["charset"],
        "captured": _moment(page["captured"]),
        "source": page["source"],
        "words": page["tokens"],
        "html_bytes": page["html_bytes"],
        "sha256": page["digest"],
        "in_degree": page["in_degree"],
        "out_degree": page["out_degree"],
        "aliases": [{"url": url, "kind": kind} for url, kind in store.catalog.aliases(node)],
        "top_terms": [{"term": term, "weight": round(weight, 6)} for term, weight in store.top_terms(node)],
        "excerpt": _excerpt(store.text(row)),
        "anchor_texts": [{"text": text, "count": count} for text, count in store.anchor_texts(node)],
        "linked_from": store.linked_from(node, SHOWN),
        "links_to": store.links_to(row, SHOWN),
    }


def _moment(seconds: int) -> str | None:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z") if seconds else None


def _excerpt(text: str) -> str:
    flat = " ".join(text[: 4 * _EXCERPT].split())
    return flat if len(flat) <= _EXCERPT else flat[:_EXCERPT].rpartition(" ")[0] + " …"
