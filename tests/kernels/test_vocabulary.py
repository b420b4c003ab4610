"""Numbers for byte strings, and their sorted order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.vocabulary import (
    add_strings,
    copy_table,
    find_strings,
    found_in_order,
    hash_texts,
    intern,
    new_table,
    places_of_spans,
    sort_spans,
)
from pagekin.model.arrays import Strings
from reference import vocabulary as reference

# Short ones that are often equal, and long ones that differ late or only in their length.
STRING = (
    st.binary(max_size=2)
    | st.sampled_from([b"", b"\0", b"\0\0", b"a", b"a\0", b"a\0b", b"\xff"])
    | st.builds(lambda n, tail: b"http://a.example/"[:n] + tail, st.integers(0, 17), st.binary(max_size=9))
)


def united(lists: list[list[bytes]]) -> tuple[list[list[int]], list[bytes]]:
    """What the table makes of lists; it is as small as may be and moves before every list."""
    table, count = new_table(0, 0), 0
    numbers = []
    for strings in lists:
        packed = Strings.of(strings)
        used = int(table.offsets[count])
        table = copy_table(table, count, new_table(count + len(strings), used + len(packed.data)))
        found, count = add_strings(packed.data, packed.offsets[:-1], packed.offsets[1:], table, count)
        numbers.append(found.tolist())
    return numbers, [table.data[table.offsets[k] : table.offsets[k + 1]].tobytes() for k in range(count)]


def ordered(strings: list[bytes]) -> list[int]:
    packed = Strings.of(strings)
    order: list[int] = sort_spans(packed.data, packed.offsets[:-1], packed.offsets[1:]).tolist()
    return order


def test_strings_of_another_list_keep_their_numbers() -> None:
    assert united([[b"rose", b"is"], [b"a", b"rose"]]) == ([[0, 1], [2, 0]], [b"rose", b"is", b"a"])


def test_numbers_stay_when_the_table_grows() -> None:
    strings = [str(n).encode() for n in range(5000)]
    everyone = list(range(5000))
    assert united([strings[:7], strings, strings[::-1]]) == ([everyone[:7], everyone, everyone[::-1]], strings)


@given(st.lists(st.lists(STRING), max_size=5))
def test_numbers_are_those_of_the_reference(lists: list[list[bytes]]) -> None:
    assert united(lists) == reference.add_strings(lists)


def read_only(strings: list[bytes]) -> Strings:
    """Strings as a store has them, for which the kernel is compiled."""
    packed = Strings.of(strings)
    packed.offsets.flags.writeable = False
    return packed


@given(st.lists(STRING), st.lists(STRING, unique=True))
def test_strings_that_are_found_are_those_of_the_reference(strings: list[bytes], known: list[bytes]) -> None:
    packed, listed = read_only(strings), Strings.of(known)
    table = new_table(len(known), len(listed.data))
    _, count = add_strings(listed.data, listed.offsets[:-1], listed.offsets[1:], table, 0)
    assert count == len(known)
    found = find_strings(packed.data, packed.offsets[:-1], packed.offsets[1:], table)
    assert found.tolist() == reference.find_strings(strings, known)


@given(st.lists(STRING), st.lists(STRING), st.integers(0, 5))
def test_strings_that_are_found_in_order_are_those_of_the_reference(
    strings: list[bytes], others: list[bytes], most: int
) -> None:
    one, other = read_only(strings), read_only(others)
    found = found_in_order(one.data, one.offsets, other.data, other.offsets, most)
    assert found.tolist() == reference.found_in_order(strings, others, most)


@given(st.lists(STRING), st.lists(STRING), st.data())
def test_places_of_strings_in_ranges_in_order_are_those_of_the_reference(
    one: list[bytes], other: list[bytes], data: st.DataObject
) -> None:
    """Merge two consecutive ranges, each in order."""
    ranges = [(0, len(one)), (len(one), len(one) + len(other))]
    ordered = sorted(one) + sorted(other)
    strings = data.draw(st.lists(STRING | st.sampled_from([*ordered, b""])))
    chosen = [data.draw(st.sampled_from(ranges)) for _ in strings]
    packed = Strings.of(ordered + strings)
    first, last = np.array(chosen, np.int64).reshape(-1, 2).T.copy()
    which = np.arange(len(ordered), len(packed))
    spans = packed.data.copy(), packed.offsets[:-1], packed.offsets[1:]
    places = places_of_spans(*spans, np.arange(len(ordered)), which, first, last)
    assert places.tolist() == reference.places_of_spans(strings, ordered, chosen)


@given(st.lists(STRING))
def test_hashes_are_those_of_the_reference(strings: list[bytes]) -> None:
    packed = Strings.of(strings)
    hashes = hash_texts(packed.data, packed.offsets[:-1], packed.offsets[1:])
    assert hashes.tolist() == [reference.hash_text(string) for string in strings]


def test_the_shorter_of_two_that_begin_alike_comes_first() -> None:
    assert ordered([b"ab", b"a", b"abc", b""]) == [3, 1, 0, 2]


def test_bytes_count_not_letters() -> None:
    assert ordered(["ä".encode(), b"z", b"Z", b"\0"]) == [3, 2, 1, 0]


@given(st.lists(STRING, max_size=80))
def test_the_order_is_that_of_the_reference(strings: list[bytes]) -> None:
    assert ordered(strings) == reference.sort_spans(strings)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32), st.integers(0, 40), st.sampled_from([2, 3, 256]))
def test_the_order_of_many_that_begin_alike_is_that_of_the_reference(seed: int, alike: int, letters: int) -> None:
    random = np.random.default_rng(seed)
    strings = [
        bytes(alike) + random.integers(0, letters, size).astype(np.uint8).tobytes()
        for size in random.integers(0, 12, 1000).tolist()
    ]
    assert ordered(strings) == reference.sort_spans(strings)


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


def test_numbers_of_spans_stay_when_the_table_grows() -> None:
    strings = [str(n).encode() for n in range(5000)]
    everyone = list(range(5000))
    assert number(strings + strings[::-1]) == (everyone + everyone[::-1], everyone)


@given(st.lists(STRING | st.integers(0, 20).map(bytes)))
def test_numbers_of_strings_are_those_of_the_reference(strings: list[bytes]) -> None:
    assert number(strings) == reference.intern(strings)


@given(st.binary(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60))
def test_numbers_of_spans_anywhere_are_those_of_the_reference(data: bytes, places: list[tuple[int, int]]) -> None:
    spans = [(min(a, b, len(data)), min(max(a, b), len(data))) for a, b in places]
    assert number_spans(data, spans) == reference.intern([data[start:end] for start, end in spans])


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 2**32), st.integers(400, 3000))
def test_many_numbers_are_those_of_the_reference(seed: int, different: int) -> None:
    strings = [str(n).encode() for n in np.random.default_rng(seed).integers(0, different, 4000).tolist()]
    assert number(strings) == reference.intern(strings)
