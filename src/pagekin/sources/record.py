"""A WARC record: its header, the HTTP response that it contains, and the body without chunks and compression."""

import io
import re
import zlib
from base64 import b32encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from hashlib import md5, sha1, sha256

import brotli
import zstandard

from pagekin.model.capture import PageFlags

_LONGEST_HTTP_HEADER = 64 * 1024
_MAX_ENCODINGS = 4
_STEP = 64 * 1024
_HASHES = {"sha1": sha1, "sha256": sha256, "md5": md5}
_ROBOTS = {"noindex": PageFlags.NOINDEX, "nofollow": PageFlags.NOFOLLOW, "none": PageFlags.NOINDEX | PageFlags.NOFOLLOW}
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?\s+(\d{3})(?!\d)")
_DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)


@dataclass(frozen=True)
class Record:
    """A record. `http` has the headers of the response, if there is one; names of headers are in lower case."""

    kind: str
    url: str
    offset: int
    date: str
    digest: str
    header: dict[str, str]
    status: int
    http: dict[str, str]
    content_type: str
    payload: bytes
    too_large: bool
    endless_header: bool  # the HTTP header is longer than the limit

    def identifiers(self) -> list[tuple[str, ...]]:
        """The keys by which a revisit may refer to this record."""
        return [("digest", self.digest), ("id", self.header.get("warc-record-id", "")), ("place", self.url, self.date)]

    def references(self) -> list[tuple[str, ...]]:
        """The keys of the record whose payload this revisit repeats."""
        names = ("warc-refers-to", "warc-refers-to-target-uri", "warc-refers-to-date")
        record, url, date = (self.header.get(name, "") for name in names)
        keys = [("digest", self.digest), ("id", record), ("place", url.strip("<>"), date)]
        return [key for key in keys if all(key)]

    @property
    def captured(self) -> int:
        """Seconds since 1970; 0 if unknown."""
        match = _DATE.match(self.date)
        try:
            return max(0, int(datetime.fromisoformat(f"{match[0]}+00:00").timestamp())) if match else 0
        except ValueError:
            return 0

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """The content type in lower case, with its parameters."""
        return self.content_type.strip().lower()

    @property
    def charset(self) -> str:
        for part in self.content_type.split(";")[1:]:
            key, _, value = part.partition("=")
            if key.strip().lower() == "charset":
                return value.strip().strip("\"'").lower()
        return ""


def block_limit(limit: int) -> int:
    """The number of bytes read of a record, so that a payload of `limit` bytes fits and a larger one is noticed."""
    return limit + _LONGEST_HTTP_HEADER + 1


def make_record(fields: dict[str, str], block: bytes, length: int, offset: int, limit: int) -> Record:
    """A record from its header and the beginning of its block, which has `length` bytes."""
    given = {name: value.strip() for name, value in fields.items()}
    response = _STATUS.match(block)  # only HTTP begins like this
    end = _HEADER_END.search(block, 0, _LONGEST_HTTP_HEADER) if response else None
    http = parse_fields(block[: end.start() if end else _LONGEST_HTTP_HEADER]) if response else {}
    body = end.end() if end else 0
    return Record(
        kind=given.get("warc-type", "").lower(),
        url=given.get("warc-target-uri", "").strip("<>"),
        offset=offset,
        date=given.get("warc-date", ""),
        digest=given.get("warc-payload-digest", "").lower(),
        header=given,
        status=int(response[1]) if response else 0,
        http=http,
        content_type=http.get("content-type", "") if response else given.get("content-type", ""),
        payload=block[body : body + limit + 1],
        too_large=length - body > limit,
        endless_header=response is not None and end is None,
    )


def parse_fields(head: bytes) -> dict[str, str]:
    """The fields of a header after its first line. Continuation lines and repeated fields are joined."""
    fields: dict[str, str] = {}
    last = ""
    for line in head.decode("utf-8", "replace").split("\n")[1:]:
        line = line.rstrip("\r")
        if line[:1] in (" ", "\t") and last:
            fields[last] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        if colon:
            last = name.strip().lower()
            fields[last] = f"{fields[last]}, {value.strip()}" if last in fields else value.strip()
    return fields


def matches_digest(record: Record) -> bool:
    """Whether the payload has the digest that the record names; True if the hash function is unknown.

    Some writers hash the body before chunks are joined, others after; both are accepted.
    """
    name, _, wanted = record.digest.partition(":")
    hasher = _HASHES.get(name.replace("-", ""))
    if hasher is None or record.too_large or record.kind == "revisit":
        return True
    bodies = [record.payload]
    if "chunked" in record.http.get("transfer-encoding", "").lower():
        bodies.append(dechunk(record.payload))
    digests = [hasher(body, usedforsecurity=False).digest() for body in bodies]
    return any(wanted in (digest.hex(), b32encode(digest).decode().lower()) for digest in digests)


