"""The order of the terms of a bag."""

from __future__ import annotations

from collections.abc import Sequence


def heaviest_first(weights: Sequence[float]) -> list[int]:
    """Places by falling weight; equal weights in their order.

    >>> heaviest_first([0.25, 0.5, 0.25])
    [1, 0, 2]
    """
    return sorted(range(len(weights)), key=lambda place: -weights[place])
