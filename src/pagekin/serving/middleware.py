"""Errors, checks, headers and metrics of requests: errors as problem+json (RFC 9457), access control, headers that keep
a browser from running crawled content, and counters in the format of Prometheus.
"""

import base64
import hmac
import json
import logging
import re
import time
from asyncio import CancelledError
from bisect import bisect_left
from collections.abc import Iterator, Mapping, MutableSequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from http import HTTPStatus
from itertools import accumulate
from pathlib import Path

import numpy as np
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekin.errors import FailureError, MisuseError, NoPageError, StoreError
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings

# Scripts only from our own files, nothing from other origins, no framing.
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " font-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]
_PUBLIC = ("/healthz", "/embed.js", "/static/")  # they reveal nothing about the collection

_SERVICE_PATHS = ("/embed.js", "/healthz", "/metrics", "/static")
_API_PATHS = ("/api/related", "/api/pages", "/api/pages/{id}", "/api/cluster", "/api/duplicates", "/api/info")
PATHS = ("/", *_API_PATHS, "/api/openapi.json", "/api", "/w/api.php", *_SERVICE_PATHS, "other")
BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
_STRIDE = len(CLASSES) + len(BUCKETS) + 2  # per path: answers by status, by seconds (and slower ones), total seconds
WIDTH = len(PATHS) * _STRIDE + 1  # the last counts answers from the cache
MEDIA_TYPE = "application/problem+json"
_ROUTING = {404: "There is no such path; /api lists the paths for programs.", 405: "This path has other methods."}

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@/?#\s]+)(?::[0-9]*)?")

log = logging.getLogger("pagekin.serving")


@dataclass(frozen=True)
class Problem:
    """The JSON of an error."""

    type: str  # a stable name for programs
    title: str
    status: int
    detail: str  # a sentence for people


