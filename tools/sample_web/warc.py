"""Writes captures as WARC/1.1, one gzip member per record, and reports the place of each record."""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha1
from typing import Literal
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5
from zlib import compress, crc32

from tools.sample_web.captures import SampleCapture

Kind = Literal["warcinfo", "request", "response", "resource", "revisit"]
Headers = tuple[tuple[str, str], ...]

_NAME = "village"  # the former name of the sample web; the archive keeps it, so that its bytes stay the same
# One page is saved without HTTP headers, and one with its request.
_AS_RESOURCE = "http://almanac.example/june.html"
_WITH_REQUEST = "http://villagelibrary.example/"
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_INFO = f"software: pagekin {_NAME}\r\nformat: WARC File Format 1.1\r\nrobots: classic\r\n".encode()


@dataclass(frozen=True)
class Record:
    """One record of the archive, with its capture."""

    kind: Kind
    id: str
    headers: Headers
    block: bytes
    digest: str = ""
    capture: SampleCapture | None = None

    def member(self) -> bytes:
        """Return the record as one gzip member."""
        headers = (
            ("WARC-Type", self.kind),
            ("WARC-Record-ID", self.id),
            *self.headers,
            ("WARC-Block-Digest", digest(self.block)),
            ("Content-Length", str(len(self.block))),
        )
        return _gzip(_lines("WARC/1.1", headers) + self.block + b"\r\n\r\n")


@dataclass(frozen=True)
class Entry:
    """The place of a record in the archive."""

    record: Record
    offset: int
    length: int


def archive(captures: Iterable[SampleCapture]) -> tuple[bytes, tuple[Entry, ...]]:
    """Return the archive of the captures, and its records with their places."""
    data, entries = bytearray(), []
    for record in records(captures):
        member = record.member()
        entries.append(Entry(record, len(data), len(member)))
        data += member
    return bytes(data), tuple(entries)


def records(captures: Iterable[SampleCapture]) -> Iterator[Record]:
    """Yield the records; a capture with the payload of an earlier capture of its URL becomes a revisit."""
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
    """Return the digest of bytes as WARC writes it.

    >>> digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + b32encode(sha1(data).digest()).decode()


def timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _warcinfo(moment: datetime) -> Record:
    headers = (("WARC-Date", timestamp(moment)), ("Content-Type", "application/warc-fields"))
    return Record("warcinfo", _id("warcinfo", _NAME, moment), headers, _INFO)


def _response(capture: SampleCapture) -> Record:
    headers, body = _sent(capture)
    block = _lines(f"HTTP/1.1 {capture.status} {capture.reason}", headers) + body
    # The digest is of the body as it was sent: warcio and fastwarc read the standard this way.
    return _record("response", capture, "application/http; msgtype=response", block, digest(body))


def _resource(capture: SampleCapture) -> Record:
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


def _request(capture: SampleCapture, response: Record) -> Record:
    parts = urlsplit(capture.url)
    block = _lines(f"GET {parts.path} HTTP/1.1", (("Host", parts.netloc), ("User-Agent", f"{_NAME}-crawler")))
    headers = (
        ("WARC-Date", timestamp(capture.captured)),
        ("WARC-Target-URI", capture.url),
        ("WARC-Concurrent-To", response.id),
        ("Content-Type", "application/http; msgtype=request"),
    )
    return Record("request", _id("request", capture.url, capture.captured), headers, block)


def _record(kind: Kind, capture: SampleCapture, content_type: str, block: bytes, payload: str) -> Record:
    headers: Headers = (
        ("WARC-Date", timestamp(capture.captured)),
        ("WARC-Target-URI", capture.url),
        ("Content-Type", content_type),
    )
    if kind != "resource":  # its payload is its block, which has a digest already
        headers = (*headers, ("WARC-Payload-Digest", payload))
    return Record(kind, _id(kind, capture.url, capture.captured), headers, block, payload, capture)


def _sent(capture: SampleCapture) -> tuple[Headers, bytes]:
    """Return the HTTP headers and the body as sent: some compressed, some in chunks, some both."""
    headers, body = (("Server", _NAME), *capture.headers), capture.body
    way = crc32(capture.url.encode()) % 7 if capture.header("Content-Type").startswith(("text/", "application/")) else 0
    if way in (1, 2):
        headers, body = (*headers, ("Content-Encoding", "gzip")), _gzip(body)
    if way in (2, 3):
        return (*headers, ("Transfer-Encoding", "chunked")), _chunked(body)
    return (*headers, ("Content-Length", str(len(body)))), body


def _gzip(data: bytes) -> bytes:
    return compress(data, 9, wbits=31)  # unlike gzip.compress the same header in every version of Python


def _chunked(body: bytes, size: int = 1000) -> bytes:
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])


def _lines(first: str, headers: Headers) -> bytes:
    rows = [first, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(rows).encode()


def _id(kind: Kind, url: str, moment: datetime) -> str:
    return f"<urn:uuid:{uuid5(NAMESPACE_URL, f'{kind} {url} {timestamp(moment)}')}>"
