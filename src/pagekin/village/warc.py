"""Captures -> the bytes of a WARC/1.1 file, one gzip member a record, and where each of them stands."""

from __future__ import annotations

import gzip
from base64 import b32encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha1
from typing import Literal
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5
from zlib import crc32

from pagekin.village.captures import VillageCapture

Kind = Literal["warcinfo", "request", "response", "resource", "revisit"]
Headers = tuple[tuple[str, str], ...]

# One page that was saved without the HTTP headers, and one whose request was kept.
_AS_RESOURCE = "http://almanac.example/june.html"
_WITH_REQUEST = "http://villagelibrary.example/"
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_INFO = b"software: pagekin village\r\nformat: WARC File Format 1.1\r\nrobots: classic\r\n"


@dataclass(frozen=True)
class Record:
    """One record of the archive, with the capture that it holds."""

    kind: Kind
    id: str
    headers: Headers
    block: bytes
    digest: str = ""
    capture: VillageCapture | None = None

    def member(self) -> bytes:
        """The record as one gzip member."""
        headers = (
            ("WARC-Type", self.kind),
            ("WARC-Record-ID", self.id),
            *self.headers,
            ("WARC-Block-Digest", digest(self.block)),
            ("Content-Length", str(len(self.block))),
        )
        data = _lines("WARC/1.1", headers) + self.block + b"\r\n\r\n"
        return gzip.compress(data, mtime=0)


@dataclass(frozen=True)
class Entry:
    """Where a record stands in the archive."""

    record: Record
    offset: int
    length: int


def archive(captures: Iterable[VillageCapture]) -> tuple[bytes, tuple[Entry, ...]]:
    """The archive of the captures, and its records with their places."""
    data, entries = bytearray(), []
    for record in records(captures):
        member = record.member()
        entries.append(Entry(record, len(data), len(member)))
        data += member
    return bytes(data), tuple(entries)


def records(captures: Iterable[VillageCapture]) -> Iterator[Record]:
    """The records of the archive; a capture whose payload its URL has answered before becomes a revisit."""
    captures = tuple(captures)
    seen: dict[tuple[str, str], Record] = {}
    yield _warcinfo(captures[0].captured)
    for capture in captures:
        record = _resource(capture) if capture.url == _AS_RESOURCE else _response(capture)
        first = seen.setdefault((capture.url, record.digest), record)
        if first is not record:
            yield _revisit(record, first)
            continue
        yield record
        if capture.url == _WITH_REQUEST:
            yield _request(capture, record)


def digest(data: bytes) -> str:
    """The name that archives give to some bytes.

    >>> digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + b32encode(sha1(data).digest()).decode()


def timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _warcinfo(moment: datetime) -> Record:
    headers = (("WARC-Date", timestamp(moment)), ("Content-Type", "application/warc-fields"))
    return Record("warcinfo", _id("warcinfo", "village", moment), headers, _INFO)


def _response(capture: VillageCapture) -> Record:
    headers, body = _sent(capture)
    block = _lines(f"HTTP/1.1 {capture.status} {capture.reason}", headers) + body
    # The digest is over the body as it was sent: so do warcio and fastwarc read the standard.
    return _record("response", capture, "application/http; msgtype=response", block, digest(body))


def _resource(capture: VillageCapture) -> Record:
    return _record("resource", capture, capture.header("Content-Type"), capture.body, digest(capture.body))


def _revisit(again: Record, first: Record) -> Record:
    assert again.capture and first.capture
    head = again.block.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    record = _record("revisit", again.capture, "application/http; msgtype=response", head, again.digest)
    origin = (
        ("WARC-Profile", _PROFILE),
        ("WARC-Refers-To", first.id),
        ("WARC-Refers-To-Target-URI", first.capture.url),
        ("WARC-Refers-To-Date", timestamp(first.capture.captured)),
    )
    return replace(record, headers=(*record.headers, *origin))


def _request(capture: VillageCapture, response: Record) -> Record:
    parts = urlsplit(capture.url)
    block = _lines(f"GET {parts.path} HTTP/1.1", (("Host", parts.netloc), ("User-Agent", "village-crawler")))
    headers = (
        ("WARC-Date", timestamp(capture.captured)),
        ("WARC-Target-URI", capture.url),
        ("WARC-Concurrent-To", response.id),
        ("Content-Type", "application/http; msgtype=request"),
    )
    return Record("request", _id("request", capture.url, capture.captured), headers, block)


def _record(kind: Kind, capture: VillageCapture, content_type: str, block: bytes, payload: str) -> Record:
    headers: Headers = (
        ("WARC-Date", timestamp(capture.captured)),
        ("WARC-Target-URI", capture.url),
        ("Content-Type", content_type),
    )
    if kind != "resource":  # whose payload is its block, which has a digest of its own
        headers = (*headers, ("WARC-Payload-Digest", payload))
    return Record(kind, _id(kind, capture.url, capture.captured), headers, block, payload, capture)


def _sent(capture: VillageCapture) -> tuple[Headers, bytes]:
    """The HTTP headers and the body as they went over the wire: some compressed, some in chunks, some both."""
    headers, body = (("Server", "village"), *capture.headers), capture.body
    way = crc32(capture.url.encode()) % 7 if capture.header("Content-Type").startswith(("text/", "application/")) else 0
    if way in (1, 2):
        headers, body = (*headers, ("Content-Encoding", "gzip")), gzip.compress(body, mtime=0)
    if way in (2, 3):
        return (*headers, ("Transfer-Encoding", "chunked")), _chunked(body)
    return (*headers, ("Content-Length", str(len(body)))), body


def _chunked(body: bytes, size: int = 1000) -> bytes:
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])


def _lines(first: str, headers: Headers) -> bytes:
    rows = [first, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(rows).encode()


def _id(kind: Kind, url: str, moment: datetime) -> str:
    return f"<urn:uuid:{uuid5(NAMESPACE_URL, f'{kind} {url} {timestamp(moment)}')}>"
