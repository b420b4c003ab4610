"""Equation 4 of the paper, by its definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Links = Mapping[tuple[int, int], list[int]]  # (citing, cited) -> where the links stand


def neighbours(links: Links, measure: str, page: int) -> set[int]:
    """C(p): in-links, out-links, or both.

    >>> neighbours({(1, 2): [0], (2, 3): [0]}, "amsler", 2)
    {1, 3}
    """
    incoming = {citing for citing, cited in links if cited == page}
    outgoing = {cited for citing, cited in links if citing == page}
    return {"coupling": outgoing, "amsler": incoming | outgoing}.get(measure, incoming)


def closeness(links: Links, citing: int, one: int, other: int, half: float) -> float:
    """What a page that cites two pages counts: one half if its links to them stand `half` words apart.

    >>> closeness({(1, 2): [0, 90], (1, 3): [60]}, 1, 2, 3, 30.0)
    0.5
    """
    apart = min(abs(a - b) for a in links[citing, one] for b in links[citing, other])
    return half / (half + apart)


def similarity(links: Links, measure: str, one: int, other: int, half: float) -> float:
    """Equation 4; for `proximity` a common in-link counts by its closeness.

    >>> similarity({(1, 2): [0], (1, 3): [0], (2, 3): [0]}, "co-citation", 2, 3, 0.0)
    0.6666666666666666
    """
    a, b = neighbours(links, measure, one), neighbours(links, measure, other)
    direct = ((one, other) in links) + ((other, one) in links)
    common = float(len(a & b))
    if measure == "proximity":
        common = sum(closeness(links, citing, one, other, half) for citing in sorted(a & b))
    return (common + direct) / len(a | b | {one, other})


def pairs_above(
    links: Links, measure: str, pages: Iterable[int], delta: float, half: float
) -> dict[tuple[int, int], float]:
    """All pairs that are similar at all, and at least `delta`."""
    pages = sorted(pages)
    found = {(a, b): similarity(links, measure, a, b, half) for a in pages for b in pages if a < b}
    return {pair: value for pair, value in found.items() if value >= delta and value > 0}
