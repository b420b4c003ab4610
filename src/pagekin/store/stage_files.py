"""Files between two stages of a build on several machines: arrays, with a checksum that the next stage verifies.

A finished stage leaves a record of its files. A build after one that failed later finds it by a digest of everything
that the stage depends on, and uses its files unless one of them is missing or damaged.
"""

import json
import math
import pickle
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import chain
from mmap import ACCESS_COPY, ACCESS_READ, mmap
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, NamedTuple, TypeAlias, TypeVar
from weakref import WeakKeyDictionary
from zipfile import ZipFile

import numpy as np

from pagekin.engines.local import WorkerPool
from pagekin.engines.spark import SparkPool
from pagekin.errors import StoreError
from pagekin.model.arrays import Array, Strings
from pagekin.model.capture import MiB
from pagekin.model.files import replacing
from pagekin.store.array_files import HEAD, map_array
from pagekin.store.columns import checksum
from pagekin.store.manifest import describe_files
from pagekin.store.opened import opened_once

_HASHED_BYTES = 64 * MiB  # of the files of a job
_ZIP_LENGTHS = 26  # the place of the lengths of a name and of what follows it, at the end of the header of a ZIP member

Job = TypeVar("Job")
Value = TypeVar("Value")
Result = TypeVar("Result")
Columns: TypeAlias = Mapping[str, Array]


class StageFile(NamedTuple):
    """A file that was written completely, and its checksum."""

    path: Path
    digest: str


def write_stage(folder: Path, name: str, columns: Mapping[str, Array]) -> StageFile:
    """Write arrays under a name that no other attempt of the same job uses."""
    path = folder.absolute() / f"{name}-{token_hex(4)}.npz"
    arrays: dict[str, Any] = dict(columns)
    np.savez(path, **arrays)
    return StageFile(path, checksum(path))


def read_stage(file: StageFile) -> dict[str, Any]:
    """The arrays of a file; raise StoreError if it is not what was written."""
    with _reading(file):
        if checksum(file.path) == file.digest:
            with np.load(file.path) as columns:
                return dict(columns)
    raise _damaged(file)


def map_stage(file: StageFile) -> dict[str, Array]:
    """The same arrays, memory-mapped; some are not aligned, and compiled code cannot read them."""
    with _reading(file), file.path.open("rb") as opened:
        if checksum(file.path) == file.digest:
            mapped = mmap(opened.fileno(), 0, access=ACCESS_READ)
            return {
                name: np.frombuffer(mapped, dtype, math.prod(shape), start).reshape(shape)
                for name, (dtype, shape, start) in _places_of(file.path).items()
            }
    raise _damaged(file)


@contextmanager
def _reading(file: StageFile) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{file.path} cannot be read: {error.strerror or error}; run the build again") from error


def _damaged(file: StageFile) -> StoreError:
    return StoreError(f"{file.path} is damaged; run the build again")


