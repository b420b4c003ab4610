"""Candidates by looking at all sets, one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


def candidates(
    sets: Sequence[Sequence[int]], wanted: Sequence[int], most: int, few: int, groups: Sequence[int]
) -> tuple[set[tuple[int, int]], int]:
    """(set, other) for every other set that is on one of the set's shortest lists; and how many sets met a cut list.

    Sets of one group are no pair.
    """
    lists: dict[int, list[int]] = defaultdict(list)
    for here, elements in enumerate(sets):
        for element in elements:
            lists[element].append(here)
    found, cut = set(), 0
    for here, elements in enumerate(sets):
        if wanted[here] < 1:
            continue
        shortest = sorted(elements, key=lambda element: len(lists[element]))[: len(elements) - wanted[here] + 1]
        cut += any(len(lists[element]) > most for element in shortest)
        for element in shortest:
            others = lists[element]
            if len(others) > most:
                before = [other for other in others if other < here]
                others = before[max(0, len(before) - few) :]
            found |= {(here, other) for other in others if groups[other] != groups[here]}
    return found, cut
