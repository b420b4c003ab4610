"""What every handler needs: the collection, threads for blocking work, settings, cached answers and counters."""

import asyncio
import gzip
from collections import Counter, OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias, TypeVar

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send

from pagekin.serving.bodies import Bodies
from pagekin.serving.generations import CurrentGeneration, Generation
from pagekin.serving.metrics import Metrics
from pagekin.serving.middleware import RequestError, client_of
from pagekin.serving.settings import ServerSettings

_MIN_GZIP = 500  # bytes; smaller answers are not compressed
_MAX_CACHED = 256 << 10  # bytes; larger answers are not cached

Result = TypeVar("Result")
Key: TypeAlias = tuple[str, str, bytes]  # tag of the generation, path, query string
Recompute: TypeAlias = "Callable[[Generation, Key], CachedAnswer]"


class RequestThreads:
    """A thread pool for requests. A call that exceeds the time limit gets a 503, and counts until it really ends."""

    def __init__(self, settings: ServerSettings) -> None:
        self._limits = settings.limits
        self._capacity = settings.threads + settings.limits.queued
        self._executor = ThreadPoolExecutor(settings.threads, "pagekin")
        self._active: Counter[str] = Counter()  # running and queued calls, by client

    def submit(self, request: HTTPConnection, function: Callable[..., Result], *args: Any) -> asyncio.Future[Result]:
        """Start a call, or queue it. Too many calls are refused."""
        limits, client = self._limits, client_of(request)
        if self._active.total() >= self._capacity:
            raise RequestError(503, "The server is busy; try again in a moment.", retry_after=1)
        if self._active[client] >= limits.per_client:
            raise RequestError(429, f"{limits.per_client} of your requests are being answered; wait for one of them.")
        self._active[client] += 1
        future = self._executor.submit(function, *args)
        loop = asyncio.get_running_loop()

        def finished(_: Future[Result]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._release, client)

        future.add_done_callback(finished)
        return asyncio.wrap_future(future)

    async def run(self, request: HTTPConnection, function: Callable[..., Result], *args: Any) -> Result:
        limits, result = self._limits, self.submit(request, function, *args)
        try:
            await asyncio.wait([result], timeout=limits.seconds)
            if result.done():
                return result.result()
        finally:
            result.cancel()
        raise RequestError(503, f"No answer within {limits.seconds:g} seconds.", retry_after=10)

    def _release(self, client: str) -> None:
        self._active -= Counter([client])  # without clients that have no calls

    def close(self) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)


class CachedAnswer:
    """The JSON of an answer. Sent as it is, compressed, or as 304 if the client has it."""

    def __init__(self, body: bytes, etag: str, cache_control: str) -> None:
        self.body, self.etag = body, etag
        headers = {"content-type": "application/json", "cache-control": cache_control, "etag": etag}
        self._headers = [(name.encode(), text.encode()) for name, text in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, body, headers = 200, self.body, self._headers
        request = Headers(scope=scope)
        if matches_etag(request, self.etag) or request.get("if-none-match", "").strip() == "*":
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
    known = headers.get("if-none-match", "")
    opaque = etag.removeprefix("W/")
    return bool(known) and any(each.strip().removeprefix("W/") == opaque for each in known.split(","))


class AnswerCache:
    """The least recently used answers are dropped. Used by the event loop only."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._answers: OrderedDict[Key, tuple[CachedAnswer, Recompute]] = OrderedDict()

    def get(self, key: Key) -> CachedAnswer | None:
        if key not in self._answers:
            return None
        self._answers.move_to_end(key)
        return self._answers[key][0]

    def put(self, key: Key, answer: CachedAnswer, compute: Recompute) -> None:
        """Add an answer, and the function that computes it for another generation."""
        if len(answer.body) <= _MAX_CACHED:
            self._answers[key] = answer, compute
        while len(self._answers) > self._capacity:
            self._answers.popitem(last=False)

    def latest(self, count: int) -> list[tuple[Key, Recompute]]:
        """Return the most recently used entries, the oldest first."""
        return [(key, compute) for key, (_, compute) in list(self._answers.items())[-count:]]


class Context(NamedTuple):
    """The collection, the worker threads, the settings, the cache, the counters and the bodies of one server."""

    current: CurrentGeneration
    threads: RequestThreads
    settings: ServerSettings
    cache: AnswerCache
    metrics: Metrics
    bodies: Bodies


def context_of(request: HTTPConnection) -> Context:
    context: Context = request.app.state.context
    return context
