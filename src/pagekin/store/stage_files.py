"""Files between two stages of a build on several machines: arrays, with a checksum that the next stage verifies."""

from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple

import numpy as np

from pagekin.errors import StoreError
from pagekin.model.arrays import Array
from pagekin.store.columns import checksum


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
