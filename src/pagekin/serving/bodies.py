"""Bodies of requests: how many bytes of them the server holds at once, and which JSON it parses."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from starlette.requests import ClientDisconnect, Request

from pagekin.serving.middleware import RequestError, client_of
from pagekin.serving.settings import RequestLimits


class Bodies:
    """The bodies that are being received or answered. Used by the event loop only."""

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self._held: Counter[str] = Counter()  # bytes, by client

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytearray]:
        """Read the body of a request. It counts until the end of the block."""
        client, body, length = client_of(request), bytearray(), request.headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._limits.body_bytes:
            raise too_large(self._limits)
        try:
            await self._receive(request, client, body)
            yield body
        finally:
            self._held -= Counter({client: len(body)})  # without clients that have no bodies

    async def _receive(self, request: Request, client: str, body: bytearray) -> None:
        try:
            async with asyncio.timeout(self._limits.seconds):
                async for piece in request.stream():
                    body += piece
                    self._held[client] += len(piece)
                    self._check(client, len(body))
        except ClientDisconnect:
            raise RequestError(400, "The connection was closed before the body was complete.") from None
        except TimeoutError:
            raise RequestError(408, f"The body did not arrive within {self._limits.seconds:g} seconds.") from None

    def _check(self, client: str, length: int) -> None:
        limits = self._limits
        if length > limits.body_bytes:
            raise too_large(limits)
        if self._held.total() > limits.all_body_bytes:
            raise RequestError(503, "The server is receiving too much at once; try again in a moment.", retry_after=1)
        if self._held[client] > limits.all_body_bytes // 2:
            raise RequestError(429, "You are sending too much at once; wait for your other requests.", retry_after=1)


def too_large(limits: RequestLimits) -> RequestError:
    return RequestError(413, f"The body is too large; at most {limits.body_bytes:,} bytes are allowed.")


def check_type(request: Request) -> None:
    """Refuse a body that is not JSON by its headers."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RequestError(415, "Send JSON, with Content-Type: application/json.")


def parse_json(body: bytes | bytearray, limits: RequestLimits) -> Any:
    if count_values(body) > limits.json_values:
        raise RequestError(422, f"The body has too many values; at most {limits.json_values:,} are allowed.")
    try:
        # Not UTF-16, which json.loads would recognise: there, count_values could not find the strings.
        return json.loads(body.decode("utf-8-sig"), parse_constant=_reject_constant)
    except RecursionError:
        raise RequestError(422, "The body is not valid JSON: it is nested too deeply.") from None
    except ValueError as error:
        raise RequestError(422, f"The body is not valid JSON: {str(error)[:200]}.") from None


def count_values(body: bytes | bytearray) -> int:
    r"""Return the number of values in JSON, or slightly more, without parsing it: an empty object takes 30 times the
    memory of its two bytes. Every value but the first follows a comma or an opening bracket outside of strings.

    >>> count_values(b'[{}, {"a": "[,,,"}]'), count_values(rb'["\"", ",\\", 1]')
    (5, 4)
    """
    plain = np.frombuffer(body.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
    outside = ~np.bitwise_xor.accumulate(plain == ord('"'))
    return 1 + sum(int(np.count_nonzero(outside & (plain == mark))) for mark in b",[{")


def _reject_constant(word: str) -> Any:
    """Reject NaN and Infinity, which are extensions of Python's parser."""
    raise ValueError(f"{word} is not a number")
