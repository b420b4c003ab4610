"""WARC and WACZ: what a crawler wrote down, record by record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pagekin.errors import SourceError
from pagekin.model.capture import Capture, Origin, PageFlags, Redirect, Skip, SourceItem, Unchanged
from pagekin.model.settings import ReadingSettings
from pagekin.sources.payload import PayloadError, decode_payload
from pagekin.sources.record import Record
from pagekin.sources.records import read_records
from pagekin.sources.recover import Damage
from pagekin.sources.zips import archives_in
from pagekin.urls import canonical_url, resolve_url

REVISIT_WITHOUT_RECORD = "revisit of a record that is not here"
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_NOT_MODIFIED = 304
_OF_THE_BODY = ("content-encoding", "transfer-encoding")  # headers that speak of bytes, not of the page


@dataclass(frozen=True)
class _Revisit:
    """A record that says: as before. Its payload lies in another record."""

    url: str
    record: Record

    def references(self) -> list[tuple[str, ...]]:
        """By what the other record can be known."""
        record = self.record
        keys: list[tuple[str, ...]] = []
        if record.digest:
            keys.append(("digest", record.digest))
        if record.refers_to:
            keys.append(("id", record.refers_to))
        if record.refers_to_url and record.refers_to_date:
            keys.append(("place", record.refers_to_url, record.refers_to_date))
        return keys


def _keys(record: Record) -> list[tuple[str, ...]]:
    return [("digest", record.digest), ("id", record.id), ("place", record.url, record.date)]


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
            item = record if isinstance(record, Damage) else self._item(record)
            if isinstance(item, Damage):
                yield self.skip(item.reason, f"byte {item.offset} of {member}")
            elif isinstance(item, _Revisit):
                self.revisits.append(item)
            else:
                yield item

    def records(self) -> Iterator[tuple[str, Record | Damage]]:
        """Every record with the name of the WARC that holds it."""
        limit = self._settings.max_page_bytes
        try:
            if self.path.suffix.lower() == ".wacz":
                for name, file, broken in archives_in(self.path):
                    with file:
                        try:
                            yield from ((name, record) for record in read_records(file, limit))
                        except broken:
                            yield name, Damage(0, "damaged compression")
            else:
                with self.path.open("rb") as file:
                    yield from ((self.name, record) for record in read_records(file, limit))
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror or error}") from error

    def _item(self, record: Record) -> SourceItem | _Revisit:
        url = canonical_url(record.url)
        if url is None:
            return self.skip("no http or https URL", record.url[:200])
        if len(url) > self._settings.max_url_bytes:
            return self.skip("URL too long", url[:200])
        waits = record.kind == "revisit" and (record.status in (0, _NOT_MODIFIED) or self._is_page(record))
        return _Revisit(url, record) if waits else self._answer(url, record, record.offset)

    def _is_page(self, record: Record) -> bool:
        """Whether an answer can be a page, as far as its headers tell."""
        kind = record.content_type.strip().lower()
        return 200 <= record.status < 300 and (not kind or kind.startswith(_HTML_TYPES))

    def _answer(self, url: str, record: Record, offset: int, borrowed: bool = False) -> SourceItem:
        """What an answer gives: a page, a redirect, or a reason why neither."""
        origin = replace(self._whole, offset=offset)
        location = record.http.get("location", "")
        if 300 <= record.status < 400 and location:
            target = resolve_url(url, location)
            if target is None:
                return self.skip("redirect to no http or https URL", url)
            return Redirect(url, target, origin, record.captured)
        if record.kind != "resource" and not 200 <= record.status < 300:
            return self.skip(f"HTTP status {record.status}" if record.status else "no HTTP response", url)
        if record.endless_header:
            return self.skip("record header too long", url)
        kind = record.content_type.strip().lower()
        if kind and not kind.startswith(_HTML_TYPES):
            return self.skip("not HTML", url)
        if record.too_large:
            return self.skip("page too large", url)
        content, transfer = (record.http.get(name, "") for name in _OF_THE_BODY)
        try:
            body = decode_payload(record.payload, transfer, content, self._settings.max_page_bytes)
        except PayloadError as error:
            return self.skip(str(error), url)
        if not kind and not looks_like_html(body):
            return self.skip("not HTML", url)
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

    def skip(self, reason: str, where: str) -> Skip:
        """A skip of this archive."""
        return Skip(self.name, reason, where)

    def revisited(self, revisit: _Revisit, original: Record) -> SourceItem:
        """What a revisit stands for: the payload of the original, under the headers of the revisit if it has any."""
        again = revisit.record
        merged = replace(original, date=again.date)
        if 200 <= again.status < 300:
            of_body = {name: original.http[name] for name in _OF_THE_BODY if name in original.http}
            own = {name: value for name, value in again.http.items() if name not in _OF_THE_BODY}
            merged = replace(
                merged, kind="response", status=again.status, http=own | of_body, content_type=again.content_type
            )
        return self._answer(revisit.url, merged, again.offset, borrowed=True)


def read_revisits(archives: Sequence[ArchiveSource]) -> Iterator[SourceItem]:
    """What revisits stand for.

    The record with the payload may stand in any archive, before or after; so this is a second walk, and it is
    taken only where there are revisits.
    """
    waiting: dict[tuple[str, ...], list[tuple[_Revisit, ArchiveSource]]] = {}
    open_ones: dict[int, tuple[_Revisit, ArchiveSource]] = {}
    for archive in archives:
        for revisit in archive.revisits:
            open_ones[id(revisit)] = (revisit, archive)
            for key in revisit.references():
                waiting.setdefault(key, []).append((revisit, archive))
    for archive in archives:
        if not waiting:
            break
        for _, record in archive.records():
            if isinstance(record, Damage) or record.kind == "revisit":
                continue
            for key in _keys(record):
                for revisit, owner in waiting.pop(key, []):
                    if open_ones.pop(id(revisit), None) is not None:
                        yield owner.revisited(revisit, record)
    for revisit, owner in open_ones.values():
        yield owner.skip(REVISIT_WITHOUT_RECORD, revisit.url)


def robots_flags(value: str) -> PageFlags:
    """The flags of an X-Robots-Tag header; a wish may be addressed to one robot (`otherbot: noindex`).

    >>> robots_flags("noindex, nofollow")
    <PageFlags.NOINDEX|NOFOLLOW: 3>
    >>> robots_flags("max-image-preview: none")
    <PageFlags.NONE: 0>
    """
    flags = PageFlags.NONE
    for wish in value.lower().split(","):
        name, colon, said = wish.partition(":")
        if colon and name.strip().startswith(("max-", "unavailable_after")):
            continue
        word = (said if colon else name).strip()
        if word in ("noindex", "none"):
            flags |= PageFlags.NOINDEX
        if word in ("nofollow", "none"):
            flags |= PageFlags.NOFOLLOW
    return flags


def looks_like_html(body: bytes) -> bool:
    """Whether a body without a content type begins as HTML does."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<title", b"<body", b"<!--", b"<?xml"))
