"""What holds for every request and every answer: who may ask, headers that keep a browser from running what a crawl
says, errors as problem+json, and counting.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import logging
import time

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pagekin.serving.metrics import Metrics
from pagekin.serving.problems import RequestError, told
from pagekin.serving.settings import ServerSettings

# No script but our own files, nothing from elsewhere, nobody frames us.
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
_OPEN = ("/healthz", "/embed.js", "/static/")  # what holds nothing of the collection

log = logging.getLogger("pagekin.serving")


class RequestMiddleware:
    """Around the whole application."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self.app = app
        self._hosts = {host.lower() for host in settings.hosts}
        self._token = settings.token.encode("utf-8", "surrogateescape")
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS]
            await send(message)

        try:
            self._check(scope)
            await self.app(scope, receive, sending)
        except Exception as error:
            if not isinstance(error, RequestError):
                log.exception("%s %s failed", scope["method"], scope["path"])
            if status:
                raise
            await told(error).response()(scope, receive, sending)
        except asyncio.CancelledError:  # the server stops, and waits no longer
            if status:
                raise
            stopping = RequestError(503, "The server is stopping; ask again.", retry_after=10)
            await stopping.response()(scope, receive, sending)
        finally:
            self._metrics.note(scope["path"], status or 500, time.perf_counter() - begin)

    def _check(self, scope: Scope) -> None:
        """Whether this may be asked."""
        if not (self._hosts or self._token):
            return
        headers = Headers(scope=scope)
        if self._hosts and _host(headers.get("host", "")) not in self._hosts:
            raise RequestError(421, "This server is not called by that name; --allow-host adds names.")
        preflight = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        if self._token and not scope["path"].startswith(_OPEN) and not preflight:
            if not hmac.compare_digest(_token(headers.get("authorization", "")), self._token):
                # Programs send the token itself; browsers ask people for a name, which may be any, and a password.
                challenge = 'Bearer, Basic realm="pagekin", charset="UTF-8"'
                raise RequestError(401, "Send Authorization: Bearer TOKEN.", headers={"WWW-Authenticate": challenge})


def _host(text: str) -> str:
    """The name of a Host header without its port.

    >>> _host("localhost:80"), _host("[::1]:80"), _host("EXAMPLE.org")
    ('localhost', '[::1]', 'example.org')
    """
    name = text.lower()
    return name[: name.index("]") + 1] if name.startswith("[") and "]" in name else name.partition(":")[0]


def _token(authorization: str) -> bytes:
    kind, _, value = authorization.partition(" ")
    if kind.lower() == "bearer":
        return value.strip().encode("latin-1", "replace")
    if kind.lower() == "basic":
        try:
            return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return b""
    return b""
