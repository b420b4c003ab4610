"""Sorting short lists of whole numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagekin.kernels.sorting import FEW, MOST_COUNTS, sort_keys
from reference import sorting as reference

NUMBERS = st.sampled_from([1, 7, 18, 20, 21, 31]).flatmap(
    lambda bits: st.tuples(
        st.just(bits), st.lists(st.integers(0, (1 << bits) - 1) | st.integers(0, 3 % (1 << bits)), max_size=3 * FEW)
    )
)


def by_kernel(keys: list[int], low: int, bits: int) -> list[int]:
    given = np.array(keys, np.int64)
    sort_keys(given, len(keys), low, bits, np.empty(len(keys), np.int64), np.empty(MOST_COUNTS, np.int64))
    return [int(key) for key in given]


@given(NUMBERS)
def test_numbers_are_sorted_as_by_their_reference(numbers: tuple[int, list[int]]) -> None:
    bits, keys = numbers
    assert by_kernel(keys, 0, bits) == reference.sort_keys(keys, 0)


@given(NUMBERS)
def test_numbers_whose_low_bits_ascend_are_sorted_by_all_bits(numbers: tuple[int, list[int]]) -> None:
    bits, keys = numbers
    numbered = [key << 32 | place for place, key in enumerate(keys)]
    assert by_kernel(numbered, 32, bits) == reference.sort_keys(numbered, 32) == sorted(numbered)


def test_more_numbers_than_wanted_stay_as_they_are() -> None:
    for count in (3, FEW):
        keys = np.arange(count + 2, dtype=np.int64)[::-1].copy()
        sort_keys(keys, count, 0, 20, np.empty(len(keys), np.int64), np.empty(MOST_COUNTS, np.int64))
        assert keys.tolist() == [*range(2, count + 2), 1, 0]
