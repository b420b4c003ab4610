"""Columns in files: one plain `.npy` file per array, named after the part and the column, opened memory-mapped.

A column that is divided into shards has a file in the folder of each shard, and is opened as one array.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import fields
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from pagekin.errors import StoreError
from pagekin.model.arrays import Array, Strings
from pagekin.model.files import sync_file, sync_folder
from pagekin.model.reading import RAGGED_PARTS, Pages, Reading, Sources, Width
from pagekin.store.array_files import map_array, map_pieces, write_header
from pagekin.store.checks import check, check_below, check_offsets, check_type, column_types, rules_of

Part = TypeVar("Part")  # a dataclass of arrays and strings
Job = TypeVar("Job")
Result = TypeVar("Result")

ANY = -1  # the length of a column that is known only when all of it is written
SHARDS = "shards"  # the column with the first page of each shard, and the number of pages
MOST_SHARDS = 200  # two generations of as many shards stay below the number of mappings that Linux allows
_STRINGS = 1 << 16  # read together
_PARTS: dict[str, Any] = {"pages": Pages, "sources": Sources, "forms": Strings, "targets": Strings, **RAGGED_PARTS}


class Mapper(Protocol):
    """Like `map`, but may run several jobs at a time; results come in the order of the jobs."""

    def __call__(self, function: Callable[[Job], Result], jobs: Iterable[Job], /) -> Iterable[Result]: ...


@contextmanager
def reporting_errors(folder: Path) -> Iterator[None]:
    """Turn an OSError into a StoreError that names the folder."""
    try:
        yield
    except OSError as error:
        reason = f"{error.strerror or error}; what was there before is untouched"
        raise StoreError(f"{folder} cannot be written: {reason}") from error


def flat_columns(name: str, part: Any) -> Iterator[tuple[str, Array]]:
    """(name, array) of an array, or of every array in a dataclass of arrays, strings and other such dataclasses."""
    if isinstance(part, np.ndarray):
        yield name, part
    else:
        for each in fields(part):
            yield from flat_columns(f"{name}.{each.name}", getattr(part, each.name))


def write_columns(folder: Path, parts: Mapping[str, Any]) -> None:
    """Write arrays, and every column of strings and tables, under these names.

    Columns are written through the file system, never through a memory map: a full disk is then an error that can be
    reported, not a bus error that kills the process.
    """
    for name, part in parts.items():
        for column, array in flat_columns(name, part):
            with column_writer(folder, {column: (array.dtype, array.shape)}) as append:
                append(array)


@contextmanager
def column_writer(folder: Path, columns: Mapping[str, tuple[Any, tuple[int, ...]]]) -> Iterator[Callable[..., None]]:
    """A function that appends a piece to each of several columns, which are given by type and shape.

    If a length is ANY, the header, which has room for any number, is written again at the end.
    """
    with ExitStack() as files:
        opened = [files.enter_context((folder / f"{name}.npy").open("wb")) for name in columns]
        lengths = [0] * len(opened)
        for file, (dtype, shape) in zip(opened, columns.values(), strict=True):
            write_header(file, dtype, (max(shape[0], 0), *shape[1:]))

        def append(*pieces: Array) -> None:
            for k, ((dtype, _), piece) in enumerate(zip(columns.values(), pieces, strict=True)):
                opened[k].write(np.ascontiguousarray(piece, dtype).data)
                lengths[k] += len(piece)

        yield append
        for file, length, (dtype, shape) in zip(opened, lengths, columns.values(), strict=True):
            if shape[0] == ANY:
                file.seek(0)
                write_header(file, dtype, (length, *shape[1:]))


def string_ranges(strings: Strings) -> Iterator[Strings]:
    """The strings of a long column, some at a time."""
    for begin in range(0, len(strings), _STRINGS):
        yield strings.part(begin, min(begin + _STRINGS, len(strings)))


def each_string(strings: Strings) -> Iterator[str]:
    """The strings of a long column, of which few are in memory at a time."""
    return chain.from_iterable(string_ranges(strings))


def sync(folder: Path) -> None:
    """Wait until the files of a folder, their names and its own name are on the disk."""
    for path in folder.iterdir():
        if path.is_dir():
            sync(path)
        else:
            sync_file(path)
    sync_folder(folder)
    sync_folder(folder.parent)


def open_array(folder: Path, name: str, kind: Any, dimensions: int = 1, *, below: int | None) -> Array:
    """Open a column, memory-mapped and read-only; raise StoreError if it is not what it should be.

    `kind` is its type, or a tuple of types. Numbers that are used as indices are `below` the size of what they index;
    None is for other numbers, and for those that are checked when they are used.
    """
    path = folder / f"{name}.npy"
    try:
        try:
            with path.open("rb") as file:
                array = map_array(file, path)
        except FileNotFoundError:
            if not (folder / f"{SHARDS}.npy").exists():
                raise
            array = _map_shards(folder, name)
    except FileNotFoundError as error:
        raise StoreError(f"{path} is damaged or missing ({error}); build the store again") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror or error}") from error
    check_type(array.dtype, array.shape, kind, dimensions, path)
    if below is not None:
        check_below(array, below, path)
    return array


def _map_shards(folder: Path, name: str) -> Array:
    """Open a column that is divided into shards."""
    with (folder / f"{SHARDS}.npy").open("rb") as file:
        first = map_array(file, folder / f"{SHARDS}.npy")
    check(first.ndim == 1 and 2 <= len(first) - 1 <= MOST_SHARDS, folder / f"{SHARDS}.npy", "it holds no shards")
    return map_pieces([folder / shard_name(k) / f"{name}.npy" for k in range(len(first) - 1)])


def shard_name(number: int) -> str:
    """The folder of a shard.

    >>> shard_name(3)
    'shard-0003'
    """
    return f"shard-{number:04}"


def open_part(folder: Path, name: str, kind: type[Part]) -> Part:
    """Open strings, a table or a ragged part, memory-mapped."""
    return _part_of(partial(open_array, folder, below=None), f"{folder}: ", name, kind)


def open_reading(folder: Path) -> Reading:
    return reading_of(partial(open_array, folder, below=None), f"{folder}: ")


def columns_of(reading: Reading) -> Iterator[tuple[str, Array]]:
    """(name, column) of all columns of a reading; redirects and skips are not columns."""
    for name in _PARTS:
        yield from flat_columns(name, getattr(reading, name))


def reading_of(column: Callable[[str, Any, int], Array], where: str = "") -> Reading:
    """The reading whose columns `column` returns by name, type and dimensions; `where` is for messages."""
    reading = Reading(**{name: _part_of(column, where, name, kind) for name, kind in _PARTS.items()})
    for name in RAGGED_PARTS:
        rows = len(getattr(reading, name))
        check(rows == len(reading), f"{where}{name}.offsets.npy", f"it has {rows:,} rows for {len(reading):,} pages")
    for name, table in (("pages", reading.pages), ("sources", reading.sources)):
        for column_name, values in vars(table).items():
            check(len(values) == len(table), f"{where}{name}.{column_name}", f"it has {len(values):,} rows")
    return reading


def _part_of(column: Callable[[str, Any, int], Array], where: str, name: str, kind: type[Part]) -> Part:
    types, rules = column_types(kind), rules_of(kind)
    values: dict[str, Any] = {}
    for each, column_type in types.items():
        path, rule = f"{name}.{each}", rules.get(each)
        if column_type is Strings:
            values[each] = _part_of(column, where, path, Strings)
        else:
            values[each] = column(path, column_type, 2 if isinstance(rule, Width) else 1)
        if isinstance(rule, Width):
            check(values[each].shape[1] == rule.columns, f"{where}{path}.npy", "its rows have another length")
        if "offsets" in types and each != "offsets":
            check_offsets(values["offsets"], len(values[each]), f"{where}{name}.offsets.npy or {path}.npy")
    return kind(**values)


def checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
