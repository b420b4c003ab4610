"""Files between two stages of a build on several machines: arrays, with a checksum that the next stage verifies.

A finished stage leaves a record of its files. A build after one that failed later finds it by a digest of everything
that the stage depends on, and uses its files unless one of them is missing or damaged.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, TypeVar
from zipfile import ZipFile

import numpy as np

from pagekin.engines.spark import SparkPool
from pagekin.errors import StoreError
from pagekin.model.arrays import Array, Strings
from pagekin.model.files import replacing
from pagekin.store.columns import checksum

Job = TypeVar("Job")


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
    try:
        if checksum(file.path) == file.digest:
            with np.load(file.path) as columns:
                return dict(columns)
    except OSError as error:
        raise StoreError(f"{file.path} cannot be read: {error.strerror or error}; run the build again") from error
    raise StoreError(f"{file.path} is damaged; run the build again")


def strings_in(arrays: Mapping[str, Array], name: str) -> Strings:
    """The strings NAME among the arrays of a file."""
    return Strings(arrays[f"{name}.offsets"], arrays[f"{name}.data"])


def shapes_of(file: StageFile) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Type and shape of each array of a file; their values are not read."""
    found = {}
    with ZipFile(file.path) as archive:
        for name in archive.namelist():
            with archive.open(name) as array:
                np.lib.format.read_magic(array)
                shape, _, dtype = np.lib.format.read_array_header_1_0(array)
                found[name.removesuffix(".npy")] = (dtype.str, shape)
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
