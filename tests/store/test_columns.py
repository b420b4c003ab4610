"""Columns on the disk: what numpy writes and reads, read without Python's parser."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pagekin.errors import StoreError
from pagekin.store.columns import open_array, write_columns

KINDS = st.sampled_from([np.uint8, np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float32, np.float64, np.bool_])
ARRAYS = KINDS.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=1, max_dims=2, min_side=0)))
ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@ONE_FOLDER
@given(ARRAYS)
def test_a_column_is_read_as_numpy_reads_it(tmp_path: Path, array: np.ndarray) -> None:
    write_columns(tmp_path, {"column": array})
    column = open_array(tmp_path, "column", array.dtype, array.ndim, below=None)
    expected = np.load(tmp_path / "column.npy")
    assert column.dtype == expected.dtype
    assert column.shape == expected.shape
    assert column.tobytes() == expected.tobytes() == array.tobytes()
    assert not column.size or not column.flags.writeable


def test_no_parser_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's fails now and then when two threads use it at once."""
    monkeypatch.setattr(ast, "parse", None)
    write_columns(tmp_path, {"column": np.arange(3)})
    assert open_array(tmp_path, "column", np.int64, below=3).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b"NUMPY", b"NUMPI"),
        (b"'<i8'", b"'|O8'"),
        (b"(3,)", b"(4,)"),
        (b"(3,)", b"(-3,)"),
        (b"(3,)", b"(3, 1, 1)"),
        (b"False", b"True "),
        (b" \n", b"  "),
    ],
)
def test_a_head_that_was_not_written_so_is_told(tmp_path: Path, right: bytes, wrong: bytes) -> None:
    write_columns(tmp_path, {"column": np.arange(3)})
    path = tmp_path / "column.npy"
    sound = path.read_bytes()
    assert right in sound
    path.write_bytes(sound.replace(right, wrong))
    with pytest.raises(StoreError, match=r"column\.npy is damaged .*build the store again"):
        open_array(tmp_path, "column", np.int64, below=3)
