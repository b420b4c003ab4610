"""Batches that a build has read and not yet merged into a store. After a killed build, the next one continues here.

A batch is one file with one memory map, so that a build of many batches needs few open files: a line of JSON
(fingerprint, skips, type and shape of every column), the columns, each at a multiple of 64 bytes, and the SHA-256 of
everything before. The checksum replaces a sync: a batch is not worth waiting for the disk, but must not be trusted
after a crash.
"""

from __future__ import annotations

import json
import mmap
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, overload

import numpy as np

from pagekin.errors import StoreError
from pagekin.model.capture import Skip, SkipKind
from pagekin.model.files import replacing
from pagekin.model.reading import Reading
from pagekin.store.columns import columns_of, reading_of

_PREFIX = "batch-"
_MAX_OPEN = 16  # batches at a time
_ALIGNMENT = 64
_DIGEST = sha256().digest_size


class Spool:
    """A folder of readings, one per file. A batch is written completely or not at all."""

    def __init__(self, folder: Path, fingerprint: dict[str, Any]) -> None:
        self.folder = folder
        self._fingerprint = fingerprint
        self._next = 0

    def open(self) -> list[Path]:
        """The batches of an earlier build with the same fingerprint; all others are removed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        places = []
        for place in sorted(self.folder.iterdir()):
            if self._is_usable(place):
                places.append(place)
                self._next = max(self._next, int(place.name.removeprefix(_PREFIX)) + 1)
            elif place.is_dir():
                shutil.rmtree(place, ignore_errors=True)
            else:
                with suppress(OSError):
                    place.unlink()
        return places

    def _is_usable(self, place: Path) -> bool:
        number = place.name.removeprefix(_PREFIX)
        if not (place.name.startswith(_PREFIX) and number.isdecimal() and place.is_file()):
            return False
        try:
            data = _map(place)
            header = json.loads(data.readline())
            _reading(data)  # raises if a column is missing
            is_whole = sha256(memoryview(data)[:-_DIGEST]).digest() == data[-_DIGEST:]
            return is_whole and bool(header["fingerprint"] == self._fingerprint)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def places(self) -> Iterator[Path]:
        while True:
            yield self.folder / f"{_PREFIX}{self._next:06}"
            self._next += 1

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Readings(Sequence[Reading]):
    """Many readings, few of them open: a batch is opened when it is used, and the least recently used one is closed."""

    def __init__(self, readings: Iterable[Reading | Path]) -> None:
        self._readings = list(readings)
        self._load = lru_cache(_MAX_OPEN)(load_batch)

    def __len__(self) -> int:
        return len(self._readings)

    @overload
    def __getitem__(self, k: int) -> Reading: ...
    @overload
    def __getitem__(self, k: slice) -> Readings: ...
    def __getitem__(self, k: int | slice) -> Reading | Readings:
        if isinstance(k, slice):
            return Readings(self._readings[k])
        reading = self._readings[k]
        return self._load(reading) if isinstance(reading, Path) else reading


def write_batch(place: Path, reading: Reading, fingerprint: dict[str, Any]) -> None:
    arrays = {name: np.ascontiguousarray(array) for name, array in columns_of(reading)}
    columns = {name: (array.dtype.str, array.shape) for name, array in arrays.items()}
    header = {"fingerprint": fingerprint, "skips": [vars(skip) for skip in reading.skips], "columns": columns}
    digest = sha256()
    with replacing(place) as path, path.open("wb") as file:
        parts: list[bytes | memoryview] = [json.dumps(header).encode() + b"\n"]
        parts += [array.reshape(-1).view(np.uint8).data for array in arrays.values()]
        for part in parts:
            for piece in (part, bytes(-len(part) % _ALIGNMENT)):
                digest.update(piece)
                file.write(piece)
        file.write(digest.digest())


def load_batch(place: Path) -> Reading:
    """Open a batch; its map is closed with the last of its columns."""
    try:
        return _reading(_map(place))
    except OSError as error:
        raise StoreError(f"{place} cannot be read: {error.strerror or error}; run the build again") from error


def _map(place: Path) -> mmap.mmap:
    with place.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _reading(data: mmap.mmap) -> Reading:
    data.seek(0)
    header = json.loads(data.readline())
    columns, end = {}, data.tell()
    for name, (dtype, shape) in header["columns"].items():
        begin = end + -end % _ALIGNMENT
        columns[name] = np.ndarray(shape, dtype, data, begin)
        end = begin + columns[name].nbytes
    skips = [Skip(**{**skip, "kind": SkipKind(skip["kind"])}) for skip in header["skips"]]
    return replace(reading_of(lambda name, kind, dimensions: columns[name]), skips=skips)
