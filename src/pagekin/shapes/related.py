"""Related pages as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pagekin.model.jsons import to_json
from pagekin.search.results import RelatedPage, RelatedPages, RelatedQuery


def report(pages: Sequence[str], neighbors: list[RelatedPage], measure: str) -> dict[str, Any]:
    """An answer."""
    return dict(to_json(RelatedPages(RelatedQuery(tuple(pages), measure), neighbors)))
