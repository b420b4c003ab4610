"""Every engine gathers the same columns, and columns in files are shared as their places."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.serial_pool import SerialPool
from pagekin.engines.local import WorkerPool
from pagekin.model.arrays import Array, Int64s
from pagekin.store.stage_columns import Sums, gathered, grouped, ranges_of, zeros
from pagekin.store.stage_files import Stages, share, shared_value

ENGINES: list[WorkerPool] = [WorkerPool(2), SerialPool(1)]
SIZE = 20


def _results(value: float, job: Sequence[int]) -> dict[str, Array]:
    """Rows, ragged rows, and values at distinct places."""
    rows = np.array(job, np.int64)
    places, counts = np.unique(rows, return_counts=True)
    lengths = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows % 3)])
    columns = {"row": rows, "names.offsets": lengths, "names.data": np.repeat(rows, rows % 3).astype(np.uint8)}
    return columns | {"place": places, "sum": counts * value}


def _placed(_: None, job: Sequence[int]) -> dict[str, Array]:
    """The job at distinct places."""
    places = np.unique(np.array(job[1:], np.int64))
    return {"place": places, "job": np.full(len(places), job[0])}


def _keyed(value: int, job: Sequence[int]) -> tuple[Int64s, Array]:
    rows = np.array(job, np.int64)
    return rows % value, rows.astype(np.uint32)


@given(st.lists(st.lists(st.integers(0, SIZE - 1), max_size=5), min_size=1, max_size=5), st.integers(1, SIZE))
def test_every_engine_gathers_the_same_columns(jobs: list[list[int]], step: int) -> None:
    found = []
    for pool in ENGINES:
        with TemporaryDirectory() as folder, patch("pagekin.store.stage_columns._ROWS", step):
            sums = {"sum": Sums(SIZE, "place", np.float64)}
            columns = gathered(Stages(pool, Path(folder) / "spool"), "some", _results, 0.1, jobs, sums)
            found.append({name: (column.dtype, column.tolist()) for name, column in columns.items()})
    assert found[0] == found[1]
    every = [number for job in jobs for number in job]
    assert found[0]["row"][1] == every
    assert np.diff(found[0]["names.offsets"][1]).tolist() == [number % 3 for number in every]
    assert found[0]["sum"][1] == pytest.approx([0.1 * every.count(number) for number in range(SIZE)])


@given(st.lists(st.lists(st.integers(0, SIZE - 1), max_size=5), min_size=1, max_size=5), st.integers(1, SIZE))
def test_the_value_of_the_first_job_may_be_kept(rows: list[list[int]], step: int) -> None:
    jobs = [[number, *places] for number, places in enumerate(rows)]
    for pool in ENGINES:
        with TemporaryDirectory() as folder, patch("pagekin.store.stage_columns._ROWS", step):
            sums = {"job": Sums(SIZE, "place", np.int64, first=True)}
            found = gathered(Stages(pool, Path(folder) / "spool"), "first", _placed, None, jobs, sums)["job"]
        expected = [next((number for number, *places in jobs if place in places), -1) for place in range(SIZE)]
        assert found.tolist() == expected


@given(st.lists(st.lists(st.integers(0, SIZE - 1), max_size=5), min_size=1, max_size=5), st.integers(1, SIZE))
def test_values_are_grouped_by_their_keys_and_then_by_jobs(jobs: list[list[int]], step: int) -> None:
    expected = sorted((number for job in jobs for number in job), key=lambda number: number % 7)
    for pool in ENGINES:
        with TemporaryDirectory() as folder, patch("pagekin.store.stage_columns._ROWS", step):
            found = grouped(Stages(pool, Path(folder) / "spool"), "keys", _keyed, 7, jobs)
            assert (found.dtype, found.tolist()) == (np.dtype(np.uint32), expected)


def _numbers(_: None, some: range) -> dict[str, Array]:
    return {"number": np.arange(some.start, some.stop)}


def test_columns_in_files_and_parts_of_them_are_shared_as_their_places(tmp_path: Path) -> None:
    column = gathered(Stages(SerialPool(1), tmp_path), "numbers", _numbers, None, ranges_of(9000, 1000))["number"]
    file = share(tmp_path, "value", {"all": column, "some": column[10:20], "table": column.reshape(-1, 3)})
    assert file.path.stat().st_size < 2000
    value = shared_value(file)
    assert value["all"].tolist() == list(range(9000))
    assert value["some"].tolist() == list(range(10, 20))
    assert value["table"].tolist() == np.arange(9000).reshape(-1, 3).tolist()
    copied = share(tmp_path, "value", column[::2])
    assert copied.path.stat().st_size > 9000 * 4
    assert shared_value(copied).tolist() == list(range(0, 9000, 2))


def test_other_contents_are_other_values(tmp_path: Path) -> None:
    digests = set()
    for count in (10, 11):
        some = gathered(Stages(SerialPool(1), tmp_path), "numbers", _numbers, None, [range(1), range(count)])["number"]
        digests |= {share(tmp_path, "value", some[:5]).digest for _ in range(2)}
    assert len(digests) == 2


@pytest.mark.parametrize("pool", ENGINES)
def test_zeros_are_zeros(pool: WorkerPool, tmp_path: Path) -> None:
    assert zeros(Stages(pool, tmp_path / "spool"), "none", 3).tolist() == [0, 0, 0]
    assert zeros(Stages(pool, tmp_path / "spool"), "none", 0).tolist() == []
