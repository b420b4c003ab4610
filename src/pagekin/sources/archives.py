"""WARC and WACZ archives: the records of a crawl, including those after a damaged place.

fastwarc reads fast, but only intact archives. Where it fails, or stops without an error, the slow reader (`recover.py`)
continues with the last record, finds the damage, and reads the rest. A record of fastwarc is therefore yielded only
after fastwarc has found the next one.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from pagekin.errors import SourceError, need
from pagekin.model.capture import Capture, Origin, ReadingSettings, Redirect, Skip, SkipKind, SourceItem, Unchanged
from pagekin.sources.arc import ARC_SUFFIXES, read_arc
from pagekin.sources.ranges import ByteRange, DivisibleFile
from pagekin.sources.record import (
    PayloadError,
    Record,
    block_limit,
    decode_payload,
    looks_like_html,
    make_record,
    matches_digest,
    robots_flags,
)
from pagekin.sources.recover import (
    GZIP,
    MAX_HEADER,
    PLAIN,
    Damage,
    has_single_records,
    next_start,
    recover_records,
    starts_with,
)
from pagekin.urls import canonical_url, resolve_url

REVISIT_WITHOUT_RECORD = "revisit of a record that is not here"
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_NOT_MODIFIED = 304
_ENCODINGS = ("content-encoding", "transfer-encoding")  # headers that describe the stored bytes, not the page

_MAX_DAMAGES = 100_000  # per stream; bounds the time that a hostile one can take
_WANTED = ("response", "resource", "revisit")
_VERSION = re.compile(r"WARC/\d+\.\d+")
_ZSTD = b"\x28\xb5\x2f\xfd"
_WACZ_FOLDER = "archive/"
_WACZ_SUFFIXES = (".warc", ".warc.gz")
_LOCAL_HEADER = 30  # bytes, then the name and the extra field; their lengths are the last four bytes
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError)


class _Revisit(NamedTuple):
    """A record whose payload is that of another record, the original."""

    url: str
    record: Record


class ArchiveSource(DivisibleFile):
    """The records of one .warc, .warc.gz, .wacz or .arc file."""

    def __init__(self, path: Path, settings: ReadingSettings) -> None:
        self.path = path
        self.name = path.name
        self.size = path.stat().st_size
        self._settings = settings
        self._read = read_arc if self.name.lower().endswith(ARC_SUFFIXES) else read_records
        if self._read is read_arc:
            need("warcio", what=f"{self.name}, an ARC file,", extra="arc")
        self.whole = Origin(self.name, 0, self.size, path.stat().st_mtime_ns)
        self.revisits: list[_Revisit] = []

    def facts(self) -> Iterator[tuple[str, int, int]]:
        yield self.name, self.size, self.whole.modified

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """Captures, redirects and skips, in the order of the records; revisits are left to `resolve_revisits`."""
        self.revisits = []
        if is_unchanged(self.whole):
            yield Unchanged(self.whole)
            return
        for member, record in self.records():
            item = record if isinstance(record, Damage) else self._item_of(record)
            if isinstance(item, Damage):
                yield self._skip(item.reason, f"byte {item.offset} of {member}")
            elif isinstance(item, _Revisit):
                self.revisits.append(item)
            else:
                yield item

    @property
    def is_divisible(self) -> bool:
        if not self.name.lower().endswith((".warc", ".warc.gz")):
            return False
        with self.path.open("rb") as file:
            return starts_with(file, 0, PLAIN) or _has_members(file, self._settings.max_page_bytes)

    def records(self) -> Iterator[tuple[str, Record | Damage]]:
        """(name of the WARC, record) for every record."""
        limit = self._settings.max_page_bytes
        try:
            if self.part is not None:
                with self.path.open("rb") as file:
                    yield from self._records_in(file, self.part)
                return
            for name, open_member in _archives_in(self.path):
                try:
                    with open_member() as file:
                        yield from ((name, record) for record in self._read(file, limit))
                except _ZIP_ERRORS:
                    yield name, Damage(0, "damaged compression")
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror or error}") from error

    def _records_in(self, file: IO[bytes], part: ByteRange) -> Iterator[tuple[str, Record]]:
        reading = RangeReader(file, self._settings.max_page_bytes, part)
        yield from ((self.name, record) for record in reading.records())
        self.ends = reading.ends

    def _skip(self, reason: str, where: str) -> Skip:
        return Skip(self.name, reason, where)

    def item(self, record: Record) -> SourceItem:
        """The item of a record that is no revisit."""
        found = self._item_of(record)
        assert not isinstance(found, _Revisit)
        return found

    def _item_of(self, record: Record) -> SourceItem | _Revisit:
        url = canonical_url(record.url)
        if url is None:
            return self._skip("no http or https URL", record.url[:200])
        if len(url) > self._settings.max_url_bytes:
            return self._skip("URL too long", url[:200])
        may_be_page = record.is_success and (not record.media_type or record.media_type.startswith(_HTML_TYPES))
        if record.kind == "revisit" and (record.status in (0, _NOT_MODIFIED) or may_be_page):
            return _Revisit(url, record)
        return self._response(url, record, record.offset)

    def _response(self, url: str, record: Record, offset: int, borrowed: bool = False) -> SourceItem:
        """The page or redirect that a response gives, or the reason why there is none."""
        origin = Origin(self.whole.source, offset, self.whole.size, self.whole.modified)
        location = record.http.get("location", "")
        if 300 <= record.status < 400 and location:
            target = resolve_url(url, location)
            if target is None:
                return self._skip("redirect to no http or https URL", url)
            return Redirect(url, target, origin, record.captured)
        if record.kind != "resource" and not record.is_success:
            return self._skip(f"HTTP status {record.status}" if record.status else "no HTTP response", url)
        if record.endless_header:
            return self._skip("record header too long", url)
        if record.media_type and not record.media_type.startswith(_HTML_TYPES):
            return self._skip("not HTML", url)
        if record.too_large:
            return self._skip("page too large", url)
        content, transfer = (record.http.get(name, "") for name in _ENCODINGS)
        try:
            body = decode_payload(record.payload, transfer, content, self._settings.max_page_bytes)
        except PayloadError as error:
            return self._skip(str(error), url)
        if not record.media_type and not looks_like_html(body):
            return self._skip("not HTML", url)
        language, flags = record.http.get("content-language", ""), robots_flags(record.http.get("x-robots-tag", ""))
        facts = (url, origin, record.captured, body)
        return Capture(*facts, charset=record.charset, language=language, flags=flags, borrowed=borrowed)

    def resolve(self, revisit: _Revisit, original: Record) -> SourceItem:
        """The item of a revisit: the payload of the original, with the headers of the revisit if it has any."""
        again = revisit.record
        merged = replace(original, date=again.date)
        if again.is_success:
            http = {name: value for name, value in again.http.items() if name not in _ENCODINGS}
            http |= {name: original.http[name] for name in _ENCODINGS if name in original.http}
            status, content_type = again.status, again.content_type
            merged = replace(merged, kind="response", status=status, http=http, content_type=content_type)
        return self._response(revisit.url, merged, again.offset, borrowed=True)


def resolve_revisits(archives: Sequence[ArchiveSource]) -> Iterator[SourceItem]:
    """The items of all revisits.

    An original may be in any archive, before or after its revisit, so this is a second pass over the archives. There
    is none if there are no revisits.
    """
    waiting: dict[tuple[str, ...], list[int]] = {}
    revisits = dict(enumerate((each, archive) for archive in archives for each in archive.revisits))
    for number, (revisit, _) in revisits.items():
        for key in revisit.record.references():
            waiting.setdefault(key, []).append(number)
    for archive in archives if waiting else ():
        for _, record in archive.records():
            if isinstance(record, Damage) or record.kind == "revisit":
                continue
            for key in record.identifiers():
                for number in waiting.pop(key, []):
                    if number in revisits:
                        revisit, owner = revisits.pop(number)
                        yield owner.resolve(revisit, record)
        if not waiting:
            break
    for revisit, owner in revisits.values():
        yield Skip(owner.name, REVISIT_WITHOUT_RECORD, revisit.url, kind=SkipKind.DEPENDENT)


def read_records(file: IO[bytes], limit: int) -> Iterator[Record | Damage]:
    """Responses, resources and revisits, and one Damage for each place that cannot be read.

    Payloads have at most limit + 1 bytes.
    """
    damages = 0
    for item, compressed in _read(file, limit):
        if isinstance(item, Damage):
            damages += 1
            yield item
            if damages == _MAX_DAMAGES:
                yield Damage(item.offset, "too many damaged places, the rest was not read")
                return
        elif item.kind in _WANTED:
            # A compressed record has a checksum of its own.
            intact = compressed or matches_digest(item)
            yield item if intact else Damage(item.offset, "record does not match its digest")


def _read(file: IO[bytes], limit: int) -> Iterator[tuple[Record | Damage, bool]]:
    """(record or damage, whether it is compressed)."""
    if starts_with(file, 0, _ZSTD):
        yield from ((record, True) for record, _ in _read_fast(file, limit, last=True))
        return
    compressed = starts_with(file, 0, GZIP)
    offset = 0
    if starts_with(file, 0, PLAIN) or _has_members(file, limit):
        for record, following in _read_fast(file, limit):
            yield record, compressed
            offset = following
    yield from recover_records(file, offset, limit)


def _has_members(file: IO[bytes], limit: int) -> bool:
    """Whether each record is compressed by itself."""
    return starts_with(file, 0, GZIP) and has_single_records(file, limit)


class RangeReader:
    """Reads the records that begin in a range of an archive, plain or with a gzip member for each record.

    It stops where `read_records` would find damage. `ends` stays None then, and if the records of the range may depend
    on what is before it.
    """

    def __init__(self, file: IO[bytes], limit: int, part: ByteRange) -> None:
        self._file, self._limit, self._part = file, limit, part
        self._size = file.seek(0, io.SEEK_END)
        self._marker = PLAIN if starts_with(file, 0, PLAIN) else GZIP
        self.ends: tuple[int, int] | None = None

    def records(self) -> Iterator[Record]:
        first, end = self._first(), self._part.end
        following = first
        if first < end:
            for record, following in _read_fast(self._file, self._limit, begin=first):
                if not self._is_intact(record):
                    return
                if record.kind in _WANTED:
                    yield record
                if following >= end:
                    break
        if following < end:  # the last record, or one that fastwarc cannot read
            for item, _ in recover_records(self._file, following, self._limit):
                if isinstance(item, Damage) or item.offset >= end or not self._is_intact(item):
                    return
                if item.kind in _WANTED:
                    yield item
            following = self._size
        self.ends = first, following

    def _is_intact(self, record: Record) -> bool:
        return self._marker == GZIP or record.kind not in _WANTED or matches_digest(record)

    def _first(self) -> int:
        """Where the first record of the range, or else after it, begins; the end of the file if there is none."""
        place: int | None = self._part.begin
        while place:  # at 0 there is one
            place = next_start(self._file, place)
            if place is None:
                return self._size
            found, _ = next(recover_records(self._file, place, self._limit), (None, False))
            if isinstance(found, Record) and found.offset == place and starts_with(self._file, place, self._marker):
                break
            place += 1
        return place or 0


def _read_fast(file: IO[bytes], limit: int, last: bool = False, begin: int = 0) -> Iterator[tuple[Record, int]]:
    """(record, offset of the next one) for every record that fastwarc can read; the last one only if `last`."""
    from fastwarc.warc import ArchiveIterator

    file.seek(begin)
    previous: Record | None = None
    try:
        for raw in ArchiveIterator(file, parse_http=False, max_header_len=MAX_HEADER):
            if previous is not None:
                yield previous, raw.stream_pos
            previous = _record(raw, limit)
            if previous is None:
                return
    except (OSError, ValueError, RuntimeError, EOFError, OverflowError):
        return
    if last and previous is not None:
        yield previous, previous.offset


def _record(raw: Any, limit: int) -> Record | None:
    """The record, or None if it contradicts its header."""
    fields = {name.lower(): value for name, value in raw.headers.items()}
    length = fields.get("content-length", "")
    if not _VERSION.fullmatch(str(raw.headers.status_line)) or not (length.isascii() and length.isdigit()):
        return None
    kept = min(int(length), block_limit(limit))
    block = raw.reader.read(kept)
    return make_record(fields, block, int(length), raw.stream_pos, limit) if len(block) == kept else None


class _Slice(io.RawIOBase):
    """A part of a file, as a file."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file = file
        self._start = start
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, base + offset)
        return self._place

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        self._file.seek(self._start + self._place)
        data = self._file.read(max(0, min(len(buffer), self._size - self._place)))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


