"""Collect what the sources of a build hold. Pages that an earlier build has read are not read again.

A build keeps the batches that it has read, and not yet merged into a store, in a spool, except for the first ones,
which stay in memory. After a killed build, the next one continues there. A batch is one file with one memory map, so
that a build of many batches needs few open files: a line of JSON (fingerprint, skips, type and shape of every column),
the columns, each at a multiple of 64 bytes, and the SHA-256 of everything before. The checksum replaces a sync: a batch
is not worth waiting for the disk, but must not be trusted after a crash.
"""

import json
import math
import mmap
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, TypeGuard, overload

import numpy as np

from pagekin.errors import StoreError
from pagekin.model.arrays import Array
from pagekin.model.capture import (
    Capture,
    Origin,
    Rank,
    ReadingSettings,
    Redirect,
    Skip,
    SkipKind,
    SourceItem,
    Unchanged,
    preference,
)
from pagekin.model.files import replacing
from pagekin.model.reading import CheckedReading, Reading
from pagekin.sources.open import Source
from pagekin.store.checks import check, check_reading, check_type
from pagekin.store.columns import columns_of, reading_of
from pagekin.store.select import ReadPages
from pagekin.store.store import Store

_ROW_BITS = 40
_PREFIX = "batch-"
_MAX_OPEN = 16  # batches at a time
_ALIGNMENT = 64
_MOST_ROWS = 1 << 48  # so that products of two lengths and a size do not overflow
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
            is_whole = sha256(memoryview(data)[:-_DIGEST]).digest() == data[-_DIGEST:]
            if is_whole and json.loads(data.readline())["fingerprint"] == self._fingerprint:
                check_reading(_reading(data))
                return True
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, StoreError):
            pass
        return False

    def places(self) -> Iterator[Path]:
        while True:
            yield self.folder / f"{_PREFIX}{self._next:06}"
            self._next += 1

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


class Readings(Sequence[CheckedReading]):
    """Many readings, few of them open: a batch is opened when it is used, and the least recently used one is closed."""

    def __init__(self, readings: Iterable[CheckedReading | Path]) -> None:
        self._readings = list(readings)
        self.paths = [reading for reading in self._readings if isinstance(reading, Path)]
        self._load = lru_cache(_MAX_OPEN)(load_batch)

    def __len__(self) -> int:
        return len(self._readings)

    def __iter__(self) -> Iterator[CheckedReading]:
        return (self[k] for k in range(len(self)))  # that of Sequence takes any IndexError for the end

    @overload
    def __getitem__(self, k: int) -> CheckedReading: ...
    @overload
    def __getitem__(self, k: slice) -> "Readings": ...
    def __getitem__(self, k: int | slice) -> "CheckedReading | Readings":
        if isinstance(k, slice):
            return Readings(self._readings[k])
        reading = self._readings[k]
        return self._load(reading) if isinstance(reading, Path) else reading


def write_batch(place: Path, reading: CheckedReading, fingerprint: dict[str, Any]) -> None:
    arrays = {name: np.ascontiguousarray(array) for name, array in columns_of(reading)}
    columns = {name: (array.dtype.str, array.shape) for name, array in arrays.items()}
    header = {"fingerprint": fingerprint, "skips": [vars(skip) for skip in reading.skips], "columns": columns}
    digest = sha256()
    with replacing(place, durable=False) as path, path.open("wb") as file:
        parts: list[bytes | memoryview] = [json.dumps(header).encode() + b"\n"]
        parts += [array.reshape(-1).view(np.uint8).data for array in arrays.values()]
        for part in parts:
            for piece in (part, bytes(-len(part) % _ALIGNMENT)):
                digest.update(piece)
                file.write(piece)
        file.write(digest.digest())


def load_batch(place: Path) -> CheckedReading:
    """Open a batch that this build wrote, or that its spool has checked; its map is closed with its last column."""
    try:
        return CheckedReading(_reading(_map(place)))
    except OSError as error:
        raise StoreError(f"{place} cannot be read: {error.strerror or error}; run the build again") from error


