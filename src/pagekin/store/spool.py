"""Batches that a build has read and not yet put into a store: what a killed build leaves for the next."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pagekin.errors import StoreError
from pagekin.model.capture import Skip
from pagekin.model.reading import Reading
from pagekin.store.files import open_reading, write_reading
from pagekin.store.manifest import describe_files, differing_files

_NOTES = "notes.json"
_PREFIX = "batch-"


class Spool:
    """A folder of readings. A batch is there as a whole or not at all."""

    def __init__(self, folder: Path, fingerprint: dict[str, Any]) -> None:
        self.folder = folder
        self._fingerprint = fingerprint
        self._next = 0

    def open(self) -> list[Reading]:
        """The batches that an earlier build left and that were read in the same way; others are removed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        readings = []
        for folder in sorted(self.folder.iterdir()):
            reading = self._load(folder) if folder.name.startswith(_PREFIX) else None
            if reading is None:
                shutil.rmtree(folder, ignore_errors=True)
            else:
                readings.append(reading)
                self._next = max(self._next, int(folder.name.removeprefix(_PREFIX)) + 1)
        return readings

    def _load(self, folder: Path) -> Reading | None:
        try:
            notes = json.loads((folder / _NOTES).read_text("utf-8"))
            if notes["fingerprint"] != self._fingerprint or differing_files(folder, notes["files"]):
                return None
            return replace(open_reading(folder), skips=[Skip(**skip) for skip in notes["skips"]])
        except (OSError, ValueError, KeyError, TypeError, StoreError):
            return None

    def places(self) -> Iterator[Path]:
        """A new place for each batch."""
        while True:
            yield self.folder / f"{_PREFIX}{self._next:06}"
            self._next += 1

    def remove(self) -> None:
        """Forget all batches."""
        shutil.rmtree(self.folder, ignore_errors=True)


def write_batch(place: Path, reading: Reading, fingerprint: dict[str, Any]) -> None:
    """Write a reading to its place in the spool."""
    temporary = place.with_name("new-" + place.name)
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    write_reading(temporary, reading)
    # Checksums instead of a sync: a batch is not worth waiting for the disk, but must not be trusted after a crash.
    notes = {
        "fingerprint": fingerprint,
        "files": describe_files(temporary),
        "skips": [vars(skip) for skip in reading.skips],
    }
    (temporary / _NOTES).write_text(json.dumps(notes), "utf-8")
    temporary.replace(place)


def load_batch(place: Path) -> Reading:
    """A batch that was just written."""
    notes = json.loads((place / _NOTES).read_text("utf-8"))
    return replace(open_reading(place), skips=[Skip(**skip) for skip in notes["skips"]])
