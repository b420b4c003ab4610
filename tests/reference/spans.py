"""Spans of lists: copied, mapped, counted, and matched with words."""

from __future__ import annotations

from collections.abc import Sequence

Copy = tuple[int, int, int]


def permute(values: Sequence[int], order: Sequence[int]) -> list[int]:
    """
    >>> permute([5, 6, 7], [2, 0, 1])
    [7, 5, 6]
    """
    return [values[k] for k in order]


def copy_spans(source: list[int], copies: list[Copy], target: list[int]) -> list[int]:
    """`target` with every span of `source` copied to its place; a copy is (start, length, place)."""
    for start, length, place in copies:
        target[place : place + length] = source[start : start + length]
    return target


def map_spans(source: list[int], copies: list[Copy], table: list[int], target: list[int]) -> list[int]:
    """As `copy_spans`, with every value looked up in `table`, if it is there."""
    return copy_spans([table[v] if v < len(table) else v for v in source], copies, target)


def count_values(source: list[int], copies: list[Copy], size: int) -> list[int]:
    """The number of occurrences of each value below `size` in the spans."""
    values = [v for start, length, _ in copies for v in source[start : start + length]]
    return [values.count(v) for v in range(size)]


def count_rows(rows: list[list[int]], count: int) -> list[int]:
    """
    >>> count_rows([[0, 0, 2], [], [2]], 3)
    [1, 0, 2]
    """
    return [sum(value in row for row in rows) for value in range(count)]


def relative_positions(rows: list[list[int]], begins: list[int]) -> list[int]:
    """
    >>> relative_positions([[5, 7], [], [9]], [5, 8, 8])
    [0, 2, 1]
    """
    return [place - begin for row, begin in zip(rows, begins, strict=True) for place in row]


Span = tuple[int, int]


def overlapping_words(words: Sequence[Span], span: Span) -> Span:
    """The words that overlap a span; if there are none, the index where they would be.

    >>> overlapping_words([(0, 2), (3, 7), (8, 9)], (1, 4)), overlapping_words([(0, 2), (3, 7)], (2, 2))
    ((0, 2), (1, 1))
    """
    before = sum(end <= span[0] for _, end in words)
    if span[0] == span[1]:
        return before, before
    return before, before + sum(start < span[1] and end > span[0] for start, end in words)


_AROUND = bytes(range(33))


def without_fragment(href: bytes) -> bytes:
    """What resolves to the same: the href up to its fragment, but for one that would then end in white space.

    >>> without_fragment(b"a.html#b"), without_fragment(b"a #b")
    (b'a.html', b'a #b')
    """
    before = href.partition(b"#")[0]
    return before if before == before.rstrip(_AROUND) else href


def list_hrefs(hrefs: list[bytes]) -> list[bytes]:
    """Each href as it is kept."""
    return [href.strip(_AROUND).translate(None, b"\t\n\r") for href in hrefs]
