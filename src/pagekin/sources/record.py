"""A WARC record: its header, and the HTTP response that it contains."""

import re
from base64 import b32encode
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import md5, sha1, sha256

from pagekin.model.capture import PageFlags
from pagekin.sources.payload import dechunk

_LONGEST_HTTP_HEADER = 64 * 1024
_HASHES = {"sha1": sha1, "sha256": sha256, "md5": md5}
_ROBOTS = {"noindex": PageFlags.NOINDEX, "nofollow": PageFlags.NOFOLLOW, "none": PageFlags.NOINDEX | PageFlags.NOFOLLOW}
_HEADER_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?\s+(\d{3})(?!\d)")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)")


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
            moment = datetime(*map(int, match.groups()), tzinfo=UTC) if match else None  # type: ignore[misc,arg-type]
        except ValueError:
            return 0
        return max(0, int(moment.timestamp())) if moment else 0

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
    for directive in value.lower().split(","):
        name, colon, rest = directive.partition(":")
        if not (colon and name.strip().startswith(("max-", "unavailable_after"))):
            flags |= _ROBOTS.get((rest if colon else name).strip(), PageFlags.NONE)
    return flags


def looks_like_html(body: bytes) -> bool:
    """Whether a body without a content type begins like HTML."""
    start = body[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return start.startswith((b"<!doctype html", b"<html", b"<head", b"<title", b"<body", b"<!--", b"<?xml"))
