"""A server from its socket to its last answer."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette

from pagekin.errors import FailureError, PagekinError
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.metrics import WIDTH, Metrics
from pagekin.serving.settings import ServerSettings

_STOPPING = (signal.SIGTERM, signal.SIGINT)
_CONNECTIONS = 1000  # of one worker; more are told that it is busy
_HEAD = 1 << 20  # bytes of a request before its body; a URL that is too long is read, so that it can be answered
_QUEUE = 2048  # connections that wait to be taken
_TURN = 0.0005  # seconds after which a thread that works gives way to the event loop, if that waits
_GRACE = 30  # seconds for what is running when the server is told to stop

_AT_ONCE = "stopped at once: what was running is not answered"

log = logging.getLogger("pagekin.serving")


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


def run(root: str, settings: ServerSettings, listener: socket.socket, workers: int = 1) -> None:
    """Serve until told to stop, in this process or in several that share the socket and the pages in memory."""
    if workers == 1:
        _work(_server(root, settings), listener)
    else:
        _Workers(root, settings, listener, workers).run()


def _server(root: str, settings: ServerSettings, counts: Any = None, worker: int = 0) -> uvicorn.Server:
    def app() -> Starlette:
        return make_app(CurrentGeneration(root), settings, Metrics(counts, worker))

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
    return _Server(config)


class _Server(uvicorn.Server):
    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop when all is answered; a second Ctrl-C does not wait for that."""
        if self.should_exit and sig == signal.SIGINT:
            log.warning(_AT_ONCE)
            os._exit(1)
        super().handle_exit(sig, frame)


def _work(server: uvicorn.Server, listener: socket.socket) -> None:
    sys.setswitchinterval(_TURN)
    for number in _STOPPING:  # from the first moment; the server catches them, stops, and has them raised once more
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    server.run(sockets=[listener])


def _work_for_parent(root: str, settings: ServerSettings, listener: socket.socket, counts: Any, worker: int) -> None:
    """What a process of several does: it stops when its parent says so, or is no more."""
    server = _server(root, settings, counts, worker)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow(sentinel: int = parent.sentinel) -> None:
        wait([sentinel])
        server.should_exit = True

    threading.Thread(target=follow, daemon=True).start()
    try:
        _work(server, listener)
    except PagekinError as error:
        log.error("%s", error)
        sys.exit(error.exit_code)


class _Workers:
    """Processes that serve; one that ends is replaced, one that fails ends them all."""

    def __init__(self, root: str, settings: ServerSettings, listener: socket.socket, count: int) -> None:
        self._spawning = multiprocessing.get_context("spawn")
        self._listener = listener
        self._arguments = (root, settings, listener, self._spawning.RawArray("d", count * WIDTH))
        self._processes: dict[int, SpawnProcess] = {}
        self._count = count
        self._told, self._tell = self._spawning.Pipe(duplex=False)

    def run(self) -> None:
        """Until told to stop."""
        for number in _STOPPING:  # handlers only pass it on: they may come in the middle of anything
            signal.signal(number, lambda number, _: self._tell.send_bytes(bytes([number])))
        try:
            for place in range(self._count):
                self._start(place)
            while not self._is_told():
                pass
        finally:
            self._stop()

    def _start(self, place: int) -> None:
        process = self._spawning.Process(target=_work_for_parent, args=(*self._arguments, place))
        with _without_interrupts():
            process.start()
        self._processes[place] = process

    def _is_told(self) -> bool:
        """Wait until all are told to stop, or until one has ended, which is replaced."""
        ready = wait([self._told, *(process.sentinel for process in self._processes.values())])
        if self._told in ready:
            self._told.recv_bytes()
            return True
        for place, process in list(self._processes.items()):
            if process.sentinel in ready:
                self._replace(place, process)
        return False

    def _replace(self, place: int, process: SpawnProcess) -> None:
        process.join()
        code = process.exitcode or 0
        if code > 0:
            raise FailureError("the server has stopped: a worker could not go on; see above")
        how = f"was killed by signal {-code}" if code else "was told to stop"
        log.warning("worker %d (process %d) %s; another takes its place", place + 1, process.pid, how)
        self._start(place)

    def _stop(self) -> None:
        """Let all end what they have begun; a second Ctrl-C does not wait for that."""
        self._listener.close()
        for process in self._processes.values():
            process.terminate()
        while alive := [process.sentinel for process in self._processes.values() if process.is_alive()]:
            if self._told in wait([self._told, *alive]) and self._told.recv_bytes() == bytes([signal.SIGINT]):
                for process in self._processes.values():
                    process.kill()
                raise FailureError(_AT_ONCE)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes that are started here never get the Ctrl-C that a terminal sends to all; who started them does."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # else it begins with the first process, and lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
