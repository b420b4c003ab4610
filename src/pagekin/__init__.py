"""pagekin finds related pages in any hyperlinked collection.

>>> collection = pagekin.build("pages", "site.kin", base_urls=["http://site.example/"])
>>> collection = pagekin.open("site.kin")
>>> [page.title for page in collection.related("robin", limit=1)]
['Redbreast']

`build` and `open` return a `Collection`; its methods search, explain, group, cluster, evaluate, learn and export.
`group_results` groups the near-duplicates of any result list. docs/api.md describes all of it.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

__version__ = "0.1.0"


@cache
def _public() -> dict[str, str]:
    """The module of each public name, as `__init__.pyi` lists them."""
    import re
    from pathlib import Path

    stub = Path(__file__).with_suffix(".pyi").read_text("utf-8")
    return {name: module for module, name in re.findall(r"^from (\S+) import (\w+) as \2$", stub, re.M)}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `import pagekin` is fast."""
    if name == "__all__":
        return sorted(_public())
    if name.startswith("_") or name not in _public():
        raise AttributeError(f"module 'pagekin' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_public()[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_public()})
