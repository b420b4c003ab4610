"""Spans: copied, mapped, counted, and matched with words."""

from __future__ import annotations

import itertools
from itertools import accumulate

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.spans import (
    copy_spans,
    count_rows,
    count_values,
    ends_without_fragments,
    list_hrefs,
    map_spans,
    overlapping_words,
    permute,
    relative_positions,
)
from pagekin.model.arrays import Int64s
from pagekin.urls import resolve_url
from reference import spans as reference
from reference.spans import Span

SOURCE = st.lists(st.integers(0, 9), min_size=1, max_size=30)


@given(SOURCE.flatmap(lambda values: st.tuples(st.just(values), st.permutations(range(len(values))))))
def test_values_are_permuted_as_in_the_reference(drawn: tuple[list[int], list[int]]) -> None:
    values, order = drawn
    permuted = np.array(values)
    permute(permuted, np.array(order))
    assert permuted.tolist() == reference.permute(values, order)


@st.composite
def sources_and_copies(draw: st.DrawFn) -> tuple[list[int], list[reference.Copy], int]:
    """A source, stretches of it laid one after the other, and the room that they need."""
    source = draw(SOURCE)
    copies: list[reference.Copy] = []
    place = 0
    for start in draw(st.lists(st.integers(0, len(source)), max_size=6)):
        length = draw(st.integers(0, len(source) - start))
        copies.append((start, length, place))
        place += length
    return source, copies, place


def copy_columns(copies: list[reference.Copy]) -> tuple[Int64s, Int64s, Int64s]:
    table = np.array(copies, np.int64).reshape(-1, 3)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


def test_stretches_land_at_their_places() -> None:
    target = np.zeros(5, np.uint32)
    copy_spans(np.array([7, 8, 9], np.uint32), np.array([1, 0]), np.array([2, 1]), target, np.array([3, 0]))
    assert target.tolist() == [7, 0, 0, 8, 9]


@settings(deadline=None)
@given(sources_and_copies())
def test_copying_is_as_in_the_reference(case: tuple[list[int], list[reference.Copy], int]) -> None:
    source, copies, room = case
    target = np.zeros(room, np.uint32)
    starts, lengths, places = copy_columns(copies)
    copy_spans(np.array(source, np.uint32), starts, lengths, target, places)
    assert target.tolist() == reference.copy_spans(source, copies, [0] * room)


@settings(deadline=None)
@given(sources_and_copies(), st.lists(st.integers(0, 99), min_size=1, max_size=12))
def test_mapping_is_as_in_the_reference(case: tuple[list[int], list[reference.Copy], int], table: list[int]) -> None:
    source, copies, room = case
    target = np.zeros(room, np.uint32)
    starts, lengths, places = copy_columns(copies)
    map_spans(np.array(source, np.uint32), starts, lengths, np.array(table, np.uint32), target, places)
    assert target.tolist() == reference.map_spans(source, copies, table, [0] * room)


@settings(deadline=None)
@given(sources_and_copies(), st.integers(1, 10))
def test_counting_is_as_in_the_reference(case: tuple[list[int], list[reference.Copy], int], size: int) -> None:
    source, copies, _ = case
    counts = np.zeros(size, np.int64)
    starts, lengths, _ = copy_columns(copies)
    count_values(np.array(source, np.uint32), starts, lengths, counts)
    assert counts.tolist() == reference.count_values(source, copies, size)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=8), max_size=6))
def test_rows_are_counted_as_in_the_reference(rows: list[list[int]]) -> None:
    offsets = np.array([0, *accumulate(map(len, rows))])
    values = np.array([value for row in rows for value in row], np.uint32)
    assert count_rows(offsets, values, 7).tolist() == reference.count_rows(rows, 7)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.lists(st.integers(0, 20), max_size=4)), max_size=6))
def test_places_within_rows_are_as_in_the_reference(drawn: list[tuple[int, list[int]]]) -> None:
    begins = [begin for begin, _ in drawn]
    rows = [[begin + place for place in row] for begin, row in drawn]
    bounds = np.cumsum([0, *map(len, rows)])
    places = np.array([place for row in rows for place in row], np.int64)
    within = relative_positions(places, bounds, np.array(begins, np.int64))
    assert within.tolist() == reference.relative_positions(rows, begins)


