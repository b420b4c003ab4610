"""A server from its socket to its last answer."""

from __future__ import annotations

import multiprocessing
import signal
import socket
import sys
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any

import uvicorn
from starlette.applications import Starlette

from pagekin.errors import FailureError
from pagekin.serving.app import make_app
from pagekin.serving.holding import Held
from pagekin.serving.metrics import WIDTH, Metrics
from pagekin.serving.settings import Settings

_STOPPING = (signal.SIGTERM, signal.SIGINT)
_CONNECTIONS = 1000  # of one worker; more are told that it is busy
_HEAD = 1 << 20  # bytes of a request before its body; a URL that is too long is read, so that it can be answered
_QUEUE = 2048  # connections that wait to be taken
_TURN = 0.0005  # seconds after which a thread that works gives way to the event loop, if that waits
_GRACE = 30  # seconds for what is running when the server is told to stop


def listening(host: str, port: int) -> socket.socket:
    """A socket on which the server can be reached; 0 is any free port."""
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return _bound(kind, address)
    except OSError as error:
        told = f"port {port} of {host} cannot be listened on: {error.strerror or error}"
        raise FailureError(f"{told}; choose another one with --port, or 0 for any that is free") from error


def _bound(kind: int, address: Any) -> socket.socket:
    # With the protocol said, asyncio sends small pieces at once; else each answer waits 40 ms for an acknowledgement.
    listener = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_QUEUE)
    except OSError:
        listener.close()
        raise
    return listener


def address_of(listener: socket.socket) -> str:
    """The URL of a server that listens there."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def run(root: str, settings: Settings, listener: socket.socket, workers: int = 1) -> None:
    """Serve until told to stop, in this process or in several that share the socket and the pages in memory."""
    if workers == 1:
        _work(root, settings, listener)
    else:
        _Workers(root, settings, listener, workers).run()


def _work(root: str, settings: Settings, listener: socket.socket, counts: Any = None, worker: int = 0) -> None:
    """What a worker does."""

    def app() -> Starlette:
        return make_app(Held(root), settings, Metrics(counts, worker))

    config = uvicorn.Config(
        app,
        factory=True,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        h11_max_incomplete_event_size=_HEAD,
        timeout_graceful_shutdown=_GRACE,
    )
    sys.setswitchinterval(_TURN)
    server = uvicorn.Server(config)
    for number in _STOPPING:  # from the first moment; the server catches them, stops, and has them raised once more
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    server.run(sockets=[listener])


class _Workers:
    """Processes that serve; one that is killed is replaced, one that cannot begin ends them all."""

    def __init__(self, root: str, settings: Settings, listener: socket.socket, count: int) -> None:
        self._spawning = multiprocessing.get_context("spawn")
        self._listener = listener
        self._arguments = (root, settings, listener, self._spawning.RawArray("d", count * WIDTH))
        self._processes = [self._started(k) for k in range(count)]
        self._stopping = self._failed = False

    def _started(self, place: int) -> SpawnProcess:
        process = self._spawning.Process(target=_work, args=(*self._arguments, place))
        process.start()
        return process

    def run(self) -> None:
        """Until all have ended."""
        for number in _STOPPING:
            signal.signal(number, lambda *_: self._stop())
        while alive := [process.sentinel for process in self._processes if process.is_alive()]:
            wait(alive)
            for place, process in enumerate(self._processes):
                self._look(place, process)
        if self._failed:
            raise FailureError("the server has stopped: a worker could not go on; see above")

    def _look(self, place: int, process: SpawnProcess) -> None:
        if process.exitcode is None or self._stopping:
            return
        if process.exitcode < 0:  # killed
            self._processes[place] = self._started(place)
        else:
            self._failed = True
            self._stop()

    def _stop(self) -> None:
        self._stopping = True
        self._listener.close()
        for process in self._processes:
            if process.is_alive():
                process.terminate()
