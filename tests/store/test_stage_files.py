"""What a stage has written is what the next one reads, or the file is named as damaged."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pagekin.engines.local import WorkerPool
from pagekin.errors import StoreError
from pagekin.store.opened import opened_once
from pagekin.store.stage_files import (
    StageFile,
    Stages,
    finished_or,
    map_stage,
    read_stage,
    share,
    shared_value,
    write_stage,
)
from pagekin.store.store import Store


@pytest.mark.parametrize("read", [read_stage, map_stage])
def test_arrays_come_back_with_their_types(tmp_path: Path, read: Any) -> None:
    file = write_stage(tmp_path, "bags", {"term": np.array([3, 1], np.uint32), "weight": np.empty(0, np.float32)})
    found = read(file)
    assert [(name, each.dtype.name, each.tolist()) for name, each in found.items()] == [
        ("term", "uint32", [3, 1]),
        ("weight", "float32", []),
    ]


def test_two_attempts_write_two_files(tmp_path: Path) -> None:
    one, other = (write_stage(tmp_path, "bags", {"term": np.arange(3)}) for _ in range(2))
    assert one.path != other.path and one.digest == other.digest


@pytest.mark.parametrize("read", [read_stage, map_stage])
@pytest.mark.parametrize("place", [0, 100, -1])
def test_a_changed_byte_is_damage(tmp_path: Path, place: int, read: Any) -> None:
    file = write_stage(tmp_path, "bags", {"term": np.arange(30)})
    data = bytearray(file.path.read_bytes())
    data[place] ^= 1
    file.path.write_bytes(data)
    with pytest.raises(StoreError, match=r"bags-\w+\.npz is damaged; run the build again"):
        read(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    file = write_stage(tmp_path, "bags", {})
    file.path.unlink()
    with pytest.raises(StoreError, match=r"bags-\w+\.npz cannot be read: No such file or directory; run the"):
        read_stage(file)


def test_a_finished_stage_is_made_again_only_if_it_depends_on_others_or_is_damaged(tmp_path: Path) -> None:
    made = []

    def make() -> dict[int, StageFile]:
        made.append(write_stage(tmp_path, "bags", {"term": np.arange(3)}))
        return {7: made[-1]}

    assert finished_or(tmp_path, "bags", ("a", 1), make) == {7: made[0]}
    assert finished_or(tmp_path, "bags", ("a", 1), make) == {7: made[0]}
    assert finished_or(tmp_path, "bags", ("a", 2), make) == {7: made[1]}
    made[0].path.write_bytes(made[0].path.read_bytes()[:-1])
    assert finished_or(tmp_path, "bags", ("a", 1), make) == {7: made[2]}
    assert len(made) == 3


def test_a_value_is_loaded_once_in_a_process_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    file = share(tmp_path, "weights", {"frequency": np.array([3, 1]), "name": "default"})
    value = shared_value(file)
    assert (value["frequency"].tolist(), value["name"]) == ([3, 1], "default")
    assert shared_value(file) is value
    other = share(tmp_path, "weights", "other")
    other.path.write_bytes(other.path.read_bytes()[:-1] + b"?")
    with pytest.raises(StoreError, match=r"weights-\w+\.value is damaged; run the build again"):
        shared_value(other)
    other.path.unlink()
    with pytest.raises(StoreError, match=r"weights-\w+\.value cannot be read: No such file or directory"):
        shared_value(other)


def test_a_store_is_shared_as_its_place(sample_index: Path, tmp_path: Path) -> None:
    file = share(tmp_path, "store", Store.open(sample_index))
    assert file.path.stat().st_size < 20_000 < (sample_index / "store-1" / "text.data.npy").stat().st_size
    store = shared_value(file)
    assert store == Store.open(sample_index)
    assert pickle.loads(file.path.read_bytes()) is store


def test_only_a_few_things_stay_open() -> None:
    made = []

    def make(name: str) -> str:
        made.append(name)
        return name

    for name in "abcdabcc":
        assert opened_once(("test", name), lambda name=name: make(name)) == name  # type: ignore[misc]
    assert made == list("abcdabc")  # three of four are kept


def test_threads_run_the_jobs_of_a_stage_in_order_without_files(tmp_path: Path) -> None:
    stages = Stages(WorkerPool(2), tmp_path)
    found = stages.map("add", lambda value, job: {"sum": np.array([value + job])}, 10, range(5))
    assert [each["sum"].tolist() for each in found] == [[10], [11], [12], [13], [14]]
    assert list(tmp_path.iterdir()) == []
