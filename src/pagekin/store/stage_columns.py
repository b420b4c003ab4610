"""Columns that the jobs of a stage make together: in memory, or, by executors, in files that are memory-mapped.

The driver holds none of these files: it reads them in ranges, if at all. Values that name such a column are shared as
its place (`stage_files.share`), and executors map it as well.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.model.arrays import Array, Int64s, offsets_of
from pagekin.model.capture import MiB
from pagekin.store.pieces import ColumnFiles, ColumnPieces, place_pieces
from pagekin.store.stage_files import (
    Columns,
    Job,
    StageFile,
    Stages,
    Value,
    finished_or,
    map_column,
    read_stage,
    shapes_of,
    share,
    shared_value,
    write_stage,
)

_OFFSETS = "offsets"
_ROWS = 1 << 22  # of a range of sums, or of keys
_SHORT = 4 * MiB  # of files that the driver puts together

_Part = tuple[int, Int64s, Array]  # job, places or keys, values


class Sums(NamedTuple):
    """A column of sums: how many rows it has, and which array of a result has the places, which are distinct.

    With `first`, a row has the value of the first job that has one, or else -1.
    """

    size: int
    places: str
    kind: Any
    first: bool = False

    def column(self, begin: int, end: int) -> Array:
        """Some rows before values are added."""
        return np.full(end - begin, -1 if self.first else 0, self.kind)

    def add(self, column: Array, places: Int64s, values: Array) -> None:
        if self.first:
            new = column[places] == -1
            places, values = places[new], values[new]
            column[places] = values
        else:
            column[places] += values


def ranges_of(count: int, step: int) -> list[range]:
    """Ranges of at most `step` numbers; at least one range, which may be empty.

    >>> ranges_of(5, 2), ranges_of(0, 2)
    ([range(0, 2), range(2, 4), range(4, 5)], [range(0, 0)])
    """
    return [range(begin, min(begin + step, count)) for begin in range(0, max(1, count), step)]


def gathered(
    stages: Stages,
    name: str,
    function: Callable[[Value, Job], Columns],
    value: Value,
    jobs: Iterable[Job],
    sums: Mapping[str, Sums] | None = None,
    files: Iterable[Path] = (),
) -> dict[str, Array]:
    """The columns whose pieces are the results of `Stages.map`, in the order of the jobs. There is at least one job.

    NAME.offsets counts the rows of NAME.*, and begins with 0 in every piece. The arrays that `sums` names are no
    pieces: their values are added up at their places, job after job, so that sums of floats are the same everywhere.
    """
    sums = sums or {}
    places = {each.places for each in sums.values()}
    if not isinstance(stages.pool, SparkPool):
        return _in_memory(stages.map(name, function, value, jobs), sums, places)
    found = stages.files(name, function, value, jobs, files)
    joined = [column for column in shapes_of(found[0]) if column not in sums.keys() | places]
    return placed(stages, name, found, {column: column for column in joined}) | _summed(stages, name, found, sums)


def _in_memory(results: Iterable[Columns], sums: Mapping[str, Sums], places: set[str]) -> dict[str, Array]:
    pieces: dict[str, list[Array]] = {}
    totals = {name: each.column(0, each.size) for name, each in sums.items()}
    for columns in results:
        for name, rows in columns.items():
            if name in sums:
                sums[name].add(totals[name], columns[sums[name].places], rows)
            elif name not in places:
                pieces.setdefault(name, []).append(rows)
    return {name: _joined(name, rows) for name, rows in pieces.items()} | totals


def _joined(name: str, pieces: list[Array]) -> Array:
    if len(pieces) == 1:
        return pieces[0]
    if not name.endswith(_OFFSETS):
        return np.concatenate(pieces)
    return offsets_of(np.concatenate([np.diff(piece) for piece in pieces]))


def placed(stages: Stages, name: str, files: Sequence[StageFile], names: Mapping[str, str]) -> dict[str, Array]:
    """Columns from pieces in stage files; `names` are those of the columns, by those of the arrays."""
    pool, in_folder = stages.pool, {array: f"{name}.{column}" for array, column in names.items()}
    assert isinstance(pool, SparkPool)
    if in_folder:
        place_pieces(_near_or_far(pool, files), stages.folder, ColumnPieces(files, names=in_folder))
    digest = _digest(files)
    return {names[array]: _mapped(stages.folder, column, digest) for array, column in in_folder.items()}


def _near_or_far(pool: SparkPool, files: Iterable[StageFile]) -> Callable[[Callable[[Any], None], Sequence[Any]], Any]:
    """How jobs that place the contents of files are run: by the driver if the files are short."""
    short = sum(file.path.stat().st_size for file in files) <= _SHORT
    return _in_order if short else pool.run


def _in_order(function: Callable[[Any], None], jobs: Iterable[Any]) -> None:
    for job in jobs:
        function(job)


def _digest(files: Iterable[StageFile]) -> str:
    return sha256(repr([file.digest for file in files]).encode()).hexdigest()


def _mapped(folder: Path, column: str, digest: str) -> Array:
    return map_column(folder.absolute() / f"{column}.npy", digest)


def zeros(stages: Stages, name: str, count: int) -> Int64s:
    """A column of zeros, which takes no memory."""
    if not isinstance(stages.pool, SparkPool):
        return np.zeros(count, np.int64)
    stages.folder.mkdir(exist_ok=True)
    ColumnFiles(name, np.dtype(np.int64).str, (), (0, count)).create(stages.folder)
    return _mapped(stages.folder, name, "zeros")


def _summed(stages: Stages, name: str, files: Sequence[StageFile], sums: Mapping[str, Sums]) -> dict[str, Array]:
    """The columns of sums: the values travel to ranges of their places."""
    pool, folder = stages.pool, stages.folder
    assert isinstance(pool, SparkPool)
    columns = {}
    for column, each in sums.items():
        stage = f"{name}-{column}"
        cut = partial(_cut_values, files, each.places, column)
        join = partial(_add_values, folder.absolute(), stage, each)
        shuffle = partial(pool.shuffle, cut, range(len(files)), join)
        found = finished_or(folder, stage, ([file.digest for file in files], each), lambda s=shuffle: dict(s()))  # type: ignore[misc]
        written = ColumnFiles(stage, np.dtype(each.kind).str, (), (0, each.size))
        written.create(folder)
        run = _near_or_far(pool, found.values())
        filled = [k for k in range(-(-each.size // _ROWS)) if each.first or k in found]  # the others are zeros
        run(partial(_place_sums, folder.absolute(), written, each), [(k, found.get(k)) for k in filled])
        columns[column] = _mapped(folder, stage, _digest(found[number] for number in sorted(found)))
    return columns


def _cut_values(files: Sequence[StageFile], places: str, column: str, number: int) -> Iterator[tuple[int, _Part]]:
    arrays = read_stage(files[number])
    yield from _by_range(number, arrays[places], arrays[column])


def _by_range(number: int, keys: Int64s, values: Array) -> Iterator[tuple[int, _Part]]:
    """The values by the ranges of their keys."""
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    ranges, starts = np.unique(keys // _ROWS, return_index=True)
    for key, (begin, end) in zip(ranges.tolist(), pairwise([*starts.tolist(), len(keys)]), strict=True):
        yield key, (number, keys[begin:end], values[begin:end])


def _add_values(folder: Path, stage: str, sums: Sums, number: int, parts: Iterable[_Part]) -> tuple[int, StageFile]:
    begin = number * _ROWS
    total = sums.column(begin, min(begin + _ROWS, sums.size))
    for _, places, values in sorted(parts, key=_job_of):
        sums.add(total, places - begin, values)
    return number, write_stage(folder, f"{stage}-{number}", {"sum": total})


def _job_of(part: _Part) -> int:
    return part[0]


def _place_sums(folder: Path, column: ColumnFiles, sums: Sums, numbered: tuple[int, StageFile | None]) -> None:
    number, file = numbered
    begin = number * _ROWS
    rows = sums.column(begin, min(begin + _ROWS, sums.size)) if file is None else read_stage(file)["sum"]
    column.write(folder, begin, rows)


def grouped(
    stages: Stages,
    name: str,
    function: Callable[[Value, Job], tuple[Int64s, Array]],
    value: Value,
    jobs: Sequence[Job],
) -> Array:
    """The values that `function` gives with keys for every job, in the order of keys, then of jobs; each job has some.

    `function` depends on the value and the job alone.
    """
    pool, folder = stages.pool, stages.folder
    if not isinstance(pool, SparkPool):
        keys, values = zip(*pool.map(partial(function, value), jobs), strict=True)
        every: Array = np.concatenate(values)
        return every[np.argsort(np.concatenate(keys), kind="stable")]
    folder.mkdir(exist_ok=True)
    shared = share(folder, name, value)
    cut, join = partial(_cut_keys, function, shared), partial(_order_values, folder.absolute(), name)
    numbered = list(enumerate(jobs))
    found = finished_or(folder, name, (shared.digest, numbered), lambda: dict(pool.shuffle(cut, numbered, join)))
    files = [found[number] for number in sorted(found)]
    if not files:
        return function(value, jobs[0])[1]  # which is empty, as those of all jobs
    return placed(stages, name, files, {"value": "value"})["value"]


def _cut_keys(
    function: Callable[[Any, Any], tuple[Int64s, Array]], shared: StageFile, numbered: tuple[int, Any]
) -> Iterator[tuple[int, _Part]]:
    number, job = numbered
    yield from _by_range(number, *function(shared_value(shared), job))


def _order_values(folder: Path, name: str, number: int, parts: Iterable[_Part]) -> tuple[int, StageFile]:
    _, keys, values = zip(*sorted(parts, key=_job_of), strict=True)
    order = np.argsort(np.concatenate(keys), kind="stable")
    return number, write_stage(folder, f"{name}-{number}", {"value": np.concatenate(values)[order]})
