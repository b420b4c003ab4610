"""WARC and WACZ archives: the records of a crawl."""

import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from pagekin.errors import SourceError
from pagekin.model.capture import Capture, Origin, PageFlags, Redirect, Skip, SkipKind, SourceItem, Unchanged
from pagekin.model.settings import ReadingSettings
from pagekin.sources.payload import PayloadError, decode_payload
from pagekin.sources.record import Record
from pagekin.sources.records import read_records
from pagekin.sources.recover import Damage
from pagekin.urls import canonical_url, resolve_url

REVISIT_WITHOUT_RECORD = "revisit of a record that is not here"
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_NOT_MODIFIED = 304
_ENCODINGS = ("content-encoding", "transfer-encoding")  # headers that describe the stored bytes, not the page
_ROBOTS = {"noindex": PageFlags.NOINDEX, "nofollow": PageFlags.NOFOLLOW, "none": PageFlags.NOINDEX | PageFlags.NOFOLLOW}

_WACZ_FOLDER = "archive/"
_WACZ_SUFFIXES = (".warc", ".warc.gz")
_LOCAL_HEADER = 30  # bytes, then the name and the extra field; their lengths are the last four bytes
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class _Revisit(NamedTuple):
    """A record whose payload is that of another record, the original."""

    url: str
    record: Record


class ArchiveSource:
    """The records of one .warc, .warc.gz or .wacz file."""

    def __init__(self, path: Path, settings: ReadingSettings) -> None:
        self.path = path
        self.name = path.name
        self.size = path.stat().st_size
        self._settings = settings
        self._whole = Origin(self.name, 0, self.size, path.stat().st_mtime_ns)
        self.revisits: list[_Revisit] = []

    def facts(self) -> Iterator[tuple[str, int, int]]:
        yield self.name, self.size, self._whole.modified

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """Captures, redirects and skips, in the order of the records; revisits are left to `resolve_revisits`."""
        self.revisits = []
        if is_unchanged(self._whole):
            yield Unchanged(self._whole)
            return
        for member, record in self.records():
            item = record if isinstance(record, Damage) else self._item(record)
            if isinstance(item, Damage):
                yield self._skip(item.reason, f"byte {item.offset} of {member}")
            elif isinstance(item, _Revisit):
                self.revisits.append(item)
            else:
                yield item

    def records(self) -> Iterator[tuple[str, Record | Damage]]:
        """(name of the WARC, record) for every record."""
        limit = self._settings.max_page_bytes
        try:
            if self.path.suffix.lower() == ".wacz":
                for name, open_member in _archives_in(self.path):
                    try:
                        with open_member() as file:
                            yield from ((name, record) for record in read_records(file, limit))
                    except _ZIP_ERRORS:
                        yield name, Damage(0, "damaged compression")
            else:
                with self.path.open("rb") as file:
                    yield from ((self.name, record) for record in read_records(file, limit))
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror or error}") from error

    def _skip(self, reason: str, where: str) -> Skip:
        return Skip(self.name, reason, where)

    def _item(self, record: Record) -> SourceItem | _Revisit:
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
        origin = replace(self._whole, offset=offset)
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
        return Capture(
            url=url,
            origin=origin,
            captured=record.captured,
            body=body,
            charset=record.charset,
            language=record.http.get("content-language", ""),
            flags=robots_flags(record.http.get("x-robots-tag", "")),
            borrowed=borrowed,
        )

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


def robots_flags(value: str) -> PageFlags:
    """The flags of an X-Robots-Tag header; a directive may name the robot it is for (`otherbot: noindex`).

    >>> robots_flags("noindex, nofollow")
    <PageFlags.NOINDEX|NOFOLLOW: 3>
    >>> robots_flags("max-image-preview: none")
    <PageFlags.NONE: 0>
    """
    flags = PageFlags.NONE
    for directive in value.lower().split(","):
        name, colon, rest = directive.partition(":")
        if not (colon and name.strip().startswith(("max-", "unavailable_after"))):
            flags |= _ROBOTS.get((rest if colon else name).strip(), PageFlags.NONE)
    return flags


def looks_like_html(body: bytes) -> bool:
    """Whether a body without a content type begins like HTML."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<title", b"<body", b"<!--", b"<?xml"))


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
    """(name, function that opens it) for each archive in a WACZ.

    An uncompressed member, as the standard requires, is read without checking the zip's checksum: one wrong byte then
    costs one record, not the whole archive.
    """
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
