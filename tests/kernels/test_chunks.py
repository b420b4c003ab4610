"""Content-defined chunks."""

from __future__ import annotations

import math
from hashlib import blake2b
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.chunks import (
    DEGREE,
    POLYNOMIAL,
    WINDOW,
    blake2b_spans,
    chunk_elements,
    cut_chunks,
    mark_boundaries,
    rabin_tables,
    remainder,
)
from reference import chunks as reference

TABLES = rabin_tables()


def marked(text: bytes, expected: int) -> list[int]:
    found = np.zeros(len(text), np.bool_)
    mark_boundaries(np.frombuffer(bytes(WINDOW) + text, np.uint8), expected, *TABLES, found)
    places: list[int] = (np.flatnonzero(found) + 1).tolist()
    return places


# --- the polynomial ------------------------------------------------------------------------------


def power_of_two(times: int) -> int:
    """x to the 2^times, modulo the polynomial."""
    value = 2
    for _ in range(times):
        value = reference.times(value, value)
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
    assert POLYNOMIAL.bit_length() == DEGREE + 1 and POLYNOMIAL == reference.POLYNOMIAL
    assert power_of_two(63) == 2
    assert divisor(POLYNOMIAL, power_of_two(21) ^ 2) == divisor(POLYNOMIAL, power_of_two(9) ^ 2) == 1


@given(st.integers(0, 2**400))
def test_remainders_are_those_of_long_division(bits: int) -> None:
    assert remainder(bits) == reference.modulo(bits)


# --- marks ---------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=300), st.integers(0, 6))
def test_marks_are_those_of_the_reference(text: bytes, power: int) -> None:
    expected = 2**power
    assert marked(text, expected) == [k for k in range(1, len(text) + 1) if reference.is_end(text, k, expected)]


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


def ends(marks: list[int], texts: list[tuple[int, int]], minimum: int, maximum: int, first: int = 0) -> list[list[int]]:
    starts, stops = np.array(texts, np.int64).reshape(-1, 2).T.copy()
    found, offsets = cut_chunks(np.array(marks, np.int64), starts, stops, max(first, minimum), minimum, maximum)
    return [found[a:b].tolist() for a, b in pairwise(offsets.tolist())]


def test_cuts_by_hand() -> None:
    assert ends([3, 5, 9], [(0, 12)], 0, 100) == [[3, 5, 9, 12]]
    assert ends([3, 5, 9], [(0, 9)], 4, 100) == [[5, 9]]
    assert ends([3, 5, 9], [(0, 12)], 0, 3) == [[3, 5, 8, 9, 12]]
    assert ends([], [(0, 12)], 0, 4) == [[4, 8, 12]]
    assert ends([], [(7, 7)], 0, 4) == [[]]
    assert ends([2, 5, 6, 9], [(0, 4), (5, 5), (6, 12)], 0, 100) == [[2, 4], [], [9, 12]]
    assert ends([2, 5, 6], [(0, 8)], 0, 100, first=4) == [[5, 6, 8]]
    assert ends([2, 5, 6], [(0, 8)], 0, 3, first=4) == [[3, 5, 6, 8]]


@given(st.sets(st.integers(1, 120)), st.integers(0, 30), st.integers(1, 30), st.sets(st.integers(0, 120), max_size=6))
def test_cuts_are_those_of_walking_byte_by_byte(marks: set[int], minimum: int, maximum: int, bounds: set[int]) -> None:
    texts = [(a, b) for a, b in pairwise(sorted(bounds))][::2]
    expected = []
    for start, stop in texts:
        found: list[int] = []
        for place in range(start + 1, stop + 1):
            size = place - (found[-1] if found else start)
            if place == stop or size == maximum or (place in marks and size >= minimum):
                found.append(place)
        expected.append(found)
    assert ends(sorted(marks), texts, minimum, maximum) == expected


# --- elements ------------------------------------------------------------------------------------


def elements_in(digests: list[int]) -> list[int]:
    found: list[int] = chunk_elements(np.array(digests, np.uint64), np.array([0, len(digests)]))[0].tolist()
    return found


def test_pages_have_sets_of_their_own() -> None:
    elements, counts = chunk_elements(np.array([5, 3, 5, 7, 5, 5, 5], np.uint64), np.array([0, 3, 3, 4, 7]))
    assert counts.tolist() == [2, 0, 1, 2]
    assert elements[:4].tolist() == [3, 5, 7, 5]


@settings(deadline=None)
@given(st.lists(st.integers(0, 5) | st.just(7), max_size=80))
def test_a_chunk_that_is_there_r_times_counts_one_and_ln_r(digests: list[int]) -> None:
    elements = elements_in(digests)
    assert len(elements) == len(set(elements)) == sum(reference.times_counted(digests).values())
    assert set(elements) >= set(digests)


def test_more_occurrences_add_elements_and_take_none() -> None:
    sets = [set(elements_in([9] * count)) for count in (1, 2, 3, 7, 8, 20, 21, 54, 55)]
    assert [len(each) for each in sets] == [1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert all(a <= b for a, b in pairwise(sets))


# --- digests ---------------------------------------------------------------------------------------------


def blake2b_digests(parts: list[bytes]) -> list[int]:
    bounds = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    found: list[int] = blake2b_spans(np.frombuffer(b"".join(parts), np.uint8), bounds[:-1], bounds[1:]).tolist()
    return found


def test_abc_has_the_digest_of_the_standard() -> None:
    """RFC 7693, appendix A: BA 80 A5 3F 98 1C 4D 0D ..."""
    assert blake2b_digests([b"abc"]) == [int.from_bytes(bytes.fromhex("ba80a53f981c4d0d"), "little")]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=400) | st.integers(0, 400).map(bytes), max_size=5))
def test_digests_are_those_of_hashlib(parts: list[bytes]) -> None:
    assert blake2b_digests(parts) == [int.from_bytes(blake2b(part).digest()[:8], "little") for part in parts]


def test_blocks_that_are_just_full_are_last_ones() -> None:
    sizes = [0, 1, 127, 128, 129, 255, 256, 257, 384]
    test_parts = [(bytes(range(256)) * 2)[:size] for size in sizes]
    assert blake2b_digests(test_parts) == [int.from_bytes(blake2b(part).digest()[:8], "little") for part in test_parts]
