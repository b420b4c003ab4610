"""An array in several files is the array that was written, and costs addresses only as long as it lives."""

from __future__ import annotations

import gc
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pagekin.errors import StoreError
from pagekin.store import array_files
from pagekin.store.array_files import ALIGNMENT, HEAD, map_pieces, place_of_row, reserve_piece

ONE_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
MAPS = Path("/proc/self/maps")


def write(folder: Path, array: np.ndarray, bounds: list[int]) -> list[Path]:
    """The rows of an array in several files."""
    row_bytes = array[:1].nbytes if len(array) else 0
    paths = [folder / f"{number}.npy" for number in range(len(bounds) - 1)]
    for path, (begin, end) in zip(paths, pairwise(bounds), strict=True):
        reserve_piece(path, array.dtype, (end - begin, *array.shape[1:]), begin * row_bytes)
        with path.open("r+b") as file:
            file.seek(place_of_row(0, begin, row_bytes))
            file.write(array[begin:end].tobytes())
    return paths


@ONE_FOLDER
@given(
    st.sampled_from([np.uint8, np.uint16, np.float32, np.int64]),
    st.sampled_from([(), (1,), (7,), (0,)]),
    st.lists(st.sampled_from([0, 1, 3, 1000, 4096, 16_384, 20_001, 400_000]), min_size=1, max_size=12),
)
def test_pieces_are_the_array(tmp_path: Path, kind: type[np.generic], width: tuple[int, ...], rows: list[int]) -> None:
    bounds = np.cumsum([0, *rows]).tolist()
    size = bounds[-1] * int(np.prod(width, dtype=int))
    array = np.random.default_rng(len(rows)).integers(0, 250, size).astype(kind).reshape(bounds[-1], *width)
    paths = write(tmp_path, array, bounds)
    for in_memory, short in ((False, None), (False, 0), (True, None)):
        with pytest.MonkeyPatch.context() as patch:
            if short is not None:
                patch.setattr(array_files, "_SHORT", short)
                patch.setattr(array_files, "_SHORT_ARRAY", short)
            joined = map_pieces(paths, in_memory=in_memory)
        assert (joined.dtype, joined.shape) == (array.dtype, array.shape)
        assert np.array_equal(joined, array)
        assert not joined.size or (not joined.flags.writeable and joined.flags.c_contiguous and joined.flags.aligned)
    loaded = [np.load(path, max_header_size=2 * ALIGNMENT) for path in paths]
    assert np.array_equal(np.concatenate(loaded), array), "each piece is a file of numpy"


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="pieces are read into memory")
def test_only_the_ends_of_pieces_are_copied(tmp_path: Path) -> None:
    """What is written to a file later is seen through the map, except in the pages that two pieces share."""
    half = 50 * ALIGNMENT
    paths = write(tmp_path, np.zeros(2 * half, np.uint8), [0, half + 7, 2 * half])
    joined = map_pieces(paths)
    for path in paths:
        with path.open("r+b") as file:
            file.seek(path.stat().st_size - half + ALIGNMENT)
            file.write(b"\1" * ALIGNMENT)
    assert np.count_nonzero(joined) == 2 * ALIGNMENT


@pytest.mark.skipif(not MAPS.exists(), reason="there is no list of mappings")
def test_addresses_are_released_with_the_last_view(tmp_path: Path) -> None:
    array = np.arange(1_000_000)
    paths = write(tmp_path, array, [0, 100_000, 500_001, 500_009, 1_000_000])
    map_pieces(paths)
    gc.collect()
    before = len(MAPS.read_text().splitlines())
    views = [map_pieces(paths)[999_990:] for _ in range(20)]
    assert MAPS.read_text().count(str(tmp_path)) == 3 * 20
    assert all(view.tolist() == list(range(999_990, 1_000_000)) for view in views)
    del views
    gc.collect()
    assert str(tmp_path) not in MAPS.read_text()
    assert len(MAPS.read_text().splitlines()) <= before + 2  # the heap may have grown


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda data: data[:-1], "its size is not what its header says"),
        (lambda data: data + b"\0", "its size is not what its header says"),
        (lambda data: b"", "it does not begin as a column does"),
        (lambda data: data.replace(b"<i8", b"<u8"), "it holds another type of rows"),
        (lambda data: data.replace(b"(1500,)", b"(999999999999999,)"), "its size is not what its header says"),
        (lambda data: data[:8] + b"\xff\xff" + data[10:], "its size is not what its header says"),
    ],
)
def test_a_damaged_piece_is_told(tmp_path: Path, damage: object, problem: str) -> None:
    paths = write(tmp_path, np.arange(4000), [0, 1000, 2500, 4000])
    paths[1].write_bytes(damage(paths[1].read_bytes()))  # type: ignore[operator]
    with pytest.raises(StoreError, match=rf"1\.npy is damaged \({problem}\)"):
        map_pieces(paths)


def test_a_piece_from_another_place_is_told(tmp_path: Path) -> None:
    paths = write(tmp_path, np.arange(4000), [0, 1000, 2500, 4000])
    assert int.from_bytes(paths[1].read_bytes()[8:10], "little") + 10 == HEAD + 8 * 1000
    with pytest.raises(StoreError, match=r"2\.npy is damaged \(it does not follow the piece before it\)"):
        map_pieces([paths[0], paths[2], paths[1]])
