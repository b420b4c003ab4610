"""pagekin finds the pages that are kin to a page, in any hyperlinked collection.

`pagekin.build(["public/"], "site.kin")` reads a collection, `pagekin.open("site.kin")` looks into it.
`pagekin.group(results)` groups the near-duplicates of any result list, `pagekin.find_duplicates("site.kin")` those of a
collection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "DuplicateGroups",
    "GroupSettings",
    "Grouping",
    "IndexedStore",
    "ReadingSettings",
    "RelatedOptions",
    "Store",
    "Strategy",
    "__version__",
    "build",
    "find_duplicates",
    "group",
    "open",
]

if TYPE_CHECKING:
    from pagekin.duplicates.result_list import Grouping, group
    from pagekin.duplicates.settings import GroupSettings
    from pagekin.model.settings import ReadingSettings
    from pagekin.model.strategy import Strategy
    from pagekin.pipeline import build
    from pagekin.search.duplicates import DuplicateGroups, find_duplicates
    from pagekin.search.indexed_store import IndexedStore
    from pagekin.search.options import RelatedOptions
    from pagekin.store.store import Store

    open = IndexedStore.open

_HOMES = {
    "build": "pagekin.pipeline",
    "find_duplicates": "pagekin.search.duplicates",
    "group": "pagekin.duplicates.result_list",
    "GroupSettings": "pagekin.duplicates.settings",
    "Grouping": "pagekin.duplicates.result_list",
    "ReadingSettings": "pagekin.model.settings",
    "IndexedStore": "pagekin.search.indexed_store",
    "Store": "pagekin.store.store",
    "Strategy": "pagekin.model.strategy",
    "DuplicateGroups": "pagekin.search.duplicates",
    "RelatedOptions": "pagekin.search.options",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is asked for."""
    from importlib import import_module

    if name == "open":
        return __getattr__("IndexedStore").open
    if name not in _HOMES:
        raise AttributeError(f"module 'pagekin' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
