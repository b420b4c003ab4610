"""Answers ready to be sent, and those that are kept because they may be asked for again."""

from __future__ import annotations

import gzip
import json
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

if TYPE_CHECKING:
    from pagekin.serving.generations import Generation

_SMALL = 500  # bytes that are not worth compressing
_LARGEST = 256 << 10  # bytes of an answer that is kept

Key: TypeAlias = tuple[str, str, bytes]  # generation, path, query
Again: TypeAlias = "Callable[[Generation, Key], CachedAnswer]"


def as_json(value: Any) -> bytes:
    """JSON in ASCII, which is nowhere misread."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


class CachedAnswer:
    """An answer as bytes: sent as it is, compressed (once), or not at all if the client has it."""

    def __init__(self, body: bytes, headers: list[tuple[bytes, bytes]], etag: str) -> None:
        self.body = body
        self.etag = etag
        self._headers = headers
        self._packed: bytes | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        status, body, headers = 200, self.body, self._headers
        asked = Headers(scope=scope)
        if is_known(asked, self.etag):
            status, body = 304, b""
        elif len(body) >= _SMALL:
            headers = [*headers, (b"vary", b"Accept-Encoding")]
            if "gzip" in asked.get("accept-encoding", ""):
                body = self._compressed()
                headers.append((b"content-encoding", b"gzip"))
        if status == 200:
            headers = [*headers, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _compressed(self) -> bytes:
        if self._packed is None:
            self._packed = gzip.compress(self.body, 6, mtime=0)
        return self._packed


def ready(value: Any, key: Key, control: str) -> CachedAnswer:
    """A value as an answer."""
    etag = etag_of(key)
    headers = [
        (b"content-type", b"application/json"),
        (b"cache-control", control.encode()),
        (b"etag", etag.encode()),
    ]
    return CachedAnswer(as_json(value), headers, etag)


def etag_of(key: Key) -> str:
    """The tag of an answer: another generation or another question, another tag. Weak: it may be compressed or not."""
    tag, path, query = key
    digest = blake2b(path.encode("utf-8", "surrogatepass") + b"?" + query, digest_size=8).hexdigest()
    return f'W/"{tag}-{digest}"'


def is_known(headers: Headers, etag: str) -> bool:
    """Whether the client has this answer already."""
    known = headers.get("if-none-match", "")
    opaque = etag.removeprefix("W/")
    return bool(known) and any(each.strip().removeprefix("W/") in (opaque, "*") for each in known.split(","))


class AnswerCache:
    """The answers that were asked for last. Only the event loop uses it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._answers: OrderedDict[Key, tuple[CachedAnswer, Again]] = OrderedDict()

    def get(self, key: Key) -> CachedAnswer | None:
        """The answer, if it is kept."""
        found = self._answers.get(key)
        if found is None:
            return None
        self._answers.move_to_end(key)
        return found[0]

    def put(self, key: Key, answer: CachedAnswer, again: Again) -> None:
        """Keep an answer, and how to find it again; the one that was not asked for longest goes."""
        if len(answer.body) > _LARGEST:
            return
        self._answers[key] = answer, again
        while len(self._answers) > self._most:
            self._answers.popitem(last=False)

    def latest(self, most: int) -> list[tuple[Key, Again]]:
        """What was asked for last, the oldest first."""
        newest = islice(reversed(self._answers.items()), most)
        return [(key, again) for key, (_, again) in newest][::-1]
