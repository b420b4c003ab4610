"""WARC and WACZ: what a crawler wrote down, record by record."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from pagekin.errors import SourceError
from pagekin.model.capture import Capture, Origin, PageFlags, Redirect, Skip, SourceItem, Unchanged
from pagekin.model.settings import ReadingSettings
from pagekin.sources.payload import PayloadError, decode_payload
from pagekin.sources.records import Damage, Record, read_records
from pagekin.urls import canonical_url, resolve_url

REVISIT_WITHOUT_RECORD = "revisit of a record that is not here"
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_ARCHIVE_MEMBER = "archive/"
_WARC_SUFFIXES = (".warc", ".warc.gz")


@dataclass(frozen=True)
class _Revisit:
    """A record that says: as before. Its payload lies in another record with the same digest."""

    url: str
    captured: int
    origin: Origin
    digest: str


class ArchiveSource:
    """The records of one .warc, .warc.gz or .wacz."""

    def __init__(self, path: Path, settings: ReadingSettings) -> None:
        self.path = path
        self.name = path.name
        self.size = path.stat().st_size
        self._settings = settings
        self._whole = Origin(self.name, 0, self.size, path.stat().st_mtime_ns)
        self.revisits: list[_Revisit] = []

    def facts(self) -> Iterator[tuple[str, int, int]]:
        """The file."""
        yield self.name, self.size, self._whole.modified

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """Captures, redirects and skips, in the order of the records; revisits wait for `read_revisits`."""
        self.revisits = []
        if is_unchanged(self._whole):
            yield Unchanged(self._whole)
            return
        for member, record in self.records():
            item = record if isinstance(record, Damage) else self._item(member, record)
            if isinstance(item, Damage):
                yield Skip(self.name, item.reason, f"byte {item.offset} of {member}")
            elif isinstance(item, _Revisit):
                self.revisits.append(item)
            elif item is not None:
                yield item

    def records(self) -> Iterator[tuple[str, Record | Damage]]:
        """Every record with the name of the WARC that holds it."""
        limit = self._settings.max_page_bytes
        for name, open_member in self._members():
            with open_member() as file:
                for record in read_records(file, limit):
                    yield name, record

    def _members(self) -> Iterator[tuple[str, Callable[[], Any]]]:
        if self.path.suffix.lower() != ".wacz":
            yield self.name, partial(_opened, self.path)
            return
        try:
            with zipfile.ZipFile(self.path) as archive:
                for name in sorted(archive.namelist()):
                    if name.startswith(_ARCHIVE_MEMBER) and name.lower().endswith(_WARC_SUFFIXES):
                        yield name, partial(_opened_member, archive, name)
        except zipfile.BadZipFile as error:
            raise SourceError(f"{self.path} is no WACZ: {error}; if its download broke off, fetch it again") from error

    def origin(self, offset: int) -> Origin:
        """The origin of the record at `offset`."""
        return Origin(self.name, offset, self.size, self._whole.modified)

    def _item(self, member: str, record: Record) -> SourceItem | _Revisit | None:
        url = canonical_url(record.url)
        if url is None:
            return self._skip("no http or https URL", record.url[:200])
        origin = self.origin(record.offset)
        if record.kind == "revisit":
            return _Revisit(url, record.captured, origin, record.digest)
        if record.kind == "resource":
            return self._capture(url, record, origin)
        if 300 <= record.status < 400 and record.location:
            target = resolve_url(url, record.location)
            return Redirect(url, target, origin, record.captured) if target is not None else None
        if not 200 <= record.status < 300:
            return self._skip(f"HTTP status {record.status}" if record.status else "no HTTP response", url)
        return self._capture(url, record, origin)

    def _capture(self, url: str, record: Record, origin: Origin) -> SourceItem:
        kind = record.content_type
        if kind and not kind.startswith(_HTML_TYPES):
            return self._skip("not HTML", url)
        if record.too_large:
            return self._skip("page too large", url)
        try:
            body = decode_payload(
                record.payload, record.transfer_encoding, record.content_encoding, self._settings.max_page_bytes
            )
        except PayloadError as error:
            return self._skip(str(error), url)
        if not kind and not looks_like_html(body):
            return self._skip("not HTML", url)
        return Capture(
            url=url,
            origin=origin,
            captured=record.captured,
            body=body,
            charset=record.charset,
            language=record.language,
            flags=robots_flags(record.robots),
        )

    def _skip(self, reason: str, where: str) -> Skip:
        return Skip(self.name, reason, where)

    def bodies_with(self, digests: frozenset[str]) -> Iterator[tuple[str, Record]]:
        """The (digest, response record) pairs among the wanted payload digests."""
        for _, record in self.records():
            if isinstance(record, Record) and record.kind != "revisit" and record.digest in digests:
                yield record.digest, record

    def revisited(self, revisit: _Revisit, record: Record) -> SourceItem | None:
        """The capture that a revisit stands for, with the payload of `record`."""
        item = self._item("", record)
        if not isinstance(item, Capture):
            return item if isinstance(item, Skip) else None
        return replace(item, url=revisit.url, origin=revisit.origin, captured=revisit.captured, borrowed=True)


def read_revisits(archives: Sequence[ArchiveSource]) -> Iterator[SourceItem]:
    """The captures that revisits stand for. Only the newest revisit of a URL counts.

    The record with the payload may stand in any archive, before or after; so this is a second walk, and it is
    taken only where there are revisits.
    """
    newest: dict[str, tuple[_Revisit, ArchiveSource]] = {}
    for archive in archives:
        for revisit in archive.revisits:
            if revisit.url not in newest or revisit.captured > newest[revisit.url][0].captured:
                newest[revisit.url] = (revisit, archive)
    waiting: dict[str, list[tuple[_Revisit, ArchiveSource]]] = {}
    for revisit, archive in newest.values():
        waiting.setdefault(revisit.digest, []).append((revisit, archive))
    for archive in archives:
        if waiting:
            for digest, record in archive.bodies_with(frozenset(waiting)):
                for revisit, owner in waiting.pop(digest, []):
                    item = owner.revisited(revisit, record)
                    if item is not None:
                        yield item
    for pairs in waiting.values():
        for revisit, owner in pairs:
            yield Skip(owner.name, REVISIT_WITHOUT_RECORD, revisit.url)


def robots_flags(value: str) -> PageFlags:
    """The flags of an X-Robots-Tag header.

    >>> robots_flags("noindex, nofollow")
    <PageFlags.NOINDEX|NOFOLLOW: 3>
    """
    words = {word.rpartition(":")[2].strip() for word in value.lower().split(",")}
    flags = PageFlags.NONE
    if words & {"noindex", "none"}:
        flags |= PageFlags.NOINDEX
    if words & {"nofollow", "none"}:
        flags |= PageFlags.NOFOLLOW
    return flags


def looks_like_html(body: bytes) -> bool:
    """Whether a body without a content type begins as HTML does."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<title", b"<body", b"<!--", b"<?xml"))


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error


@contextmanager
def _opened_member(archive: zipfile.ZipFile, name: str) -> Iterator[IO[bytes]]:
    try:
        with archive.open(name) as file:
            yield file
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise SourceError(f"{name} in {archive.filename} cannot be read: {error}") from error
