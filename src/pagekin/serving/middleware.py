"""Checks, headers and metrics for every request: access control, headers that keep a browser from running crawled
content, and errors as problem+json.
"""

import asyncio
import base64
import hmac
import logging
import time
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekin.serving.metrics import Metrics
from pagekin.serving.problems import RequestError
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

log = logging.getLogger("pagekin.serving")


class RequestMiddleware:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self.app = app
        self._hosts = {host.lower() for host in settings.hosts}
        self._token = settings.token.encode("utf-8", "surrogateescape")
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
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
        except Exception as error:
            if not isinstance(error, RequestError):
                log.exception("%s %s failed", scope["method"], scope["path"])
            if status:
                raise
            await RequestError.from_exception(error).response()(scope, receive, send_with_headers)
        except asyncio.CancelledError:  # the grace period of a shutdown is over
            if status:
                raise
            stopping = RequestError(503, "The server is stopping; try again.", retry_after=10)
            await stopping.response()(scope, receive, send_with_headers)
        finally:
            self._metrics.count_request(scope["path"], status or 500, time.perf_counter() - start)

    def _check(self, scope: Scope) -> None:
        """Raise RequestError if the host or the token is wrong."""
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


def _host(text: str) -> str:
    """Return the host name of a Host header without its port.

    >>> _host("localhost:80"), _host("[::1]:80"), _host("EXAMPLE.org")
    ('localhost', '[::1]', 'example.org')
    """
    name = text.lower()
    return name[: name.index("]") + 1] if name.startswith("[") and "]" in name else name.partition(":")[0]


def _token(authorization: str) -> bytes:
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip().encode("latin-1", "replace")
    if scheme.lower() == "basic":
        with suppress(ValueError):
            return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
    return b""