def _archives_in(path: Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """(name, function that opens it) for each archive in a WACZ; the file itself, if it is a WARC.

    An uncompressed member, as the standard requires, is read without checking the zip's checksum: one wrong byte then
    costs one record, not the whole archive.
    """
    if path.suffix.lower() != ".wacz":
        yield path.name, lambda: path.open("rb")
        return
    with path.open("rb") as file:
        try:
            zipped = zipfile.ZipFile(file)
        except _ZIP_ERRORS as error:
            raise SourceError(f"{path} is no WACZ: {error}; if its download broke off, fetch it again") from error
        in_folder = [info for info in zipped.infolist() if info.filename.startswith(_WACZ_FOLDER)]
        members = [info for info in in_folder if info.filename.lower().endswith(_WACZ_SUFFIXES)]
        if not members:
            raise SourceError(f"{path} is no WACZ: there is no archive/*.warc or archive/*.warc.gz in it")
        if any(info.flag_bits & 1 for info in members):
            raise SourceError(f"{path} cannot be read: it has a password; unzip it, and zip it again without one")
        for info in sorted(members, key=lambda info: info.filename):
            yield info.filename, partial(_open_member, file, zipped, info)


def _open_member(file: IO[bytes], zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    if info.compress_type == zipfile.ZIP_STORED:
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        if len(header) == _LOCAL_HEADER:
            names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
            start = info.header_offset + _LOCAL_HEADER + names
            return io.BufferedReader(_Slice(file, start, info.file_size))
    return zipped.open(info)