class RequestError(Exception):
    """A request that cannot be answered: HTTP status, and a sentence that says what is wrong and what to do."""

    def __init__(
        self, status: int, detail: str, kind: str = "", retry_after: int = 0, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail
        self.kind = kind or HTTPStatus(status).phrase.lower().replace(" ", "-")
        self.headers = dict(headers or {})
        if retry_after:
            self.headers["Retry-After"] = str(retry_after)

    @classmethod
    def from_exception(cls, error: BaseException, root: Path | None = None) -> "RequestError":
        """Convert any exception. The path of the store, if given, is removed; internal errors reveal no details."""
        if isinstance(error, RequestError):
            return error
        if isinstance(error, HTTPException):
            return cls(error.status_code, _ROUTING.get(error.status_code, error.detail), headers=error.headers)
        if isinstance(error, CancelledError):  # the grace period of a shutdown is over
            return cls(503, "The server is stopping; try again.", retry_after=10)
        if isinstance(error, StoreError):
            return cls(503, "The index cannot be read now; try again.", kind="index-unreadable", retry_after=1)
        if isinstance(error, MisuseError | FailureError):
            detail = str(error)
            if root is not None:
                detail = re.sub(rf"(?<!\S){re.escape(str(root))}(?![\w/])", "this collection", detail)
            missing = isinstance(error, NoPageError)
            return cls(404 if missing else 422, detail, kind="no-such-page" if missing else "invalid-request")
        return cls(500, "The server failed to answer this request; its log has the details.")

    def response(self) -> Response:
        problem = Problem(f"urn:pagekin:{self.kind}", HTTPStatus(self.status).phrase, self.status, self.detail)
        headers = {**self.headers, "Cache-Control": "no-store"}
        return Response(json.dumps(asdict(problem)), self.status, headers, MEDIA_TYPE)


class Metrics:
    """Counters in one row per worker of a list that workers can share."""

    def __init__(self, counts: MutableSequence[float] | None = None, worker: int = 0) -> None:
        self._counts = [0.0] * WIDTH if counts is None else counts
        self._first = worker * WIDTH

    def count_request(self, path: str, status: int, seconds: float) -> None:
        at = self._first + _STRIDE * PATHS.index(_path_label(path))
        self._counts[at + status // 100 - 1] += 1
        self._counts[at + len(CLASSES) + bisect_left(BUCKETS, seconds)] += 1
        self._counts[at + _STRIDE - 1] += seconds

    def count_cached(self) -> None:
        self._counts[self._first + WIDTH - 1] += 1

    def lines(self, current: CurrentGeneration) -> Iterator[str]:
        *totals, cached = np.array(self._counts).reshape(-1, WIDTH).sum(axis=0).tolist()
        rows = {path: totals[k * _STRIDE : (k + 1) * _STRIDE] for k, path in enumerate(PATHS)}
        yield "# TYPE pagekin_requests_total counter"
        for path, row in rows.items():
            for name, count in zip(CLASSES, row, strict=False):
                if count:
                    yield f'pagekin_requests_total{{path="{path}",status="{name}"}} {count:.0f}'
        yield "# TYPE pagekin_request_seconds histogram"
        for path, row in rows.items():
            if any(row):
                for bound, count in zip((*BUCKETS, "+Inf"), accumulate(row[len(CLASSES) : -1]), strict=True):
                    yield f'pagekin_request_seconds_bucket{{path="{path}",le="{bound}"}} {count:.0f}'
                yield f'pagekin_request_seconds_sum{{path="{path}"}} {row[-1]:.6f}'
                yield f'pagekin_request_seconds_count{{path="{path}"}} {count:.0f}'
        generation = current.generation
        for name, kind, value in (
            ("pagekin_kept_answers_total", "counter", cached),
            ("pagekin_index_generation", "gauge", generation.number),
            ("pagekin_pages", "gauge", len(generation.indexed)),
            ("pagekin_index_trouble", "gauge", bool(current.error)),
        ):
            yield f"# TYPE {name} {kind}"
            yield f"{name} {value:.0f}"


def _path_label(path: str) -> str:
    """Map any path to one of few labels.

    >>> _path_label("/api/related"), _path_label("/api/pages/abc"), _path_label("/nowhere")
    ('/api/related', '/api/pages/{id}', 'other')
    """
    if path in PATHS:
        return path
    if path.startswith("/api/pages/"):
        return "/api/pages/{id}"
    return "/static" if path.startswith("/static/") else "other"


class RequestMiddleware:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self.app = app
        self._hosts = {host.lower() for host in settings.hosts}
        self._token = settings.token.encode("utf-8", "surrogateescape")
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            self._check(scope)
            await self.app(scope, receive, send_with_headers)
        except (Exception, CancelledError) as error:
            if not isinstance(error, RequestError | CancelledError):
                log.exception("%s %s failed", scope["method"], scope["path"])
            if status:
                raise
            await RequestError.from_exception(error).response()(scope, receive, send_with_headers)
        finally:
            self._metrics.count_request(scope["path"], status or 500, time.perf_counter() - start)

    def _check(self, scope: Scope) -> None:
        if not (self._hosts or self._token):
            return
        headers = Headers(scope=scope)
        if self._hosts and _host(headers.get("host", "")) not in self._hosts:
            raise RequestError(421, "This server does not accept that Host header; --allow-host adds names.")
        preflight = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        if self._token and not scope["path"].startswith(_PUBLIC) and not preflight:
            if not hmac.compare_digest(_token(headers.get("authorization", "")), self._token):
                # Programs send the token itself; browsers ask for a user name (ignored) and a password (the token).
                challenge = 'Bearer, Basic realm="pagekin", charset="UTF-8"'
                raise RequestError(401, "Send Authorization: Bearer TOKEN.", headers={"WWW-Authenticate": challenge})


def client_of(request: HTTPConnection) -> str:
    """Return the address of a client, or an empty string."""
    return request.client.host if request.client is not None else ""


def _host(text: str) -> str:
    """Return the host name of a Host header without its port, or an empty string if the header is invalid.

    >>> _host("localhost:80"), _host("[::1]:80"), _host("EXAMPLE.org"), _host("localhost:80@evil.example")
    ('localhost', '[::1]', 'example.org', '')
    """
    found = _HOST.fullmatch(text)
    return found[1].lower() if found else ""


def _token(authorization: str) -> bytes:
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("latin-1", "replace")
    if scheme.lower() == "basic":
        with suppress(ValueError):
            return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
    return b""
