"""Lists of byte strings that become one list: what a dict and `sorted` do."""

from __future__ import annotations

from collections.abc import Sequence


def enter(lists: Sequence[Sequence[bytes]]) -> tuple[list[list[int]], list[bytes]]:
    """The numbers of each list's strings in the one list that they become, and that list.

    >>> enter([[b"to", b"be"], [b"or", b"not", b"to"], []])
    ([[0, 1], [2, 3, 0], []], [b'to', b'be', b'or', b'not'])
    """
    number_of: dict[bytes, int] = {}
    numbers = [[number_of.setdefault(string, len(number_of)) for string in strings] for strings in lists]
    return numbers, list(number_of)


def alphabetical(strings: Sequence[bytes]) -> list[int]:
    """The places of strings in the order of their bytes.

    >>> alphabetical([b"to", b"be", b"or", b"be", b"b"])
    [4, 1, 3, 2, 0]
    """
    return sorted(range(len(strings)), key=strings.__getitem__)
