"""Where blocking work is done: a few threads, with a bound on who waits for them and for how long."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from starlette.requests import HTTPConnection

from pagekin.kernels.compile_lock import compile_seconds
from pagekin.serving.problems import RequestError
from pagekin.serving.settings import ServerSettings

Given = ParamSpec("Given")
Result = TypeVar("Result")


class RequestThreads:
    """Threads of the server. Work that takes too long is answered with 503, and keeps its place until it ends."""

    def __init__(self, settings: ServerSettings) -> None:
        self._bounds = settings.bounds
        self._most = settings.threads + settings.bounds.waiting
        self._threads = ThreadPoolExecutor(settings.threads, "pagekin")
        self._taken: Counter[str] = Counter()  # places, by client

    async def run(
        self, request: HTTPConnection, function: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
    ) -> Result:
        """Call a function in a thread and wait for its result."""
        client = request.client.host if request.client is not None else ""
        if self._taken.total() >= self._most:
            raise RequestError(503, "The server is busy; ask again in a moment.", retry_after=1)
        if self._taken[client] >= self._bounds.per_client:
            raise RequestError(
                429, f"{self._bounds.per_client} of your requests are being answered; wait for one of them."
            )
        self._taken[client] += 1
        work = self._threads.submit(partial(function, *given, **named))
        loop = asyncio.get_running_loop()
        work.add_done_callback(lambda _: self._soon(loop, client))
        return await self._result(work)

    async def _result(self, work: Future[Result]) -> Result:
        waited: asyncio.Future[Result] = asyncio.wrap_future(work)
        begin, compiled = time.monotonic(), compile_seconds()
        left = self._bounds.seconds
        try:
            while left > 0:
                await asyncio.wait([waited], timeout=left)
                if waited.done():
                    return waited.result()
                # A kernel is compiled once on a machine; that time does not count.
                left = self._bounds.seconds - (time.monotonic() - begin) + (compile_seconds() - compiled)
        finally:
            waited.cancel()
        raise RequestError(503, f"No answer within {self._bounds.seconds:g} seconds.", retry_after=10)

    def _soon(self, loop: asyncio.AbstractEventLoop, client: str) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._leave, client)

    def _leave(self, client: str) -> None:
        self._taken[client] -= 1
        if not self._taken[client]:
            del self._taken[client]

    def close(self) -> None:
        """Wait for what is running; what only waits is given up."""
        self._threads.shutdown(wait=True, cancel_futures=True)
