"""What jobs open, such as a store: kept for the next job of the same process."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Opened = TypeVar("Opened")
_MOST = 3  # things that are kept, as a stage needs a store and one value
_kept: dict[Hashable, Any] = {}


def opened_once(key: Hashable, make: Callable[[], Opened]) -> Opened:
    """What `make` gives, or what it gave for this key in an earlier job of this process, if that is still kept."""
    if key not in _kept:
        made = make()
        while len(_kept) >= _MOST:
            del _kept[next(iter(_kept))]
        _kept[key] = made
    opened: Opened = _kept[key]
    return opened