@dataclass(frozen=True)
class Stages:
    """Runs the stages of an index: by threads of this process, or by executors, whose results are files in `folder`."""

    pool: WorkerPool
    folder: Path

    def map(
        self,
        name: str,
        function: Callable[[Value, Job], Columns],
        value: Value,
        jobs: Iterable[Job],
        files: Iterable[Path] = (),
    ) -> Iterable[Columns]:
        """The results of `function` on a value and every job, in the order of the jobs.

        Executors load the value from a file, once in each process. The results depend on the value, on the repr of the
        jobs, and on the contents of files.
        """
        if not isinstance(self.pool, SparkPool):
            return self.pool.map(partial(function, value), jobs)
        return map(read_stage, self.files(name, function, value, jobs, files))

    def files(
        self,
        name: str,
        function: Callable[[Value, Job], Columns],
        value: Value,
        jobs: Iterable[Job],
        files: Iterable[Path] = (),
    ) -> list[StageFile]:
        """The same results in the files that executors have written; the driver does not read them."""
        pool = self.pool
        assert isinstance(pool, SparkPool)
        self.folder.mkdir(exist_ok=True)
        shared, jobs = share(self.folder, name, value), list(jobs)
        digests = pool.run(checksum, [file.absolute() for file in files])
        depends_on = (shared.digest, sha256(pickle.dumps(jobs)).hexdigest(), digests)
        return run_stage(pool, self.folder, name, partial(_with_value, function, shared), jobs, depends_on)

    def each(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterable[Result]:
        """The small results of `function` on every job, by threads or by executors."""
        return (
            self.pool.run(function, list(jobs)) if isinstance(self.pool, SparkPool) else self.pool.map(function, jobs)
        )

    def remove(self, name: str) -> None:
        """Remove the files of the stages with this name, and the folder if nothing else is in it."""
        for path in self.folder.glob(f"{name}-*"):
            path.unlink()
        with suppress(OSError):
            self.folder.rmdir()

    def checksums(self, folder: Path, known: Container[str] = ()) -> dict[str, dict[str, Any]]:
        """Size and checksum of every file of a folder that all executors see, except those that are known."""
        pool = self.pool
        if not isinstance(pool, SparkPool):
            return describe_files(folder, pool.map, known)
        return describe_files(folder.absolute(), partial(_map_files, pool), known)


IN_MEMORY = Stages(WorkerPool(1), Path())  # stages of this thread


def _map_files(pool: SparkPool, function: Callable[[Path], str], paths: Iterable[Path]) -> Iterator[str]:
    """`function` of every file, by executors if there is much to read; small files share a job."""
    jobs: list[list[Path]] = []
    size = _HASHED_BYTES
    for path in paths:
        if size >= _HASHED_BYTES:
            jobs.append([])
            size = 0
        jobs[-1].append(path)
        size += path.stat().st_size
    found = pool.run(partial(_of_each, function), jobs) if len(jobs) > 1 else map(partial(_of_each, function), jobs)
    return chain.from_iterable(found)


def _of_each(function: Callable[[Path], str], paths: Iterable[Path]) -> list[str]:
    return list(map(function, paths))


def _with_value(function: Callable[[Any, Job], Columns], shared: StageFile, job: Job) -> Columns:
    return function(shared_value(shared), job)


def share(folder: Path, name: str, value: object) -> StageFile:
    """Write a value that all jobs of a stage need. A store and mapped columns in it are written as their places."""
    path = folder.absolute() / f"{name}-{token_hex(4)}.value"
    digest = sha256()
    with path.open("wb") as file:
        _Pickler(_Hashed(file, digest), protocol=5).dump(value)
    return StageFile(path, digest.hexdigest())


class _Hashed(NamedTuple):
    """A file whose bytes are hashed while they are written: they need not be in memory together."""

    file: IO[bytes]
    digest: Any

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return self.file.write(data)


class _MappedFile(NamedTuple):
    """The file of a column, a digest of all that it was made of, and the address at which it is mapped."""

    path: Path
    digest: str
    address: int


_mapped_files: "WeakKeyDictionary[mmap, _MappedFile]" = WeakKeyDictionary()


def map_column(path: Path, digest: str) -> Array:
    """Open a column that executors have written, memory-mapped; `share` will write its place.

    Compiled code takes it as an array in memory: it may be written, but what is written stays in this process.
    """
    with path.open("rb") as file:
        column = map_array(file, path)
        if not column.size:
            return column
        mapped = mmap(file.fileno(), 0, access=ACCESS_COPY)
    _mapped_files[mapped] = _MappedFile(path, digest, np.frombuffer(mapped, np.uint8).ctypes.data)
    return np.frombuffer(mapped, column.dtype, column.size, HEAD).reshape(column.shape)


class _Pickler(pickle.Pickler):
    """Writes the places of mapped columns, and of contiguous parts of them."""

    def persistent_id(self, value: Any) -> tuple[Any, ...] | None:
        if type(value) is not np.ndarray or not value.flags.c_contiguous or not value.size:
            return None
        owner: Any = value.base
        while isinstance(owner, np.ndarray):
            owner = owner.base
        mapped = owner.obj if isinstance(owner, memoryview) else owner
        found = _mapped_files.get(mapped) if isinstance(mapped, mmap) else None
        if found is None:
            return None
        return found.path, found.digest, value.ctypes.data - found.address, value.dtype.str, value.shape


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, place: tuple[Any, ...]) -> Array:
        path, _, start, dtype, shape = place
        with path.open("rb") as file:
            mapped = mmap(file.fileno(), 0, access=ACCESS_COPY)
        return np.frombuffer(mapped, dtype, math.prod(shape), start).reshape(shape)


