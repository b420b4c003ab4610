"""CDXJ indexes list the captures of a crawl; one for each URL is read from the archives beside the index.

A line is a sort key, a time of 14 digits, and JSON with `url`, `filename`, `offset`, `length`, `mime` and `status`.
"""

import gzip
import io
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import IO, Any, NamedTuple

from pagekin.errors import SourceError
from pagekin.model.capture import Skip, SourceItem
from pagekin.model.files import open_unpacked
from pagekin.sources.archives import ArchiveSource, read_records
from pagekin.sources.record import Record, block_limit
from pagekin.sources.single_file import FileSource
from pagekin.urls import canonical_url

CDXJ_SUFFIXES = (".cdxj", ".cdxj.gz")
_HTML_TYPES = ("text/html", "application/xhtml+xml", "unk", "-")
_LONGEST_LINE = 1 << 16
_FOLDERS = ("", "archive", "../archive", "../collections/archive")  # of archives, from the index


class _Place(NamedTuple):
    """Where a capture is; the greatest of a URL is read."""

    preference: int
    file: str
    offset: int
    length: int


class CdxjSource(FileSource):
    """The preferred capture of each URL in a CDXJ index."""

    def read(self) -> Iterator[SourceItem]:
        chosen, skipped = self._chosen()
        by_file: dict[str, list[_Place]] = {}
        for place in chosen.values():
            by_file.setdefault(place.file, []).append(place)
        for name, places in sorted(by_file.items()):
            yield from self._captures(name, sorted(places, key=lambda place: place.offset))
        for reason, (count, where) in skipped.items():
            yield Skip(self.name, reason, where, count)

    def _chosen(self) -> tuple[dict[str, _Place], dict[str, tuple[int, str]]]:
        """The place of the preferred capture of each URL, and what was left out."""
        chosen: dict[str, _Place] = {}
        skipped: dict[str, tuple[int, str]] = {}
        with open_unpacked(self.path) as stream:
            for number, line in enumerate(_lines(stream), 1):
                found = self._parsed(line) if line else "compressed data damaged, the rest is lost"
                reason = found if isinstance(found, str) else ""
                if not isinstance(found, str):
                    url, place = found
                    reason = "other capture" if url in chosen else ""
                    chosen[url] = max(place, chosen.get(url, place))
                if reason:
                    count, where = skipped.get(reason, (0, f"line {number}"))
                    skipped[reason] = count + 1, where
        return chosen, skipped

    def _parsed(self, line: bytes) -> tuple[str, _Place] | str:
        """(URL, place) of a line, or why it is left out, "" for a blank line or a header."""
        if not line.strip() or line.startswith(b"!"):
            return ""
        try:
            _, time, data = line.decode("utf-8", "replace").split(" ", 2)
            row: dict[str, Any] = json.loads(data)
            url = canonical_url(str(row["url"]))
            file, offset, length = PurePosixPath(str(row["filename"])).name, int(row["offset"]), int(row["length"])
            captured = int(datetime.strptime(time, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp())
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
            return "line is no CDXJ"
        if url is None:
            return "no http or https URL"
        if not str(row.get("mime", "-")).startswith(_HTML_TYPES):
            return "not HTML"
        if not file or offset < 0 or length <= 0:
            return "line is no CDXJ"
        return url, _Place(self.settings.prefer(captured), file, offset, length)

    def _captures(self, name: str, places: list[_Place]) -> Iterator[SourceItem]:
        """The captures at these places of an archive, which is looked for near the index only."""
        paths = (self.path.parent / folder / name for folder in _FOLDERS)
        path = next((each for each in paths if os.path.isfile(each)), None)  # noqa: PTH113  # Path fails on long names
        if path is None:
            yield Skip(self.name, "archive that is not beside its index", name, len(places))
            return
        archive = ArchiveSource(path, self.settings)
        archive.name, archive.whole = self.name, self.whole
        try:
            with path.open("rb") as file:
                for place in places:
                    yield self._item(archive, file, place)
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error

    def _item(self, archive: ArchiveSource, file: io.BufferedReader, place: _Place) -> SourceItem:
        limit = self.settings.max_page_bytes
        end = file.seek(0, os.SEEK_END)
        file.seek(min(place.offset, end))  # an index may name any number, a disk has no place for all of them
        data = io.BytesIO(file.read(min(place.length, block_limit(limit))))
        record = next(iter(read_records(data, limit)), None)
        where = f"byte {place.offset} of {place.file}"
        if not isinstance(record, Record):
            return Skip(self.name, "no record at the place that the index names", where)
        if record.kind == "revisit":
            return Skip(self.name, "revisit, whose body the index does not name", where)
        return archive.item(replace(record, offset=place.offset))


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Each line; of one that is too long the beginning, which is no CDXJ. An empty one stands for damaged gzip."""
    try:
        while line := stream.readline(_LONGEST_LINE):
            yield line
            while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                line = stream.readline(_LONGEST_LINE)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        yield b""
