"""Threads for blocking work, with limits on queueing and on time."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from starlette.requests import HTTPConnection

from pagekin.kernels.compile import compile_seconds
from pagekin.serving.problems import RequestError
from pagekin.serving.settings import ServerSettings

Result = TypeVar("Result")


class RequestThreads:
    """A thread pool for requests. A call that exceeds the time limit gets a 503, and counts until it really ends."""

    def __init__(self, settings: ServerSettings) -> None:
        self._limits = settings.limits
        self._capacity = settings.threads + settings.limits.queued
        self._executor = ThreadPoolExecutor(settings.threads, "pagekin")
        self._active: Counter[str] = Counter()  # running and queued calls, by client

    async def run(self, request: HTTPConnection, function: Callable[..., Result], *args: Any) -> Result:
        """Call a function in a thread and await its result."""
        limits, client = self._limits, request.client.host if request.client is not None else ""
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
        result = asyncio.wrap_future(future)
        start, compiled, left = time.monotonic(), compile_seconds(), limits.seconds
        try:
            while left > 0:
                await asyncio.wait([result], timeout=left)
                if result.done():
                    return result.result()
                # A kernel is compiled once on a machine; that time does not count.
                left = limits.seconds - (time.monotonic() - start) + (compile_seconds() - compiled)
        finally:
            result.cancel()
        raise RequestError(503, f"No answer within {limits.seconds:g} seconds.", retry_after=10)

    def _release(self, client: str) -> None:
        self._active[client] -= 1
        if not self._active[client]:
            del self._active[client]

    def close(self) -> None:
        """Wait for running calls; cancel queued ones."""
        self._executor.shutdown(wait=True, cancel_futures=True)
