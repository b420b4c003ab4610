"""Which candidates are worth an exact comparison, page by page."""

from __future__ import annotations

import math
from collections.abc import Sequence

Terms = Sequence[tuple[int, float]]


def enough_agreement(agreements: Sequence[int], wanted: int, slack: float, most: int) -> int:
    """How often a page must agree to be a candidate.

    >>> enough_agreement([9, 9, 5, 4, 2, 1], wanted=2, slack=2.0, most=9)
    3
    >>> enough_agreement([9, 9, 5, 4, 3, 3], wanted=2, slack=2.0, most=4)
    4
    """
    ranked = sorted((each for each in agreements if each), reverse=True)
    if len(ranked) < wanted:
        return 1
    last = ranked[wanted - 1]
    least = max(1, math.ceil(last - slack * math.sqrt(last)))
    for enough in range(least, last):
        if sum(each >= enough for each in ranked) <= most:
            return enough
    return last


def promise(asked: dict[int, float], terms: Terms, agreement: float, heavy: int, trust: float) -> float:
    """What a bag may share: its heaviest terms exactly, of the rest a trusted part of a guess.

    >>> promise({1: 0.5}, [(1, 0.25), (2, 0.25), (3, 0.5)], agreement=0.5, heavy=2, trust=0.75)
    0.5
    """
    both = sum(min(asked.get(term, 0.0), weight) for term, weight in terms[:heavy])
    return both + trust * (2 * agreement / (1 + agreement)) * (1 - sum(weight for _, weight in terms[:heavy]))


def narrow(
    agreements: dict[int, int],
    wanted: int,
    room: int,
    most: int,
    slack: float,
    coordinates: int,
    asked: dict[int, float],
    bags: Sequence[Terms],
    heavy: int,
    trust: float,
) -> list[int]:
    """The `room` most promising nodes, in order."""
    few = sum(map(bool, agreements.values())) <= room
    enough = 1 if few else enough_agreement(list(agreements.values()), wanted, slack, most)
    likely = sorted(node for node, agreement in agreements.items() if agreement >= enough)
    if len(likely) <= room:
        return likely
    scores = {node: promise(asked, bags[node], agreements[node] / coordinates, heavy, trust) for node in likely}
    return sorted(sorted(likely, key=lambda node: (-scores[node], node))[:room])
