"""The records of one WARC stream, over what is damaged in it.

Reading is fastwarc's. Ours is to go on after damage: look for the next place at which a record can begin,
and count what was lost.
"""

from __future__ import annotations

import os
import zlib
from base64 import b32encode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import md5, sha1, sha256
from typing import IO, Any

_MAX_HEADER = 64 * 1024
_MAX_DAMAGES = 1000  # per stream; beyond that it is no archive any more
_SEARCH_STEP = 1 << 20
_GZIP = b"\x1f\x8b\x08"
_PLAIN = b"WARC/1."
_WANTED = ("response", "resource", "revisit")
_HASHES = {"sha1": sha1, "sha256": sha256, "md5": md5}


@dataclass(frozen=True)
class Damage:
    """A place in the stream where a record could not be read."""

    offset: int
    reason: str


@dataclass(frozen=True)
class Record:
    """A response, resource or revisit; header values that were not given are empty."""

    kind: str
    url: str
    offset: int
    captured: int
    digest: str
    status: int
    payload: bytes
    too_large: bool
    content_type: str
    charset: str
    language: str
    location: str
    robots: str
    transfer_encoding: str
    content_encoding: str


def read_records(file: IO[bytes], limit: int) -> Iterator[Record | Damage]:
    """All records that can be read, and one Damage for each stretch that cannot.

    Payloads hold at most limit + 1 bytes.
    """
    marker = _GZIP if file.read(len(_GZIP)) == _GZIP else _PLAIN
    start = 0
    fresh = True  # no damage since the last record that could be read
    for _ in range(_MAX_DAMAGES):
        file.seek(start)
        damage: Damage | None = None
        for item in _read_until_damage(file, start, limit, compressed=marker == _GZIP):
            if isinstance(item, Damage):
                damage = item
            else:
                fresh = True
                yield item
        if damage is None:
            return
        if fresh:
            yield damage
        fresh = False
        found = _next_start(file, damage.offset + 1, marker)
        if found is None:
            return
        start = found
    yield Damage(start, "too many damaged places, the rest was not read")


def _read_until_damage(file: IO[bytes], start: int, limit: int, compressed: bool) -> Iterator[Record | Damage]:
    from fastwarc.warc import ArchiveIterator

    last = start
    seen = False
    try:
        for raw in ArchiveIterator(file, auto_decode="none", max_header_len=_MAX_HEADER):
            last = raw.stream_pos
            seen = True
            if _kind(raw) not in _WANTED:
                continue
            record = _record(raw, last, limit)
            if not record.url or (
                not record.too_large and len(record.payload) < raw.content_length and record.kind != "revisit"
            ):
                yield Damage(last, "truncated record")
                return
            # Compressed records carry a checksum of their own.
            if not compressed and not record.too_large and not digest_agrees(record):
                yield Damage(last, "record does not match its digest")
                return
            yield record
    except (OSError, ValueError, RuntimeError, EOFError, OverflowError) as error:
        yield Damage(last, _reason(error))
        return
    # A broken beginning or a broken last record ends the iteration without a word.
    size = file.seek(0, os.SEEK_END)
    if start < size and (not seen or (compressed and _end_of_member(file, last) < size)):
        yield Damage(last, "truncated record")


def _end_of_member(file: IO[bytes], offset: int) -> int:
    """Where the gzip member at `offset` ends; the end of the file if there is no telling."""
    size = file.seek(0, os.SEEK_END)
    file.seek(offset)
    inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        while not inflater.eof:
            data = inflater.unconsumed_tail or file.read(_SEARCH_STEP)
            if not data:
                return size
            inflater.decompress(data, _SEARCH_STEP)
    except zlib.error:
        return size
    return file.tell() - len(inflater.unused_data)


def _reason(error: Exception) -> str:
    sentence = str(error).lower()
    if "gzip" in sentence or "decompress" in sentence:
        return "damaged compression"
    if "length exceeded" in sentence:
        return "record header too long"
    return "damaged record"


def _next_start(file: IO[bytes], offset: int, marker: bytes) -> int | None:
    """The next place from `offset` on at which a record can begin."""
    file.seek(offset)
    tail = b""
    begin = offset
    while chunk := file.read(_SEARCH_STEP):
        data = tail + chunk
        found = data.find(marker)
        if found >= 0:
            return begin + found
        tail = data[-(len(marker) - 1) :]
        begin += len(data) - len(tail)
    return None


def _record(raw: Any, offset: int, limit: int) -> Record:
    headers = raw.headers
    http = raw.http_headers
    kind = _kind(raw)
    payload = b"" if kind == "revisit" else raw.reader.read(min(limit + 1, max(raw.content_length, 0)))
    content_type = (_get(http, "Content-Type") if http else _get(headers, "Content-Type")).lower()
    return Record(
        kind=kind,
        url=_get(headers, "WARC-Target-URI").strip("<>"),
        offset=offset,
        captured=_seconds(raw.record_date),
        digest=_get(headers, "WARC-Payload-Digest"),
        status=int(http.status_code or 0) if http else 0,
        payload=payload,
        too_large=len(payload) > limit,
        content_type=content_type.partition(";")[0].strip(),
        charset=_parameter(content_type, "charset"),
        language=_get(http, "Content-Language"),
        location=_get(http, "Location"),
        robots=_get(http, "X-Robots-Tag"),
        transfer_encoding=_get(http, "Transfer-Encoding"),
        content_encoding=_get(http, "Content-Encoding"),
    )


def _kind(raw: Any) -> str:
    return str(raw.record_type)


def _get(headers: Any, name: str) -> str:
    return str(headers.get(name) or "").strip() if headers is not None else ""


def _parameter(content_type: str, name: str) -> str:
    for part in content_type.split(";")[1:]:
        key, _, value = part.partition("=")
        if key.strip() == name:
            return value.strip().strip("\"'")
    return ""


def _seconds(moment: Any) -> int:
    try:
        return max(0, int(moment.timestamp()))
    except (AttributeError, OverflowError, ValueError, OSError):
        return 0


def digest_agrees(record: Record) -> bool:
    """Whether the payload is what the record's digest says, as far as we know its way of hashing.

    Writers differ in whether they hash the body before or after the chunks are joined; both count.
    """
    from pagekin.sources.payload import dechunk

    name, _, wanted = record.digest.partition(":")
    hasher = _HASHES.get(name.lower().replace("-", ""))
    if hasher is None:
        return True
    bodies = [record.payload]
    if "chunked" in record.transfer_encoding.lower():
        bodies.append(dechunk(record.payload))
    for body in bodies:
        digest = hasher(body, usedforsecurity=False)
        if wanted.lower() in (digest.hexdigest(), b32encode(digest.digest()).decode().lower()):
            return True
    return False