def digest_of(place: Path) -> str:
    """The checksum at the end of a batch."""
    with place.open("rb") as file:
        file.seek(-_DIGEST, os.SEEK_END)
        return file.read().hex()


def _map(place: Path) -> mmap.mmap:
    with place.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _reading(data: mmap.mmap) -> Reading:
    """The columns of a batch: their shapes are those of its header, their types and places are known."""
    data.seek(0)
    header = json.loads(data.readline())
    begin = data.tell()

    def column(name: str, kind: Any, dimensions: int) -> Array:
        nonlocal begin
        dtype, shape = header["columns"][name]
        check_type(np.dtype(kind).str, tuple(shape), dtype, dimensions, name)
        check(all(type(length) is int and 0 <= length < _MOST_ROWS for length in shape), name, f"its shape is {shape}")
        begin += -begin % _ALIGNMENT
        count = math.prod(shape)
        end = begin + count * np.dtype(kind).itemsize
        check(end <= len(data) - _DIGEST, name, "it ends behind the end of its file")
        array = np.frombuffer(data, kind, count, begin).reshape(shape)
        begin = end
        return array

    skips = [Skip(**{**skip, "kind": SkipKind(skip["kind"])}) for skip in header["skips"]]
    return replace(reading_of(column), skips=skips)


