"""Pieces of columns, each in a stage file of its own, become the columns of a store or of its shards.

The driver creates every file at its full length. Each job then writes its rows where they belong, so that a repeated
attempt writes the same bytes again.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pagekin.model.arrays import Array, Int64s
from pagekin.store.array_files import place_of_row, reserve_piece
from pagekin.store.columns import SHARDS, shard_name, write_columns
from pagekin.store.stage_files import StageFile, read_stage, shapes_of

_OFFSETS = ".offsets"


class ColumnFiles(NamedTuple):
    """The files of a column: one with all rows, or one in each shard."""

    name: str
    dtype: str
    row: tuple[int, ...]  # the shape of a row
    bounds: tuple[int, ...]  # the first row of each file, and the number of rows

    @property
    def row_bytes(self) -> int:
        return int(np.dtype(self.dtype).itemsize * np.prod(self.row, dtype=int))

    def paths(self, folder: Path) -> list[Path]:
        file = f"{self.name}.npy"
        if len(self.bounds) == 2:
            return [folder / file]
        return [folder / shard_name(number) / file for number in range(len(self.bounds) - 1)]

    def create(self, folder: Path) -> None:
        for path, (begin, end) in zip(self.paths(folder), pairwise(self.bounds), strict=True):
            reserve_piece(path, np.dtype(self.dtype), (end - begin, *self.row), begin * self.row_bytes)

    def write(self, folder: Path, first: int, rows: Array) -> None:
        """Write consecutive rows, from row `first` of the column on."""
        for path, (begin, end) in zip(self.paths(folder), pairwise(self.bounds), strict=True):
            some = rows[max(begin - first, 0) : max(end - first, 0)]
            if len(some):
                place = place_of_row(max(first - begin, 0), begin, self.row_bytes)
                _write_at(path, place, np.ascontiguousarray(some).view(np.uint8).data)


class _Placing(NamedTuple):
    """A stage file, and for each of its arrays the files of the column, the first row, and what is added to it."""

    file: StageFile
    columns: dict[str, tuple[ColumnFiles, int, int]]


def create_shards(folder: Path, first: Array) -> None:
    """The folders of several shards, and the column with the first page of each."""
    if len(first) > 2:
        for number in range(len(first) - 1):
            (folder / shard_name(number)).mkdir()
        write_columns(folder, {SHARDS: first})


def cut_at(bounds: Int64s, step: int) -> Int64s:
    """The beginnings of ranges of at most `step` numbers that no bound divides, and the end of the last.

    >>> cut_at(np.array([0, 3, 8]), 2).tolist()
    [0, 2, 3, 5, 7, 8]
    """
    begins = [np.arange(begin, end, step) for begin, end in pairwise(bounds.tolist())]
    return np.concatenate([*begins, bounds[-1:]])


class ColumnPieces(NamedTuple):
    """Stage files with the same arrays, in the order of the rows.

    `names` are the columns of some arrays; without it, each array is a piece of the column of its name. The offsets of
    ragged rows begin with 0 in every file: NAME.offsets counts the rows of the first other column NAME.*. Shard k
    begins with file shards[k].
    """

    files: Sequence[StageFile]
    shards: Sequence[int] = (0,)
    names: Mapping[str, str] | None = None


def place_pieces(
    run: Callable[[Callable[[_Placing], None], Sequence[_Placing]], Any], folder: Path, *parts: ColumnPieces
) -> None:
    """Write columns from their pieces; `run` calls a function on every job."""
    jobs = list(chain.from_iterable(_placings(folder, *part) for part in parts if part.files))
    run(partial(_place, folder.absolute()), jobs)


def _placings(
    folder: Path, files: Sequence[StageFile], shards: Sequence[int], names: Mapping[str, str] | None
) -> Iterator[_Placing]:
    shapes = [shapes_of(file) for file in files]
    names = names or {name: name for name in shapes[0]}
    begins = {
        column: [0, *accumulate(each[name][1][0] - column.endswith(_OFFSETS) for each in shapes)]
        for name, column in names.items()
    }
    columns = {}
    for name, column in names.items():
        dtype, shape = shapes[0][name]
        cuts = [begins[column][number] for number in shards]
        columns[column] = ColumnFiles(column, dtype, shape[1:], (*cuts, begins[column][-1] + column.endswith(_OFFSETS)))
        columns[column].create(folder)
    for number, file in enumerate(files):
        placed = {}
        for name, column in names.items():
            added = begins[_data_of(column, begins)][number] if column.endswith(_OFFSETS) else 0
            placed[name] = (columns[column], begins[column][number], added)
        yield _Placing(file, placed)


def _data_of(offsets: str, names: Iterable[str]) -> str:
    """A column whose rows the offsets count."""
    part = offsets.removesuffix("offsets")
    return next(name for name in names if name.startswith(part) and name != offsets)


def _place(folder: Path, job: _Placing) -> None:
    arrays = read_stage(job.file)
    for name, (column, first, added) in job.columns.items():
        rows = arrays[name]
        if column.name.endswith(_OFFSETS):
            rows, first = (rows[1:] + added, first + 1) if first else (rows, first)
        column.write(folder, first, rows)


def _write_at(path: Path, place: int, data: memoryview) -> None:
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
    try:
        os.lseek(descriptor, place, os.SEEK_SET)
        data = data.cast("B")
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)
