"""Batches that a build has read and not yet merged into a store. After a killed build, the next one continues here."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, overload

from pagekin.errors import StoreError
from pagekin.model.capture import Skip, SkipKind
from pagekin.model.files import replacing
from pagekin.model.reading import Reading
from pagekin.store.files import columns_of, reading_of
from pagekin.store.pack import Pack, is_whole, open_pack, write_pack

_PREFIX = "batch-"
_MAX_OPEN = 16  # batches at a time


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
            pack = open_pack(place)
            _reading(pack)  # raises if a column is missing
            return is_whole(place) and bool(pack.notes["fingerprint"] == self._fingerprint)
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def places(self) -> Iterator[Path]:
        """A new path for each batch."""
        while True:
            yield self.folder / f"{_PREFIX}{self._next:06}"
            self._next += 1

    def remove(self) -> None:
        """Remove all batches."""
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
    """Write a reading to its place in the spool."""
    # A checksum instead of a sync: a batch is not worth waiting for the disk, but must not be trusted after a crash.
    notes = {"fingerprint": fingerprint, "skips": [vars(skip) for skip in reading.skips]}
    with replacing(place) as path:
        write_pack(path, columns_of(reading), notes)


def load_batch(place: Path) -> Reading:
    """Open a batch."""
    try:
        return _reading(open_pack(place))
    except OSError as error:
        raise StoreError(f"{place} cannot be read: {error.strerror or error}; run the build again") from error


def _reading(pack: Pack) -> Reading:
    skips = [Skip(**{**skip, "kind": SkipKind(skip["kind"])}) for skip in pack.notes["skips"]]
    return replace(reading_of(pack.columns.__getitem__), skips=skips)
