"""What a stage has written is what the next one reads, or the file is named as damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pagekin.errors import StoreError
from pagekin.store.stage_files import StageFile, finished_or, read_stage, write_stage


def test_arrays_come_back_with_their_types(tmp_path: Path) -> None:
    file = write_stage(tmp_path, "bags", {"term": np.array([3, 1], np.uint32), "weight": np.empty(0, np.float32)})
    found = read_stage(file)
    assert [(name, each.dtype.name, each.tolist()) for name, each in found.items()] == [
        ("term", "uint32", [3, 1]),
        ("weight", "float32", []),
    ]


def test_two_attempts_write_two_files(tmp_path: Path) -> None:
    one, other = (write_stage(tmp_path, "bags", {"term": np.arange(3)}) for _ in range(2))
    assert one.path != other.path and one.digest == other.digest


@pytest.mark.parametrize("place", [0, 100, -1])
def test_a_changed_byte_is_damage(tmp_path: Path, place: int) -> None:
    file = write_stage(tmp_path, "bags", {"term": np.arange(30)})
    data = bytearray(file.path.read_bytes())
    data[place] ^= 1
    file.path.write_bytes(data)
    with pytest.raises(StoreError, match=r"bags-\w+\.npz is damaged; run the build again"):
        read_stage(file)


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
