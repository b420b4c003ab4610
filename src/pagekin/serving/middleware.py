"""Errors, checks and headers of requests: errors as problem+json (RFC 9457), access control, and headers that keep a
browser from running crawled content.
"""

import base64
import hmac
import json
import logging
import re
import time
from asyncio import CancelledError
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekin.errors import (
    FailureError,
    MisuseError,
    NoPageError,
    StoreError,
    is_want_of_memory,
    refused_by_system,
)
from pagekin.serving.metrics import Metrics
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
        if is_want_of_memory(error):
            return cls(503, "The server has too little memory now; try again.", kind="no-memory", retry_after=10)
        if isinstance(error, StoreError) or (not isinstance(error, MisuseError) and refused_by_system(error)):
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


class RequestMiddleware:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self.app = app
        self._hosts = {host.lower() for host in settings.hosts}
        self._token = settings.token.encode("utf-8", "surrogateescape")
        self._metrics = metrics
        self._at_once = settings.limits.at_once
        self._active: Counter[str] = Counter()  # requests, by client

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

        client = client_of(HTTPConnection(scope))
        self._active[client] += 1
        try:
            self._check(scope)
            if self._active[client] > self._at_once and scope["path"] != "/healthz":
                raise RequestError(429, f"{self._at_once} of your requests are being answered; wait for one of them.")
            await self.app(scope, receive, send_with_headers)
        except (Exception, CancelledError) as error:
            if is_want_of_memory(error) or refused_by_system(error):
                reason = "there is not enough memory" if is_want_of_memory(error) else error
                log.error("%s %s failed: %s", scope["method"], scope["path"], reason)
            elif not isinstance(error, RequestError | CancelledError):
                log.exception("%s %s failed", scope["method"], scope["path"])
            if status:
                raise
            await RequestError.from_exception(error).response()(scope, receive, send_with_headers)
        finally:
            self._active -= Counter([client])  # without clients that have no requests
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
