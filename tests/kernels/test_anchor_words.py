"""Which words stand where."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.anchor_words import first_words, touched_words
from reference import anchor_words as twin
from reference.anchor_words import Span


def column(spans: list[Span], which: int) -> np.typing.NDArray[np.int64]:
    return np.array([span[which] for span in spans], np.int64)


def touched(words: list[Span], spans: list[Span]) -> list[Span]:
    first, last = touched_words(column(words, 0), column(words, 1), column(spans, 0), column(spans, 1))
    return list(zip(first.tolist(), last.tolist(), strict=True))


def test_a_span_touches_the_words_of_which_it_holds_a_part() -> None:
    # to be or: bytes 0-2, 3-5, 6-8
    words = [(0, 2), (3, 5), (6, 8)]
    assert touched(words, [(0, 2), (1, 4), (2, 3), (2, 9), (4, 7), (8, 8)]) == [
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 3),
        (1, 3),
        (3, 3),
    ]


def test_a_span_of_nothing_inside_a_word_touches_nothing() -> None:
    assert touched([(0, 4)], [(2, 2)]) == [(0, 0)]


def test_the_first_word_of_a_place_begins_there_or_later() -> None:
    assert first_words(np.array([0, 3, 6]), np.array([0, 1, 3, 4, 9])).tolist() == [0, 1, 1, 2, 3]


# Lengths of gaps and words in turn, from which words come in order and apart.
LENGTHS = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4)), max_size=8)


def words_of(lengths: list[tuple[int, int]]) -> list[Span]:
    ends = list(accumulate(gap + size for gap, size in lengths))
    return [(end - size, end) for end, (_, size) in zip(ends, lengths, strict=True)]


@settings(deadline=None, max_examples=200)
@given(LENGTHS, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=8))
def test_touched_words_are_those_of_the_twin(lengths: list[tuple[int, int]], drawn: list[tuple[int, int]]) -> None:
    words = words_of(lengths)
    spans = sorted((start, start + size) for start, size in drawn)
    assert touched(words, spans) == [twin.touched_words(words, span) for span in spans]


@settings(deadline=None)
@given(LENGTHS, st.lists(st.integers(0, 60), max_size=8).map(sorted))
def test_first_words_are_those_of_the_twin(lengths: list[tuple[int, int]], places: list[int]) -> None:
    words = words_of(lengths)
    found = first_words(column(words, 0), np.array(places, np.int64))
    assert found.tolist() == [twin.first_word(words, place) for place in places]
