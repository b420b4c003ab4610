"""What a store holds, as JSON."""

from __future__ import annotations

from typing import Any

from pagekin.collection.info import describe_store
from pagekin.model.jsons import to_json
from pagekin.store.store import Store


def describe(store: Store) -> dict[str, Any]:
    """What a store holds."""
    return dict(to_json(describe_store(store)))
