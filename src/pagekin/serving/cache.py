"""Encoded answers, and a cache of the most recent ones."""

import gzip
import json
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from typing import Any, TypeAlias

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from pagekin.serving.generations import Generation

_MIN_GZIP = 500  # bytes; smaller answers are not compressed
_MAX_CACHED = 256 << 10  # bytes; larger answers are not cached

Key: TypeAlias = tuple[str, str, bytes]  # tag of the generation, path, query string
Compute: TypeAlias = "Callable[[Generation, Key], CachedAnswer]"


def encode_json(value: Any) -> bytes:
    """Encode as JSON in ASCII, which no client decodes wrongly."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


class CachedAnswer:
    """The JSON of an answer. Sent as it is, compressed, or as 304 if the client has it."""

    def __init__(self, value: Any, key: Key, cache_control: str) -> None:
        self.body = encode_json(value)
        self.etag = etag_of(key)
        headers = {"content-type": "application/json", "cache-control": cache_control, "etag": self.etag}
        self._headers = [(name.encode(), text.encode()) for name, text in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer."""
        status, body, headers = 200, self.body, self._headers
        request = Headers(scope=scope)
        if matches_etag(request, self.etag):
            status, body = 304, b""
        elif len(body) >= _MIN_GZIP:
            headers = [*headers, (b"vary", b"Accept-Encoding")]
            if "gzip" in request.get("accept-encoding", ""):
                body = self._compressed
                headers.append((b"content-encoding", b"gzip"))
        if status == 200:
            headers = [*headers, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    @cached_property
    def _compressed(self) -> bytes:
        return gzip.compress(self.body, 6, mtime=0)


def etag_of(key: Key) -> str:
    """Return the ETag of an answer. It is weak, because the answer may be compressed or not."""
    tag, path, query = key
    digest = blake2b(path.encode("utf-8", "surrogatepass") + b"?" + query, digest_size=8).hexdigest()
    return f'W/"{tag}-{digest}"'


def matches_etag(headers: Headers, etag: str) -> bool:
    """Return whether the client already has the answer with this ETag."""
    known = headers.get("if-none-match", "")
    opaque = etag.removeprefix("W/")
    return bool(known) and any(each.strip().removeprefix("W/") in (opaque, "*") for each in known.split(","))


class AnswerCache:
    """The least recently used answers are dropped. Used by the event loop only."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._answers: OrderedDict[Key, tuple[CachedAnswer, Compute]] = OrderedDict()

    def get(self, key: Key) -> CachedAnswer | None:
        """Return the answer if it is cached."""
        if key not in self._answers:
            return None
        self._answers.move_to_end(key)
        return self._answers[key][0]

    def put(self, key: Key, answer: CachedAnswer, compute: Compute) -> None:
        """Add an answer, and the function that computes it for another generation."""
        if len(answer.body) <= _MAX_CACHED:
            self._answers[key] = answer, compute
        while len(self._answers) > self._capacity:
            self._answers.popitem(last=False)

    def latest(self, count: int) -> list[tuple[Key, Compute]]:
        """Return the most recently used entries, the oldest first."""
        newest = islice(reversed(self._answers.items()), count)
        return [(key, compute) for key, (_, compute) in newest][::-1]