def robots_flags(value: str) -> PageFlags:
    """The flags of an X-Robots-Tag header; a directive may name the robot it is for (`otherbot: noindex`).

    >>> robots_flags("noindex, nofollow")
    <PageFlags.NOINDEX|NOFOLLOW: 3>
    >>> robots_flags("max-image-preview: none")
    <PageFlags.NONE: 0>
    """
    flags = PageFlags.NONE
    for directive in value.lower().split(",") if value else ():
        name, colon, rest = directive.partition(":")
        if not (colon and name.strip().startswith(("max-", "unavailable_after"))):
            flags |= _ROBOTS.get((rest if colon else name).strip(), PageFlags.NONE)
    return flags


def looks_like_html(body: bytes) -> bool:
    """Whether a body without a content type begins like HTML."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<title", b"<body", b"<!--", b"<?xml"))


class PayloadError(ValueError):
    """A body that contradicts its headers; the message is the reason for the skip."""


def decode_payload(data: bytes, transfer: str, content: str, limit: int) -> bytes:
    r"""Undo chunking and compression. A result longer than `limit` is cut to limit + 1 bytes, so that it is noticed.

    >>> decode_payload(b"3\r\nkin\r\n0\r\n\r\n", "chunked", "", 100)
    b'kin'
    """
    transfers = _names(transfer)
    if "chunked" in transfers:
        data = dechunk(data)
    encodings = _names(content) + [name for name in transfers if name != "chunked"]
    if len(encodings) > _MAX_ENCODINGS:
        raise PayloadError("too many content encodings")
    for name in reversed(encodings):
        data = _decompress(data, name, limit)
    return data


def _names(value: str) -> list[str]:
    if not value:  # most
        return []
    names = [name.strip().removeprefix("x-") for name in value.lower().split(",")]
    return [name for name in names if name and name != "identity"]


def dechunk(data: bytes) -> bytes:
    """Join the chunks of a body; data that is not chunked is returned unchanged."""
    parts: list[bytes] = []
    i = 0
    while i < len(data):
        stop = data.find(b"\r\n", i, i + 1024)
        digits = data[i:stop].split(b";")[0].strip() if stop >= 0 else b""
        try:
            size = int(digits, 16) if digits.isalnum() else -1
        except ValueError:
            size = -1
        if size < 0:
            # Crawlers that undo the chunking often keep the header that announced it.
            return data if i == 0 else b"".join(parts)
        if size == 0:
            break
        parts.append(data[stop + 2 : stop + 2 + size])
        i = stop + 2 + size + 2
    return b"".join(parts)


def _decompress(data: bytes, name: str, limit: int) -> bytes:
    is_plain = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"<", b"")
    decoder = _DECODERS.get(name)
    if decoder is None:
        if is_plain:  # some servers say "utf-8" or "none" here
            return data
        raise PayloadError("unknown content encoding")
    try:
        return decoder(data, limit)
    except (zlib.error, brotli.error, zstandard.ZstdError, EOFError) as error:
        if is_plain:  # announced, but not compressed
            return data
        raise PayloadError("compressed body damaged") from error


def _inflate_members(data: bytes, limit: int, window: int) -> bytes:
    """Decompress all members of a zlib or gzip stream."""
    out = b""
    while data and len(out) <= limit:
        decoder = zlib.decompressobj(window)
        out += decoder.decompress(data, limit + 1 - len(out))
        if len(out) > limit:
            break
        if not decoder.eof:
            raise EOFError
        data = decoder.unused_data
        if not data.startswith(b"\x1f\x8b"):
            break
    return out


def _inflate(data: bytes, limit: int) -> bytes:
    try:
        return _inflate_members(data, limit, zlib.MAX_WBITS)
    except zlib.error:  # some servers send the stream without the zlib header
        return _inflate_members(data, limit, -zlib.MAX_WBITS)


def _unbrotli(data: bytes, limit: int) -> bytes:
    decoder = brotli.Decompressor()
    out = bytearray()
    for start in range(0, len(data), _STEP):
        out += decoder.process(data[start : start + _STEP], output_buffer_limit=limit + 1)
        while not decoder.can_accept_more_data() and len(out) <= limit:
            out += decoder.process(b"", output_buffer_limit=limit + 1)
        if len(out) > limit:
            return bytes(out[: limit + 1])
    if data and not decoder.is_finished():
        raise EOFError
    return bytes(out)


def _unzstd(data: bytes, limit: int) -> bytes:
    decompressor = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    reader = decompressor.stream_reader(io.BytesIO(data), read_across_frames=True)
    out = bytearray()
    while len(out) <= limit and (piece := reader.read(min(_STEP, limit + 1 - len(out)))):
        out += piece
    while data and len(out) <= limit:  # small enough to be decompressed again, to check that the last frame is whole
        decoder = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        decoder.decompress(data)
        if not decoder.eof:
            raise EOFError
        data = decoder.unused_data
    return bytes(out)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": partial(_inflate_members, window=zlib.MAX_WBITS | 16),
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
