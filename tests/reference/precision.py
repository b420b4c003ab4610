"""The measures of one order of pages, from their definitions."""

from __future__ import annotations

from collections.abc import Sequence, Set


def measures(scores: Sequence[float], right: Set[int], asking: int) -> tuple[float, float, float, float]:
    """Wrong pairs, precision of the first ten, of the first R, and average precision."""
    pages = [e for e in range(len(scores)) if e != asking]
    others = [e for e in pages if e not in right]
    wrong = sum(scores[e] > scores[r] for r in right for e in others)
    order = sorted((e for e in pages if scores[e] > 0), key=lambda e: (-scores[e], e))
    hits = [e in right for e in order]
    average = sum(sum(hits[: k + 1]) / (k + 1) for k in range(len(order)) if hits[k])
    error = wrong / (len(right) * len(others)) if others else 0.0
    return error, sum(hits[:10]) / 10, sum(hits[: len(right)]) / len(right), average / len(right)


def places(scores: Sequence[float], right: Set[int], asking: int) -> list[int]:
    """The places of the right pages in the order, from 1, ascending; 0 for those that are not listed."""
    listed = [e for e in range(len(scores)) if e != asking and scores[e] > float("-inf")]
    order = sorted(listed, key=lambda e: (-scores[e], e))
    found = [place for place, e in enumerate(order, 1) if e in right]
    return found + [0] * (len(right) - len(found))
