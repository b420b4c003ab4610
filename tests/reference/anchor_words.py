"""Plain twin of `kernels/touching.py`."""

from __future__ import annotations

from collections.abc import Sequence

Span = tuple[int, int]


def first_word(words: Sequence[Span], place: int) -> int:
    """How many words begin before a place."""
    return sum(start < place for start, _ in words)


def touched_words(words: Sequence[Span], span: Span) -> Span:
    """The words of which some of the span is a part; where there are none, the place where they would be.

    >>> touched_words([(0, 2), (3, 7), (8, 9)], (1, 4)), touched_words([(0, 2), (3, 7)], (2, 2))
    ((0, 2), (1, 1))
    """
    before = sum(end <= span[0] for _, end in words)
    if span[0] == span[1]:
        return before, before
    return before, before + sum(start < span[1] and end > span[0] for start, end in words)
