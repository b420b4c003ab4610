"""Columns whose pieces are written one by one are those that are written whole, then divided into shards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.serial_pool import SerialPool
from pagekin.engines.local import WorkerPool
from pagekin.errors import StoreError
from pagekin.model.arrays import Array, Int64s, offsets_of
from pagekin.store.columns import write_columns
from pagekin.store.pieces import (
    ColumnFiles,
    ColumnPieces,
    create_shards,
    cut_at,
    place_pieces,
    write_pieces,
    write_scattered,
)
from pagekin.store.shards import BY_PAGE, divide, ragged
from pagekin.store.stage_files import Stages, write_stage

CUTS = ragged("words", ["form"], "page") | {"digest": BY_PAGE, "size": BY_PAGE}


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@given(
    lengths=st.lists(st.sampled_from([0, 0, 1, 3, 5000]), min_size=1, max_size=12),
    shards=st.integers(1, 4),
    step=st.integers(1, 5),
    attempts=st.integers(1, 2),
)
def test_pieces_in_any_order_are_the_column(lengths: list[int], shards: int, step: int, attempts: int) -> None:
    pages = len(lengths)
    offsets = offsets_of(np.array(lengths))
    columns = {
        "words.offsets": offsets,
        "words.form": np.arange(offsets[-1], dtype=np.uint32),
        "digest": np.arange(16 * pages, dtype=np.uint8).reshape(pages, 16),
        "size": np.arange(pages, dtype=np.int64),
    }
    first = np.linspace(0, pages, shards + 1).astype(np.int64)  # shards may be empty
    with TemporaryDirectory() as place:
        spool, whole, placed = (Path(place, name) for name in ("spool", "whole", "placed"))
        for folder in (spool, whole, placed):
            folder.mkdir()
        write_columns(whole, columns)
        divide(whole, first, np.arange(pages + 1), CUTS)
        firsts = cut_at(first, step)
        files = []
        for begin, end in pairwise(firsts.tolist()):
            piece = {name: columns[name][begin:end] for name in ("digest", "size")}
            piece["words.offsets"] = offsets[begin : end + 1] - offsets[begin]
            piece["words.form"] = columns["words.form"][offsets[begin] : offsets[end]]
            files.append(write_stage(spool, "piece", piece))
        create_shards(placed, first)
        run = lambda write, jobs: [write(job) for _ in range(attempts) for job in reversed(jobs)]  # noqa: E731
        place_pieces(run, placed, ColumnPieces(files, np.searchsorted(firsts, first[:-1]).tolist()))
        assert files_of(placed) == files_of(whole)


class RepeatingPool(SerialPool):
    """Every job runs twice, as after the loss of an executor, and the last ones first."""

    def run(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
        super().run(function, jobs[::-1])
        return super().run(function, jobs)


POOLS = (WorkerPool(1), WorkerPool(2), SerialPool(1), RepeatingPool(1))


def rows_of(lengths: list[int], pages: range) -> dict[str, Array]:
    """The ragged rows of some pages, and a row for each of them."""
    offsets = offsets_of(np.array(lengths, np.int64))
    own = offsets[pages.start : pages.stop + 1]
    numbers = np.arange(own[0], own[-1], dtype=np.uint32)
    return {"words.offsets": own - own[0], "words.form": numbers, "size": np.array(pages, np.int64)}


def scattered(order: Int64s, places: range) -> dict[str, Array]:
    """Rows that name their places."""
    pages = order[places.start : places.stop]
    return {"places": pages, "near": np.column_stack([pages, 2 * pages]).astype(np.uint16)}


def ranges(pages: int, step: int) -> list[range]:
    return [range(begin, min(begin + step, pages)) for begin in range(0, pages, step)]


@given(lengths=st.lists(st.sampled_from([0, 0, 1, 3, 500]), min_size=1, max_size=12), step=st.integers(1, 5))
def test_every_engine_writes_the_same_columns(lengths: list[int], step: int) -> None:
    columns = rows_of(lengths, range(len(lengths)))
    for pool in POOLS:
        with TemporaryDirectory() as place:
            whole, written = Path(place, "whole"), Path(place, "written")
            whole.mkdir()
            written.mkdir()
            write_columns(whole, columns)
            write_pieces(
                Stages(pool, Path(place, "spool")), written, "rows", rows_of, lengths, ranges(len(lengths), step)
            )
            assert files_of(written) == files_of(whole)


@given(order=st.integers(1, 40).flatmap(lambda pages: st.permutations(range(pages))), step=st.integers(1, 9))
def test_rows_in_any_order_find_their_places(order: list[int], step: int) -> None:
    pages, first = np.arange(len(order)), np.array([0, len(order) // 3, len(order)])
    for pool in POOLS:
        for shards in ([0, len(order)], first.tolist()):
            with TemporaryDirectory() as place:
                whole, written = Path(place, "whole"), Path(place, "written")
                whole.mkdir()
                written.mkdir()
                write_columns(whole, {"near": np.column_stack([pages, 2 * pages]).astype(np.uint16)})
                divide(whole, np.array(shards), pages, {"near": BY_PAGE})
                create_shards(written, np.array(shards))
                columns, jobs = [ColumnFiles("near", "<u2", (2,), tuple(shards))], ranges(len(order), step)
                stages = Stages(pool, Path(place, "spool"))
                write_scattered(stages, written, columns, "near", scattered, np.array(order), jobs)
                assert files_of(written) == files_of(whole)


@pytest.mark.parametrize("pool", POOLS)
def test_every_engine_divides_the_same_columns(pool: WorkerPool, tmp_path: Path) -> None:
    columns, first = rows_of([3, 0, 5000, 1, 2, 9], range(6)), np.array([0, 2, 3, 6])
    divided = []
    for name, stages in (("one", Stages(WorkerPool(1), tmp_path)), ("other", Stages(pool, tmp_path))):
        (tmp_path / name).mkdir()
        write_columns(tmp_path / name, columns)
        divide(tmp_path / name, first, np.arange(7), CUTS, stages.each)
        divided.append(files_of(tmp_path / name))
    assert divided[0] == divided[1]
    assert sorted(name for name in divided[0] if "/" not in name) == ["shards.npy"]


def test_a_piece_that_is_damaged_before_it_is_placed_is_named(tmp_path: Path) -> None:
    class DamagingPool(SerialPool):
        def run(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
            for file in sorted((tmp_path / "spool").glob("rows-*.npz"))[:1]:
                file.write_bytes(file.read_bytes()[:-1] + b"?")
            return super().run(function, jobs)

    stages = Stages(DamagingPool(1), tmp_path / "spool")
    with pytest.raises(StoreError, match=r"rows-\w+\.npz is damaged; run the build again"):
        write_pieces(stages, tmp_path, "rows", rows_of, [2, 1, 4], ranges(3, 1))
    stages = Stages(SerialPool(1), tmp_path / "spool")  # the stage runs again
    (tmp_path / "whole").mkdir()
    write_pieces(stages, tmp_path, "rows", rows_of, [2, 1, 4], ranges(3, 1))
    write_columns(tmp_path / "whole", rows_of([2, 1, 4], range(3)))
    for name, data in files_of(tmp_path / "whole").items():
        assert (tmp_path / name).read_bytes() == data
