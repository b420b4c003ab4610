"""A worker process: the server over one collection, on a socket that it shares with other workers."""

import ctypes
import logging
import multiprocessing
import signal
import socket
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import Any

import uvicorn
from starlette.applications import Starlette

from pagekin.errors import PagekinError
from pagekin.serving.app import make_app, warm_up
from pagekin.serving.connections import listen_for
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.metrics import Metrics
from pagekin.serving.settings import ServerSettings

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_READ_BYTES = 256 << 10  # at most, that asyncio reads at once
_SWITCH_SECONDS = 0.0005  # a working thread yields to the event loop after this time
_GRACE_SECONDS = 30  # for running requests at shutdown
_LARGE_BYTES = 16 << 20

log = logging.getLogger("pagekin.serving")


def return_freed_memory() -> None:
    """Let glibc return the memory of every large array to the system as soon as the array is freed.

    By default it keeps the memory of arrays of up to 32 MB after the first one, so that the clusters of replaced
    generations would occupy memory.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(-3, _LARGE_BYTES)  # M_MMAP_THRESHOLD


class _Server(uvicorn.Server):
    def __init__(self, make: Callable[[], Starlette], settings: ServerSettings, ready: Callable[[], object]) -> None:
        self._make, self._ready, self._limits = make, ready, settings.limits
        config = uvicorn.Config(
            self._made,
            factory=True,
            log_level="error",  # a warning for every invalid request would let clients fill the disk
            access_log=False,
            server_header=False,
            http="h11",
            h11_max_incomplete_event_size=settings.limits.head_bytes + _READ_BYTES,
            timeout_keep_alive=settings.limits.idle_seconds,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        super().__init__(config)

    def _made(self) -> Starlette:
        self._app = self._make()
        return self._app

    def run_on(self, listener: socket.socket) -> None:
        sys.setswitchinterval(_SWITCH_SECONDS)
        return_freed_memory()
        for number in _SIGNALS:  # before uvicorn installs its own handlers; it raises the signals again after stopping
            signal.signal(number, lambda *_: setattr(self, "should_exit", True))
        self.run(sockets=[listener])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])  # uvicorn would accept connections without limits
        await warm_up(self._app)
        uvicorn = {"config": self.config, "server_state": self.server_state, "app_state": self.lifespan.state}
        self.servers = [listen_for(each, self._limits, **uvicorn) for each in sockets or ()]  # type: ignore[misc]
        if not self.should_exit:
            self._ready()


def serve_in_worker(
    root: str, settings: ServerSettings, listener: socket.socket, ready: Any, counts: Any, worker: int, again: bool
) -> None:
    """Serve until a signal arrives, or the parent ends. `again`: in the place of a worker that has died."""

    def make() -> Starlette:
        return make_app(CurrentGeneration(root, trusted=not again), settings, Metrics(counts, worker))

    server = _Server(make, settings, ready.release)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow(sentinel: int = parent.sentinel) -> None:
        wait([sentinel])
        server.should_exit = True

    threading.Thread(target=follow, daemon=True).start()
    try:
        server.run_on(listener)
    except PagekinError as error:
        log.error("%s", error)
        sys.exit(error.exit_code)
