"""Familial distance, from the paths of classes."""

from __future__ import annotations

from collections.abc import Iterable

Path = tuple[str, ...]


def family(a: Path, b: Path) -> int:
    """Same class, siblings, cousins or unrelated.

    >>> a = ("recreation", "aviation", "un-powered")
    >>> family(a, a), family(a, (*a[:2], "airlines")), family(a, ("recreation", "autos", "makes")), family(a, ("arts",))
    (0, 1, 2, 3)
    """
    if a == b:
        return 0
    if len(a) >= 2 and len(b) >= 2 and a[:-1] == b[:-1]:
        return 1
    return 2 if a[0] == b[0] else 3


def tree(a: Path, b: Path) -> int:
    """The steps from a up to the most specific class that dominates both.

    >>> tree(("a", "b", "c"), ("a",)), tree(("a",), ("a", "b", "c"))
    (2, 0)
    """
    for steps in range(len(a) + 1):
        above = a[: len(a) - steps]
        if b[: len(above)] == above:
            return steps
    raise AssertionError("the root dominates all")


def nearest(some: Iterable[Path], others: Iterable[Path], whole_tree: bool) -> int:
    """The least distance from any of some classes to any of others."""
    others = list(others)
    distance = tree if whole_tree else family
    return min(distance(a, b) for a in some for b in others)
