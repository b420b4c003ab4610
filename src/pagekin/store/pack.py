"""Many columns in one file with one memory map, so that a build of many batches needs few open files.

A file consists of the length of its header (8 bytes, little-endian), the header (JSON: notes of the writer; type, shape
and offset of every column), the columns, each at a multiple of 64 bytes, and the SHA-256 of everything before.
"""

import json
import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from pagekin.model.arrays import Array

_ALIGNMENT = 64
_LENGTH = 8
_DIGEST = sha256().digest_size


@dataclass(frozen=True)
class Pack:
    """An opened file of columns. Its map is closed with the last of its columns."""

    notes: Any
    columns: dict[str, Array]


def write_pack(path: Path, columns: Iterable[tuple[str, Array]], notes: Any) -> None:
    """Write columns and notes to one file."""
    arrays = {name: np.ascontiguousarray(array) for name, array in columns}
    digest = sha256()
    with path.open("wb") as file:
        for piece in _pieces(arrays, notes):
            digest.update(piece)
            file.write(piece)
        file.write(digest.digest())


def _pieces(arrays: dict[str, Array], notes: Any) -> Iterator[bytes | memoryview]:
    """The bytes of a file up to its checksum."""
    places = {}
    end = 0
    for name, array in arrays.items():
        places[name] = (array.dtype.str, array.shape, end)
        end = _aligned(end + array.nbytes)
    header = json.dumps({"notes": notes, "columns": places}).encode("ascii")
    begin = _aligned(_LENGTH + len(header))
    yield len(header).to_bytes(_LENGTH, "little") + header + bytes(begin - _LENGTH - len(header))
    for array in arrays.values():
        yield array.reshape(-1).view(np.uint8).data
        yield bytes(_aligned(array.nbytes) - array.nbytes)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def is_whole(path: Path) -> bool:
    """Whether the checksum of a file is right."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return sha256(memoryview(data)[:-_DIGEST]).digest() == data[-_DIGEST:]


def open_pack(path: Path) -> Pack:
    """Open the columns of a file, memory-mapped."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    length = int.from_bytes(data[:_LENGTH], "little")
    header = json.loads(data[_LENGTH : _LENGTH + length])
    begin = _aligned(_LENGTH + length)
    columns = {
        name: np.ndarray(shape, dtype, data, begin + place) for name, (dtype, shape, place) in header["columns"].items()
    }
    return Pack(header["notes"], columns)
