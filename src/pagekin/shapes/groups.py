"""Groups of results as JSON."""

from __future__ import annotations

from typing import Any

from pagekin.duplicates.result_list import Grouping
from pagekin.model.jsons import to_json


def report(grouping: Grouping) -> dict[str, Any]:
    """The groups."""
    return dict(to_json(grouping.grouped()))
