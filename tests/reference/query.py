"""Which candidates are worth an exact comparison, page by page."""

from __future__ import annotations

import math
from collections.abc import Sequence

Terms = Sequence[tuple[int, float]]


def min_agreement(agreements: Sequence[int], wanted: int, slack: float, most: int) -> int:
    """How often a page must agree to be a candidate.

    >>> min_agreement([9, 9, 5, 4, 2, 1], wanted=2, slack=2.0, most=9)
    3
    >>> min_agreement([9, 9, 5, 4, 3, 3], wanted=2, slack=2.0, most=4)
    4
    """
    ranked = sorted((each for each in agreements if each), reverse=True)
    if len(ranked) < wanted:
        return 1
    last = ranked[wanted - 1]
    least = max(1, math.ceil(last - slack * math.sqrt(last)))
    for threshold in range(least, last):
        if sum(each >= threshold for each in ranked) <= most:
            return threshold
    return last


def estimate_shared(query: dict[int, float], terms: Terms, agreement: float, heavy: int, trust: float) -> float:
    """What a bag may share: its heaviest terms exactly, of the rest a trusted part of a guess.

    >>> estimate_shared({1: 0.5}, [(1, 0.25), (2, 0.25), (3, 0.5)], agreement=0.5, heavy=2, trust=0.75)
    0.5
    """
    both = sum(min(query.get(term, 0.0), weight) for term, weight in terms[:heavy])
    return both + trust * (2 * agreement / (1 + agreement)) * (1 - sum(weight for _, weight in terms[:heavy]))


def select_candidates(
    agreements: dict[int, int],
    wanted: int,
    room: int,
    most: int,
    slack: float,
    coordinates: int,
    query: dict[int, float],
    bags: Sequence[Terms],
    heavy: int,
    trust: float,
) -> list[int]:
    """The `room` most promising nodes, in order."""
    few = sum(map(bool, agreements.values())) <= room
    threshold = 1 if few else min_agreement(list(agreements.values()), wanted, slack, most)
    likely = sorted(node for node, agreement in agreements.items() if agreement >= threshold)
    if len(likely) <= room:
        return likely
    scores = {node: estimate_shared(query, bags[node], agreements[node] / coordinates, heavy, trust) for node in likely}
    return sorted(sorted(likely, key=lambda node: (-scores[node], node))[:room])


def nth_smallest(values: Sequence[float], n: int) -> float:
    """The value at place n of the sorted values.

    >>> nth_smallest([0.5, 0.25, 0.5], 1)
    0.5
    """
    return sorted(values)[n]


def largest_of_rows(rows: Sequence[Sequence[tuple[float, int]]], most: int) -> list[list[int]]:
    """The places, among all values, of the largest ones above 0 of each row of (value, number); -1 where there is none.

    >>> largest_of_rows([[(0.5, 7), (0.0, 1)], [(0.25, 3), (0.5, 2), (0.25, 1)]], 2)
    [[0, -1], [3, 4]]
    """
    found, begin = [], 0
    for row in rows:
        order = sorted((-value, number, begin + place) for place, (value, number) in enumerate(row) if value > 0.0)
        found.append([*(place for _, _, place in order), *[-1] * most][:most])
        begin += len(row)
    return found
