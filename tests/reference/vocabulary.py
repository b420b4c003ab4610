"""Numbers for byte strings, as a dict gives them, and their sorted order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from reference.minhash import GOLDEN, mix


def add_strings(lists: Sequence[Sequence[bytes]]) -> tuple[list[list[int]], list[bytes]]:
    """The numbers of each list's strings in the one list that they become, and that list.

    >>> add_strings([[b"to", b"be"], [b"or", b"not", b"to"], []])
    ([[0, 1], [2, 3, 0], []], [b'to', b'be', b'or', b'not'])
    """
    number_of: dict[bytes, int] = {}
    numbers = [[number_of.setdefault(string, len(number_of)) for string in strings] for strings in lists]
    return numbers, list(number_of)


def find_strings(strings: Sequence[bytes], table: Sequence[bytes]) -> list[int]:
    """The place of each string among the distinct strings of a table, or 2**32 - 1.

    >>> find_strings([b"to", b"be"], [b"or", b"to"])
    [1, 4294967295]
    """
    return [table.index(string) if string in table else 2**32 - 1 for string in strings]


def places_of_spans(strings: Sequence[bytes], ordered: Sequence[bytes], ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Where each string belongs in its range of a list whose ranges are in order.

    >>> places_of_spans([b"or", b"or"], [b"be", b"to", b"am", b"is"], [(0, 2), (2, 4)])
    [1, 4]
    """
    return [bisect_left(ordered, each, *some) for each, some in zip(strings, ranges, strict=True)]


def found_in_order(strings: Sequence[bytes], others: Sequence[bytes], most: int) -> list[bool]:
    """Whether each string is among the next few others, after the last one that was found.

    >>> found_in_order([b"to", b"be", b"or"], [b"be", b"to", b"is", b"or"], 2)
    [True, False, True]
    """
    place, found = 0, []
    for string in strings:
        found.append(string in others[place : place + most])
        if found[-1]:
            place = others.index(string, place) + 1
    return found


def hash_text(data: bytes) -> int:
    """A hash of a string: its length, then each eight bytes xored in, multiplied and shifted; splitmix64 at the end.

    >>> hash_text(b""), hex(hash_text(b"an oak and an elm"))
    (0, '0x8e9f18b24273ea56')
    """
    value = len(data)
    for start in range(0, len(data), 8):
        value = (value ^ int.from_bytes(data[start : start + 8], "little")) * GOLDEN % 2**64
        value ^= value >> 32
    return mix(value)


def sort_spans(strings: Sequence[bytes]) -> list[int]:
    """The places of strings in the order of their bytes.

    >>> sort_spans([b"to", b"be", b"or", b"be", b"b"])
    [4, 1, 3, 2, 0]
    """
    return sorted(range(len(strings)), key=strings.__getitem__)


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
