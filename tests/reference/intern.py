"""Numbers for byte strings: what a dict does."""

from __future__ import annotations

from collections.abc import Sequence


def intern(strings: Sequence[bytes]) -> tuple[list[int], list[int]]:
    """The number of each string, and where each number appears first.

    >>> intern([b"to", b"be", b"or", b"not", b"to", b"be"])
    ([0, 1, 2, 3, 0, 1], [0, 1, 2, 3])
    """
    number_of: dict[bytes, int] = {}
    first = []
    for place, string in enumerate(strings):
        if string not in number_of:
            number_of[string] = len(number_of)
            first.append(place)
    return [number_of[string] for string in strings], first
