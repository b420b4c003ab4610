"""Content-defined chunks."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.chunking import DEGREE, POLYNOMIAL, WINDOW, cut, elements_of, mark, remainder, tables
from twins import chunking as twin

TABLES = tables()


def marked(text: bytes, expected: int) -> list[int]:
    found = np.zeros(len(text), np.bool_)
    mark(np.frombuffer(bytes(WINDOW) + text, np.uint8), expected, *TABLES, found)
    places: list[int] = (np.flatnonzero(found) + 1).tolist()
    return places


# --- the polynomial ------------------------------------------------------------------------------


def power_of_two(times: int) -> int:
    """x to the 2^times, modulo the polynomial."""
    value = 2
    for _ in range(times):
        value = twin.times(value, value)
    return value


def divisor(a: int, b: int) -> int:
    """The greatest common divisor of two polynomials."""
    while b:
        while a.bit_length() >= b.bit_length():
            a ^= b << (a.bit_length() - b.bit_length())
        a, b = b, a
    return a


def test_the_polynomial_is_irreducible() -> None:
    """Rabin's test: x^(2^63) is x, and for the primes 3 and 7 of 63 no factor divides x^(2^21) - x or x^(2^9) - x."""
    assert POLYNOMIAL.bit_length() == DEGREE + 1 and POLYNOMIAL == twin.POLYNOMIAL
    assert power_of_two(63) == 2
    assert divisor(POLYNOMIAL, power_of_two(21) ^ 2) == divisor(POLYNOMIAL, power_of_two(9) ^ 2) == 1


@given(st.integers(0, 2**400))
def test_remainders_are_those_of_long_division(bits: int) -> None:
    assert remainder(bits) == twin.modulo(bits)


# --- marks ---------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=300), st.integers(0, 6))
def test_marks_are_those_of_the_twin(text: bytes, power: int) -> None:
    expected = 2**power
    assert marked(text, expected) == [k for k in range(1, len(text) + 1) if twin.is_end(text, k, expected)]


def test_a_mark_depends_on_48_bytes_and_no_other() -> None:
    random = Random(48)
    text = random.randbytes(4000)
    other = random.randbytes(1000) + text[1000:]
    assert [k for k in marked(text, 16) if k >= 1048] == [k for k in marked(other, 16) if k >= 1048]


def test_chunks_have_the_size_that_is_expected() -> None:
    text = Random(256).randbytes(1 << 20)
    for expected in (64, 256, 1024):
        mean = len(text) / expected
        assert len(marked(text, expected)) == pytest.approx(mean, abs=5 * math.sqrt(mean))


def test_zeros_have_no_mark_since_the_marker_is_not_zero() -> None:
    assert marked(bytes(1000), 256) == []


# --- cuts ----------------------------------------------------------------------------------------


def test_cuts_by_hand() -> None:
    def ends(marks: list[int], end: int, minimum: int, maximum: int, start: int = 0) -> list[int]:
        places: list[int] = cut(np.array(marks, np.int64) - 1, start, end, minimum, maximum).tolist()
        return places

    assert ends([3, 5, 9], 12, 0, 100) == [3, 5, 9]
    assert ends([3, 5, 9], 12, 4, 100) == [5, 9]
    assert ends([3, 5, 9], 12, 0, 3) == [3, 5, 8, 9, 12]
    assert ends([], 12, 0, 4) == [4, 8, 12]
    assert ends([4], 4, 0, 4) == [4]
    assert ends([1], 3, 4, 8, start=-3) == [1]
    assert ends([], 0, 0, 4) == []


@settings(deadline=None, max_examples=200)
@given(st.sets(st.integers(1, 120)), st.integers(0, 30), st.integers(1, 30))
def test_cuts_are_those_of_walking_byte_by_byte(marks: set[int], minimum: int, maximum: int) -> None:
    found, start = [], 0
    for place in range(1, 121):
        if place - start == maximum or (place in marks and place - start >= minimum):
            found.append(place)
            start = place
    assert cut(np.array(sorted(marks), np.int64) - 1, 0, 120, minimum, maximum).tolist() == found


# --- elements ------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.integers(0, 5) | st.just(7), max_size=80))
def test_a_chunk_that_is_there_r_times_counts_one_and_ln_r(digests: list[int]) -> None:
    elements = elements_of(np.sort(np.array(digests, np.uint64))).tolist()
    assert len(elements) == len(set(elements)) == sum(twin.times_counted(digests).values())
    assert set(elements) >= set(digests)


def test_more_occurrences_add_elements_and_take_none() -> None:
    sets = [set(elements_of(np.full(count, 9, np.uint64)).tolist()) for count in (1, 2, 3, 7, 8, 20, 21, 54, 55)]
    assert [len(each) for each in sets] == [1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert all(a <= b for a, b in pairwise(sets))
