"""FNV-1a, and the hash tables that are one array."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pagekin.kernels.fnv import find_row, fnv, fnv_of, hash_spans, make_hash_table
from reference import fnv as reference

# From the authors' own list of test vectors, http://www.isthe.com/chongo/tech/comp/fnv/
VECTORS = {b"": 0xCBF29CE484222325, b"a": 0xAF63DC4C8601EC8C, b"foobar": 0x85944171F73967E8}
KEYS = st.integers(1, 2**64 - 1) | st.integers(1, 40) | st.binary(max_size=4).map(reference.fnv)


@pytest.mark.parametrize(("data", "value"), VECTORS.items())
def test_fnv_gives_the_published_values(data: bytes, value: int) -> None:
    assert int(fnv(np.frombuffer(data, np.uint8), 0, len(data))) == fnv_of(data) == reference.fnv(data) == value


def test_fnv_sees_only_its_span() -> None:
    data = np.frombuffer(b"a foobar b", np.uint8)
    assert int(fnv(data, 2, 8)) == VECTORS[b"foobar"]
    assert int(fnv(data, 5, 5)) == VECTORS[b""]


def test_a_table_gives_back_what_was_put_in() -> None:
    rows = make_hash_table({7: (70, 71), 2**64 - 1: (80,)})
    assert rows[find_row(rows, 7)].tolist() == [7, 70, 71]
    assert rows[find_row(rows, np.uint64(2**64 - 1))].tolist() == [-1, 80, 0]


def test_a_key_that_is_not_in_the_table_has_no_row() -> None:
    rows = make_hash_table({7: (70,)})
    assert [find_row(rows, key) for key in (8, 7 + len(rows), 0)] == [-1, -1, -1]


def test_keys_that_fall_on_the_same_row_are_kept_apart() -> None:
    keys = [3, 3 + 64, 3 + 128, 3 + 2**40, 4]
    rows = make_hash_table({key: (10 * key,) for key in keys})
    assert [rows[find_row(rows, key), 1] for key in keys] == [10 * key for key in keys]


@given(st.lists(st.binary(max_size=20)))
def test_hashes_of_spans_are_those_of_the_reference(strings: list[bytes]) -> None:
    ends = np.cumsum([len(string) for string in strings], dtype=np.int64)
    starts = ends - np.array([len(string) for string in strings], np.int64)
    data = np.frombuffer(b"".join(strings), np.uint8)
    assert hash_spans(data, starts, ends).tolist() == [reference.fnv(string) for string in strings]


@given(st.dictionaries(KEYS, st.tuples(st.integers(), st.integers()).map(lambda p: (p[0] % 9, p[1] % 9)), min_size=1))
@example({key: (key, 0) for key in range(1, 200)})
def test_a_table_answers_as_a_dict_does(entries: dict[int, tuple[int, int]]) -> None:
    rows = make_hash_table({**entries})
    for key in {*entries, *range(1, 41), 2**64 - 1}:
        row = find_row(rows, np.uint64(key))
        assert (tuple(rows[row, 1:].tolist()) if row >= 0 else None) == entries.get(key)
