"""Pieces of columns become the columns of a store, of its index, or of their shards.

Threads of this process give one piece after the other, which are appended. Executors leave pieces in stage files. The
driver then creates every column at its full length, and each job writes its rows where they belong, so that a repeated
attempt writes the same bytes again; the driver reads none of them.
"""

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Array, Int64s
from pagekin.store.array_files import place_of_row, reserve_piece
from pagekin.store.columns import ANY, SHARDS, column_writer, shard_name, write_columns
from pagekin.store.stage_files import Columns, Job, StageFile, Stages, Value, read_stage, shapes_of

_OFFSETS = ".offsets"
_PLACES = "places"  # the array of a result with the places of its rows


class ColumnFiles(NamedTuple):
    """The files of a column: one with all rows, or one in each shard."""

    name: str
    dtype: str
    row: tuple[int, ...]  # the shape of a row
    bounds: tuple[int, ...]  # the first row of each file, and the number of rows

    @property
    def row_bytes(self) -> int:
        return np.dtype(self.dtype).itemsize * math.prod(self.row)

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
            if some.size:
                place = place_of_row(max(first - begin, 0), begin, self.row_bytes)
                _write_at(path, [(place, some)])

    def write_rows(self, folder: Path, places: Int64s, rows: Array) -> None:
        """Write rows at any places of the column."""
        order = np.argsort(places)
        places, rows = places[order], rows[order]
        for path, (begin, end) in zip(self.paths(folder), pairwise(self.bounds), strict=True):
            first, last = np.searchsorted(places, [begin, end])
            own, some = places[first:last], rows[first:last]
            starts = np.flatnonzero(np.diff(own, prepend=-2) != 1)  # of consecutive places
            begins = (place_of_row(int(row) - begin, begin, self.row_bytes) for row in own[starts])
            _write_at(path, zip(begins, np.split(some, starts[1:]), strict=True) if len(own) else ())


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


def write_pieces(
    stages: Stages,
    folder: Path,
    name: str,
    function: Callable[[Value, Job], Columns],
    value: Value,
    jobs: Iterable[Job],
    files: Iterable[Path] = (),
) -> None:
    """Write columns from the results of `Stages.map`, which are pieces of them in the order of the rows.

    NAME.offsets belongs to the columns NAME.*, and begins with 0 in every piece.
    """
    if isinstance(stages.pool, SparkPool):
        place_pieces(stages.pool.run, folder, ColumnPieces(stages.files(name, function, value, jobs, files)))
    else:
        append_pieces(folder, stages.map(name, function, value, jobs))


def append_pieces(folder: Path, pieces: Iterable[Columns]) -> None:
    """Write columns from pieces that come one after the other."""
    coming = iter(pieces)
    first = next(coming, {})
    columns = {name: (rows.dtype, (ANY, *rows.shape[1:])) for name, rows in first.items()}
    ends = {name: int(rows[-1]) for name, rows in first.items() if name.endswith(_OFFSETS)}
    with column_writer(folder, columns) as append:
        append(*first.values())
        del first
        for piece in coming:
            rows = {name: piece[name] for name in columns}
            for name, end in ends.items():
                rows[name] = rows[name][1:] + end
                ends[name] += int(piece[name][-1])
            append(*rows.values())


def write_scattered(
    stages: Stages,
    folder: Path,
    columns: Sequence[ColumnFiles],
    name: str,
    function: Callable[[Value, Job], Columns],
    value: Value,
    jobs: Iterable[Job],
) -> None:
    """Write columns from the results of `Stages.map`, which have the `places` of their rows. All rows are written."""
    for column in columns:
        column.create(folder)
    if isinstance(stages.pool, SparkPool):
        stages.each(partial(_scatter_file, folder.absolute(), columns), stages.files(name, function, value, jobs))
    else:
        deque(map(partial(_scatter, folder, columns), stages.map(name, function, value, jobs)), maxlen=0)


def _scatter_file(folder: Path, columns: Sequence[ColumnFiles], file: StageFile) -> None:
    _scatter(folder, columns, read_stage(file))


def _scatter(folder: Path, columns: Sequence[ColumnFiles], found: Columns) -> None:
    for column in columns:
        column.write_rows(folder, found[_PLACES], found[column.name])


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


def _write_at(path: Path, parts: Iterable[tuple[int, Array]]) -> None:
    """Write arrays at places of a file."""
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
    try:
        for place, rows in parts:
            os.lseek(descriptor, place, os.SEEK_SET)
            data = np.ascontiguousarray(rows).view(np.uint8).data.cast("B")
            while data:
                data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)
