from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.kernels.copy_spans import copy_runs, count_runs, map_runs, places_within
from pagekin.model.arrays import Int64s
from reference import copy_spans as twin

SOURCE = st.lists(st.integers(0, 9), min_size=1, max_size=30)


@st.composite
def sources_and_runs(draw: st.DrawFn) -> tuple[list[int], list[twin.Run], int]:
    """A source, stretches of it laid one after the other, and the room that they need."""
    source = draw(SOURCE)
    runs: list[twin.Run] = []
    place = 0
    for start in draw(st.lists(st.integers(0, len(source)), max_size=6)):
        length = draw(st.integers(0, len(source) - start))
        runs.append((start, length, place))
        place += length
    return source, runs, place


def columns(runs: list[twin.Run]) -> tuple[Int64s, Int64s, Int64s]:
    table = np.array(runs, np.int64).reshape(-1, 3)
    return table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()


def test_stretches_land_at_their_places() -> None:
    target = np.zeros(5, np.uint32)
    copy_runs(np.array([7, 8, 9], np.uint32), np.array([1, 0]), np.array([2, 1]), target, np.array([3, 0]))
    assert target.tolist() == [7, 0, 0, 8, 9]


@settings(deadline=None)
@given(sources_and_runs())
def test_copying_is_as_in_the_twin(case: tuple[list[int], list[twin.Run], int]) -> None:
    source, runs, room = case
    target = np.zeros(room, np.uint32)
    starts, lengths, places = columns(runs)
    copy_runs(np.array(source, np.uint32), starts, lengths, target, places)
    assert target.tolist() == twin.copy_runs(source, runs, [0] * room)


@settings(deadline=None)
@given(sources_and_runs(), st.lists(st.integers(0, 99), min_size=1, max_size=12))
def test_mapping_is_as_in_the_twin(case: tuple[list[int], list[twin.Run], int], table: list[int]) -> None:
    source, runs, room = case
    target = np.zeros(room, np.uint32)
    starts, lengths, places = columns(runs)
    map_runs(np.array(source, np.uint32), starts, lengths, np.array(table, np.uint32), target, places)
    assert target.tolist() == twin.map_runs(source, runs, table, [0] * room)


@settings(deadline=None)
@given(sources_and_runs(), st.integers(1, 10))
def test_counting_is_as_in_the_twin(case: tuple[list[int], list[twin.Run], int], size: int) -> None:
    source, runs, _ = case
    counts = np.zeros(size, np.int64)
    starts, lengths, _ = columns(runs)
    count_runs(np.array(source, np.uint32), starts, lengths, counts)
    assert counts.tolist() == twin.count_runs(source, runs, size)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.lists(st.integers(0, 20), max_size=4)), max_size=6))
def test_places_within_rows_are_as_in_the_twin(drawn: list[tuple[int, list[int]]]) -> None:
    begins = [begin for begin, _ in drawn]
    rows = [[begin + place for place in row] for begin, row in drawn]
    bounds = np.cumsum([0, *map(len, rows)])
    places = np.array([place for row in rows for place in row], np.int64)
    within = places_within(places, bounds, np.array(begins, np.int64))
    assert within.tolist() == twin.places_within(rows, begins)