class PageCollector:
    """Collects the items of all sources, and the earlier readings of captures: of the old store, and of the spool.

    A capture is known by its file, offset, size, time and URL.
    """

    def __init__(self, old: Store | None, spooled: Sequence[Path], settings: ReadingSettings | None = None) -> None:
        self._settings = settings or ReadingSettings()
        self._read_pages = ReadPages(earlier=old)
        self._old = old
        self._complete: dict[tuple[str, int, int], int] = {}  # source -> its number in the old store
        self._redirects: list[Redirect] = []  # these three from the old store
        self._skips: list[Skip] = []
        self._older: list[tuple[str, Rank]] = []  # captures that were dropped for newer ones
        if old is not None:
            sources = old.reading.sources
            self._complete = {key: k for k, key in enumerate(sources.identities()) if sources.whole[k]}
            self._redirects, self._older = old.catalog.redirects(), old.catalog.older()
            self._skips = old.catalog.skips(decided=False)
        self._known: list[CheckedReading | Path] = [*([old.checked_reading] if old is not None else []), *spooled]
        self._reused_rows: list[list[int]] = [[] for _ in self._known]
        self._rows: dict[bytes, int] = {}  # the number of a known reading and the row in it, as one integer
        for number, reading in enumerate(Readings(self._known)):
            self._add(number, reading)
        self._source = ""  # of the last item
        self._ranks: list[tuple[str, Rank]] = []  # of the captures in changed sources
        self._unchanged_rows: list[int] = []  # of the old store, from unchanged sources
        self._unchanged_older: list[tuple[str, Rank]] = []

    def _add(self, number: int, reading: CheckedReading) -> None:
        sources, pages = reading.sources.identities(), reading.pages
        rows = zip(pages.source.tolist(), pages.offset.tolist(), pages.url, pages.captured.tolist(), strict=True)
        for row, (source, offset, url, captured) in enumerate(rows):
            name, size, modified = sources[source]
            self._rows[_digest(name, offset, size, modified, url, captured)] = number << _ROW_BITS | row

    def is_unchanged(self, origin: Origin) -> bool:
        """Whether an archive has not changed since the old store was built, and the store holds all of it."""
        return (origin.source, origin.size, origin.modified) in self._complete

    def must_read(self, item: SourceItem) -> TypeGuard[Capture]:
        """Record an item; return whether it is a capture that must be read."""
        read_pages = self._read_pages
        if isinstance(item, Skip):
            read_pages.skips.append(item)
            if item.kind is SkipKind.DEPENDENT:
                read_pages.dependent.add(item.source)
            return False
        source = item.origin.source
        if source != self._source:  # most items come from the same file as the one before
            self._source = source
            read_pages.sources.add(replace(item.origin, offset=0) if item.origin.offset else item.origin)
        if isinstance(item, Redirect):
            read_pages.redirects.append(item)
            return False
        if isinstance(item, Unchanged):
            self._reuse_source(item.origin)
            return False
        if item.borrowed:
            read_pages.dependent.add(source)
        if self._older:  # else no older capture can win again
            self._ranks.append((item.url, Rank(item.captured, source, item.origin.offset)))
        place = self._place(item)
        if place is not None:
            self._reused_rows[place >> _ROW_BITS].append(place & ((1 << _ROW_BITS) - 1))
        return place is None

    def add(self, sources: Iterable[Origin], items: Iterable[SourceItem]) -> None:
        """Record sources that were read elsewhere, and what they hold besides captures."""
        self._read_pages.sources.update(sources)
        for item in items:
            self.must_read(item)

    def _place(self, capture: Capture) -> int | None:
        if not self._rows:
            return None
        origin = capture.origin
        facts = (origin.source, origin.offset, origin.size, origin.modified, capture.url, capture.captured)
        return self._rows.get(_digest(*facts))

    def _reuse_source(self, origin: Origin) -> None:
        """Take everything that the old store holds of an unchanged archive."""
        assert self._old is not None
        number = self._complete[(origin.source, origin.size, origin.modified)]
        rows = np.flatnonzero(self._old.reading.pages.source == number).tolist()
        self._reused_rows[0] += rows
        self._unchanged_rows += rows
        self._unchanged_older += [(url, rank) for url, rank in self._older if rank.source == origin.source]
        self._read_pages.redirects += [each for each in self._redirects if each.origin.source == origin.source]
        self._read_pages.skips += [skip for skip in self._skips if skip.source == origin.source]

    def captures_that_win_again(self, sources: Iterable[Source]) -> Iterator[Capture]:
        """Captures in unchanged sources that were dropped for newer ones which are now gone: few, and rarely any."""
        older = self._unchanged_older
        if not older:
            return
        best: dict[str, Rank] = {}
        prefer = partial(preference, self._settings)
        for url, rank in (*self._ranks, *self._unchanged_ranks()):
            best[url] = max(rank, best.get(url, rank), key=prefer)
        names = {rank.source for url, rank in older if url not in best or prefer(best[url]) < prefer(rank)}
        self._read_pages.older += [(url, rank) for url, rank in older if rank.source not in names]
        for source in sources:
            if source.name in names:
                captures = (item for item in source.items(lambda _: False) if isinstance(item, Capture))
                yield from (capture for capture in captures if self._place(capture) is None)

    def _unchanged_ranks(self) -> Iterator[tuple[str, Rank]]:
        assert self._old is not None
        pages, names = self._old.reading.pages, list(self._old.reading.sources.name)
        urls = pages.url.all_raw()
        for row in self._unchanged_rows:
            rank = Rank(int(pages.captured[row]), names[int(pages.source[row])], int(pages.offset[row]))
            yield urls[row].decode("utf-8"), rank

    def collected_items(self, batches: Sequence[Path | CheckedReading]) -> ReadPages:
        """Everything but what is in the batches, which are not opened."""
        self._read_pages.readings = Readings([*self._known, *batches])
        return self._read_pages

    def collected(self, batches: Sequence[Path | CheckedReading]) -> tuple[ReadPages, int]:
        """Everything, with the batches that were read now; and the number of pages in the batches."""
        read_pages = self.collected_items(batches)
        read_pages.rows = [np.array(rows, np.int64) for rows in self._reused_rows]
        for reading in read_pages.readings[len(self._known) :]:
            read_pages.rows.append(np.arange(len(reading)))
            read_pages.skips += reading.skips
        return read_pages, sum(map(len, read_pages.rows[len(self._known) :]))


def _digest(*facts: str | int) -> bytes:
    """A short key for a capture: there may be millions, with long names and URLs."""
    return blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