def column(spans: list[Span], which: int) -> np.typing.NDArray[np.int64]:
    return np.array([span[which] for span in spans], np.int64)


def overlapping(words: list[Span], spans: list[Span]) -> list[Span]:
    first, last = overlapping_words(column(words, 0), column(words, 1), column(spans, 0), column(spans, 1))
    return list(zip(first.tolist(), last.tolist(), strict=True))


def test_a_span_touches_the_words_of_which_it_holds_a_part() -> None:
    # to be or: bytes 0-2, 3-5, 6-8
    words = [(0, 2), (3, 5), (6, 8)]
    assert overlapping(words, [(0, 2), (1, 4), (2, 3), (2, 9), (4, 7), (8, 8)]) == [
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 3),
        (1, 3),
        (3, 3),
    ]


def test_a_span_of_nothing_inside_a_word_touches_nothing() -> None:
    assert overlapping([(0, 4)], [(2, 2)]) == [(0, 0)]


# Lengths of gaps and words in turn, from which words come in order and apart.
LENGTHS = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4)), max_size=8)


def words_of(lengths: list[tuple[int, int]]) -> list[Span]:
    ends = list(accumulate(gap + size for gap, size in lengths))
    return [(end - size, end) for end, (_, size) in zip(ends, lengths, strict=True)]


@given(LENGTHS, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 12)), max_size=8))
def test_touched_words_are_those_of_the_reference(lengths: list[tuple[int, int]], drawn: list[tuple[int, int]]) -> None:
    words = words_of(lengths)
    spans = sorted((start, start + size) for start, size in drawn)
    assert overlapping(words, spans) == [reference.overlapping_words(words, span) for span in spans]


NASTY = st.binary(max_size=12) | st.sampled_from([b"", b" ", b" a b\n", b"a\tb\r\nc", b"\x00a"])


def listed(hrefs: list[bytes]) -> list[bytes]:
    data = np.frombuffer(b"".join(hrefs), np.uint8)
    ends = np.cumsum([len(href) for href in hrefs], dtype=np.int64)
    starts = ends - np.array([len(href) for href in hrefs], np.int64)
    lines, begins = list_hrefs(data, starts, ends)
    assert begins[-1] == len(lines)
    return [lines[a:b].tobytes() for a, b in itertools.pairwise(begins)]


def test_white_space_around_and_breaks_inside_an_href_are_left_out() -> None:
    assert listed([b" a.html ", b"b\n.html", b"", b"c d"]) == [b"a.html\n", b"b.html\n", b"\n", b"c d\n"]


def cut(hrefs: list[bytes]) -> list[bytes]:
    lines = b"".join(href + b"\n" for href in hrefs)
    begins = np.cumsum([0, *(len(href) + 1 for href in hrefs)], dtype=np.int64)
    ends = ends_without_fragments(np.frombuffer(lines, np.uint8), begins)
    return [lines[a:b] for a, b in zip(begins[:-1].tolist(), ends.tolist(), strict=True)]


def test_a_fragment_does_not_count() -> None:
    assert cut([b"a#b#c", b"#", b"", b"a", b"a #b"]) == [b"a", b"", b"", b"a", b"a #b"]


FRAGMENTS = st.lists(st.sampled_from([b"a", b"#", b" ", b"?", b"http:", b"//h", b"/", b":", b"\x01"]), max_size=6)


@settings(deadline=None)
@given(st.lists(FRAGMENTS.map(b"".join), min_size=1, max_size=4))
def test_kernel_and_reference_cut_the_same(hrefs: list[bytes]) -> None:
    assert cut(hrefs) == [reference.without_fragment(href) for href in hrefs]


@settings(deadline=None)
@given(FRAGMENTS.map(b"".join))
def test_an_href_means_the_same_without_its_fragment(href: bytes) -> None:
    (kept,) = reference.list_hrefs([href])
    (without,) = cut([kept])
    base = "http://a.example/b/c.html?d"
    assert resolve_url(base, without.decode()) == resolve_url(base, kept.decode())


@settings(deadline=None)
@given(st.lists(NASTY, min_size=1, max_size=8))
def test_kernel_and_reference_list_the_same(hrefs: list[bytes]) -> None:
    assert listed(hrefs) == [line + b"\n" for line in reference.list_hrefs(hrefs)]
