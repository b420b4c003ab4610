"""What a store holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagekin.store.store import Store


def describe(store: Store) -> dict[str, Any]:
    """All that `info` tells."""
    catalog = store.catalog
    return {
        "store": str(store.root),
        "format": store.manifest.version,
        "generation": store.manifest.generation,
        "settings": store.manifest.settings,
        "strategy": store.manifest.index["strategy"] if store.manifest.index is not None else None,
        "duplicates": store.manifest.index.get("duplicates") if store.manifest.index is not None else None,
        "counts": store.manifest.counts,
        "bytes": sum(file["bytes"] for file in store.manifest.all_files().values()),
        "hosts": [
            {"host": row["host"], "pages": row["pages"]}
            for row in catalog.rows(
                "SELECT host, count(*) AS pages FROM pages GROUP BY host ORDER BY pages DESC, host LIMIT 10"
            )
        ],
        "languages": {
            row["language"] or "unknown": row["pages"]
            for row in catalog.rows(
                "SELECT language, count(*) AS pages FROM pages GROUP BY language ORDER BY pages DESC, language"
            )
        },
        "skipped": [
            {"reason": row["reason"], "count": row["count"], "example": row["example"], "source": row["source"]}
            for row in catalog.rows(
                "SELECT reason, sum(count) AS count, min(example) AS example, min(source) AS source FROM skips"
                " GROUP BY reason ORDER BY count DESC, reason"
            )
        ],
    }
