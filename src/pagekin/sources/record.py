"""A WARC record: its own header, and the HTTP answer inside, taken apart."""

from __future__ import annotations

import re
from base64 import b32encode
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import md5, sha1, sha256

from pagekin.sources.payload import dechunk

_LONGEST_HTTP_HEADER = 64 * 1024
_HASHES = {"sha1": sha1, "sha256": sha256, "md5": md5}
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?\s+(\d{3})(?!\d)")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)")


@dataclass(frozen=True)
class Record:
    """A record. `http` are the headers of the answer in lower case; empty where there is no answer in it."""

    kind: str
    url: str
    offset: int
    id: str
    date: str
    digest: str
    refers_to: str
    refers_to_url: str
    refers_to_date: str
    status: int
    http: dict[str, str]
    content_type: str
    payload: bytes
    too_large: bool
    endless_header: bool  # the header of the HTTP answer does not end where headers do

    @property
    def captured(self) -> int:
        """Seconds since 1970, 0 if the record does not say."""
        match = _DATE.match(self.date)
        try:
            moment = datetime(*map(int, match.groups()), tzinfo=UTC) if match else None  # type: ignore[misc,arg-type]
        except ValueError:
            return 0
        return max(0, int(moment.timestamp())) if moment else 0

    @property
    def charset(self) -> str:
        """The charset that the content type names."""
        for part in self.content_type.split(";")[1:]:
            key, _, value = part.partition("=")
            if key.strip().lower() == "charset":
                return value.strip().strip("\"'").lower()
        return ""


def longest_block(limit: int) -> int:
    """How much of a record is read, so that a payload of `limit` bytes fits in and a larger one shows."""
    return limit + _LONGEST_HTTP_HEADER + 1


def make_record(fields: dict[str, str], block: bytes, length: int, offset: int, limit: int) -> Record:
    """A record from its header and (the beginning of) its block of `length` bytes."""
    kind = fields.get("warc-type", "").strip().lower()
    status, skipped = 0, 0
    http: dict[str, str] = {}
    if fields.get("content-type", "").strip().lower().startswith("application/http") or block.startswith(b"HTTP/"):
        status, http, skipped = split_http(block)
    payload = block[skipped:]
    return Record(
        kind=kind,
        url=fields.get("warc-target-uri", "").strip().strip("<>"),
        offset=offset,
        id=fields.get("warc-record-id", "").strip(),
        date=fields.get("warc-date", "").strip(),
        digest=fields.get("warc-payload-digest", "").strip().lower(),
        refers_to=fields.get("warc-refers-to", "").strip(),
        refers_to_url=fields.get("warc-refers-to-target-uri", "").strip().strip("<>"),
        refers_to_date=fields.get("warc-refers-to-date", "").strip(),
        status=status,
        http=http,
        content_type=http.get("content-type", "") if http or status else fields.get("content-type", ""),
        payload=payload[: limit + 1],
        too_large=length - skipped > limit,
        endless_header=status > 0 and skipped == 0,
    )


def split_http(block: bytes) -> tuple[int, dict[str, str], int]:
    """(status, headers in lower case, where the body begins) of an HTTP answer; headers that recur are joined."""
    status = _STATUS.match(block)
    end = _HEADER_END.search(block, 0, _LONGEST_HTTP_HEADER)
    if status is None:
        return 0, {}, 0
    head = block[: end.start()] if end else block[:_LONGEST_HTTP_HEADER]
    return int(status[1]), parse_fields(head), end.end() if end else 0


def parse_fields(head: bytes) -> dict[str, str]:
    """The fields of a header after its first line; a line that begins with white space goes on with the last field."""
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


def digest_agrees(record: Record) -> bool:
    """Whether the payload is what the record's digest says, as far as we know its way of hashing.

    Writers differ in whether they hash the body before or after the chunks are joined; both count.
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
