"""Numbers for byte strings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.intern import intern
from reference import intern as twin

Numbers = tuple[list[int], list[int]]


def number_spans(data: bytes, spans: list[tuple[int, int]]) -> Numbers:
    table = np.array(spans, np.int64).reshape(-1, 2)
    numbers, first = intern(np.frombuffer(data, np.uint8), table[:, 0].copy(), table[:, 1].copy())
    return numbers.tolist(), first.tolist()


def number(strings: list[bytes]) -> Numbers:
    ends = np.cumsum([0, *map(len, strings)]).tolist()
    return number_spans(b"".join(strings), list(pairwise(ends)))


def test_numbers_are_given_in_order_of_first_appearance() -> None:
    assert number([b"rose", b"is", b"a", b"rose"]) == ([0, 1, 2, 0], [0, 1, 2])


def test_nothing_has_no_numbers() -> None:
    assert number([]) == ([], [])


def test_the_empty_string_is_a_string() -> None:
    assert number([b"", b"x", b""]) == ([0, 1, 0], [0, 1])


def test_a_prefix_is_another_string() -> None:
    assert number([b"ab", b"a", b"abc"]) == ([0, 1, 2], [0, 1, 2])


def test_spans_may_overlap() -> None:
    assert number_spans(b"aaa", [(0, 2), (1, 3), (0, 3), (2, 3)]) == ([0, 0, 1, 2], [0, 2, 3])


def test_numbers_stay_when_the_table_grows() -> None:
    strings = [str(n).encode() for n in range(5000)]
    everyone = list(range(5000))
    assert number(strings + strings[::-1]) == (everyone + everyone[::-1], everyone)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.binary(max_size=3) | st.sampled_from([b"", b"\0", b"\0\0", b"a", b"b"])))
def test_numbers_are_those_of_the_twin(strings: list[bytes]) -> None:
    assert number(strings) == twin.intern(strings)


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60))
def test_numbers_of_spans_anywhere_are_those_of_the_twin(data: bytes, places: list[tuple[int, int]]) -> None:
    spans = [(min(a, b, len(data)), min(max(a, b), len(data))) for a, b in places]
    assert number_spans(data, spans) == twin.intern([data[start:end] for start, end in spans])


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 2**32), st.integers(400, 3000))
def test_many_numbers_are_those_of_the_twin(seed: int, different: int) -> None:
    strings = [str(n).encode() for n in np.random.default_rng(seed).integers(0, different, 4000).tolist()]
    assert number(strings) == twin.intern(strings)
