"""WARC records written by hand, so that a test says every byte of them, and can say a wrong one."""

from __future__ import annotations

import gzip
from base64 import b32encode
from collections.abc import Iterable
from hashlib import sha1

Header = tuple[str, str]

DAY = "2024-05-01T12:00:00Z"
DAY_SECONDS = 1_714_564_800  # `date -ud 2024-05-01T12:00:00Z +%s`
NEXT_DAY = "2024-05-02T12:00:00Z"
NEXT_DAY_SECONDS = DAY_SECONDS + 86_400
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
HTML = ("Content-Type", "text/html; charset=utf-8")


def page(words: str = "some words") -> bytes:
    """A page that says `words`."""
    return f"<!doctype html><title>{words}</title><p>{words}".encode()


def digest(payload: bytes) -> str:
    return "sha1:" + b32encode(sha1(payload).digest()).decode()


def lines(first: str, headers: Iterable[Header]) -> bytes:
    return "\r\n".join([first, *(f"{name}: {value}" for name, value in headers), "", ""]).encode()


def http(body: bytes, *headers: Header, status: str = "200 OK") -> bytes:
    """An HTTP answer as it went over the wire."""
    return lines(f"HTTP/1.1 {status}", headers) + body


def record(kind: str, url: str, block: bytes, *headers: Header, date: str = DAY, length: object = None) -> bytes:
    """A record; `length` is what it claims to be long, if that is not the truth."""
    stated = len(block) if length is None else length
    facts = (
        ("WARC-Type", kind),
        ("WARC-Target-URI", url),
        ("WARC-Date", date),
        ("WARC-Record-ID", record_id(url, date)),
    )
    return lines("WARC/1.1", (*facts, *headers, ("Content-Length", str(stated)))) + block + b"\r\n\r\n"


def record_id(url: str, date: str = DAY) -> str:
    name = sha1(f"{url} {date}".encode()).hexdigest()
    return f"<urn:uuid:{name[:8]}-{name[8:12]}-{name[12:16]}-{name[16:20]}-{name[20:32]}>"


def response(
    url: str,
    body: bytes = page(),
    *headers: Header,
    status: str = "200 OK",
    date: str = DAY,
    length: object = None,
    checked: bool = True,
) -> bytes:
    """What a server answered: `headers` are those of HTTP; `checked` if the record names the digest of the body."""
    facts = [("Content-Type", "application/http; msgtype=response")]
    if checked:
        facts.append(("WARC-Payload-Digest", digest(body)))
    return record("response", url, http(body, *(headers or (HTML,)), status=status), *facts, date=date, length=length)


def resource(url: str, body: bytes = page(), content_type: str = "text/html", date: str = DAY) -> bytes:
    """A page that was saved without HTTP."""
    return record("resource", url, body, ("Content-Type", content_type), date=date)


def revisit(
    url: str, body: bytes, *headers: Header, status: str = "200 OK", date: str = NEXT_DAY, facts: Iterable[Header] = ()
) -> bytes:
    """A record that says: the body was `body`, as before."""
    stated = (
        ("Content-Type", "application/http; msgtype=response"),
        ("WARC-Profile", IDENTICAL),
        ("WARC-Payload-Digest", digest(body)),
        *facts,
    )
    return record("revisit", url, http(b"", *(headers or (HTML,)), status=status), *stated, date=date)


def gz(*records: bytes) -> bytes:
    """One gzip member a record, as archives are written."""
    return b"".join(gzip.compress(each, mtime=0) for each in records)


def chunked(body: bytes, size: int = 7) -> bytes:
    """A body in chunks of `size` bytes."""
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])