def shared_value(file: StageFile) -> Any:
    """The value, kept for the next job of this process."""
    return opened_once(file, partial(_load_value, file))


def _load_value(file: StageFile) -> Any:
    with _reading(file):
        if checksum(file.path) == file.digest:  # the digest comes from the driver, not from a file
            with file.path.open("rb") as stream:
                return _Unpickler(stream).load()
    raise _damaged(file)


def strings_in(arrays: Mapping[str, Array], name: str) -> Strings:
    """The strings NAME among the arrays of a file."""
    return Strings(arrays[f"{name}.offsets"], arrays[f"{name}.data"])


def shapes_of(file: StageFile) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and shape of each array of a file; their values are not read."""
    return {name: (dtype, shape) for name, (dtype, shape, _) in _places_of(file.path).items()}


def _places_of(path: Path) -> dict[str, tuple[str, tuple[int, ...], int]]:
    """Type and shape of each array of a file, and where its values begin."""
    found = {}
    with path.open("rb") as file, ZipFile(file) as archive:
        for member in archive.infolist():
            with archive.open(member) as array:
                np.lib.format.read_magic(array)
                shape, _, dtype = np.lib.format.read_array_header_1_0(array)
                header = array.tell()
            file.seek(member.header_offset + _ZIP_LENGTHS)
            lengths = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
            start = member.header_offset + _ZIP_LENGTHS + 4 + lengths + header
            found[member.filename.removesuffix(".npy")] = (dtype.str, shape, start)
    return found


def run_stage(
    pool: SparkPool,
    folder: Path,
    name: str,
    function: Callable[[Job], Mapping[str, Array]],
    jobs: Sequence[Job],
    depends_on: object,
) -> list[StageFile]:
    """Run `function` on every job on the executors; the files of the arrays that it gives, in the order of the jobs.

    The repr of `depends_on` must differ whenever the results do.
    """
    job = partial(_written, folder.absolute(), name, function)
    files = finished_or(folder, name, (jobs, depends_on), lambda: dict(enumerate(pool.run(job, jobs))))
    return [files[number] for number in range(len(jobs))]


def _written(folder: Path, name: str, function: Callable[[Job], Mapping[str, Array]], job: Job) -> StageFile:
    return write_stage(folder, name, function(job))


def finished_or(
    folder: Path, name: str, depends_on: object, make: Callable[[], dict[int, StageFile]]
) -> dict[int, StageFile]:
    """The numbered files of a stage: those of an earlier build, or else what `make` gives, which is recorded."""
    record = folder / f"{name}-{sha256(repr(depends_on).encode()).hexdigest()[:32]}.files"
    found = _recorded(record)
    if found is None:
        found = make()
        with replacing(record) as path:
            path.write_text(json.dumps({number: (file.path.name, file.digest) for number, file in found.items()}))
    return found


def _recorded(record: Path) -> dict[int, StageFile] | None:
    """The files of a record, if none of them is missing or damaged."""
    try:
        listed = json.loads(record.read_text("utf-8")).items()
        found = {int(number): StageFile(record.parent.absolute() / name, digest) for number, (name, digest) in listed}
        return found if all(checksum(file.path) == file.digest for file in found.values()) else None
    except (OSError, ValueError, TypeError, AttributeError):
        return None
