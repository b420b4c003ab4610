"""Run the server: sockets, worker processes, signals."""

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any

import uvicorn

from pagekin.errors import FailureError, PagekinError
from pagekin.serving.app import make_app
from pagekin.serving.connections import listen_for
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.middleware import WIDTH, Metrics
from pagekin.serving.settings import ServerSettings

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_READ_BYTES = 256 << 10  # at most, that asyncio reads at once
_BACKLOG = 2048  # connections waiting to be accepted
_SWITCH_SECONDS = 0.0005  # a working thread yields to the event loop after this time
_GRACE_SECONDS = 30  # for running requests at shutdown

_ABORTED = "stopped at once: running requests are not answered"

log = logging.getLogger("pagekin.serving")


def listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        # With the protocol given, asyncio sets TCP_NODELAY; otherwise each answer waits 40 ms for an acknowledgement.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError:
            listener.close()
            raise
        return listener
    except OSError as error:
        problem = f"cannot listen on port {port} of {host}: {error.strerror or error}"
        raise FailureError(f"{problem}; choose another one with --port, or 0 for any free port") from error


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def run(
    root: str, settings: ServerSettings, listener: socket.socket, workers: int, ready: Callable[[], object]
) -> None:
    """Serve until a signal arrives, in this process or in several that share the socket and the mapped files.

    `ready` is called when all processes have loaded the store and what they need to answer.
    """
    if workers == 1:
        _Server(root, settings, ready).run_on(listener)
    else:
        _Workers(root, settings, listener, workers, ready).run()


class _Server(uvicorn.Server):
    def __init__(
        self, root: str, settings: ServerSettings, ready: Callable[[], object], counts: Any = None, worker: int = 0
    ) -> None:
        self._ready, self._limits = ready, settings.limits
        config = uvicorn.Config(
            lambda: make_app(CurrentGeneration(root), settings, Metrics(counts, worker)),
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

    def run_on(self, listener: socket.socket) -> None:
        sys.setswitchinterval(_SWITCH_SECONDS)
        for number in _SIGNALS:  # before uvicorn installs its own handlers; it raises the signals again after stopping
            signal.signal(number, lambda *_: setattr(self, "should_exit", True))
        self.run(sockets=[listener])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])  # uvicorn would accept connections without limits
        uvicorn = {"config": self.config, "server_state": self.server_state, "app_state": self.lifespan.state}
        self.servers = [listen_for(each, self._limits, **uvicorn) for each in sockets or ()]  # type: ignore[misc]
        if not self.should_exit:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop when all requests are answered; a second Ctrl-C stops at once."""
        if self.should_exit and sig == signal.SIGINT:
            log.warning(_ABORTED)
            os._exit(1)
        super().handle_exit(sig, frame)


def _serve_in_worker(
    root: str, settings: ServerSettings, listener: socket.socket, ready: Any, counts: Any, worker: int
) -> None:
    server = _Server(root, settings, ready.release, counts, worker)
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


class _Workers:
    """Worker processes. One that is killed is replaced; one that fails stops them all."""

    def __init__(
        self, root: str, settings: ServerSettings, listener: socket.socket, count: int, ready: Callable[[], object]
    ) -> None:
        self._spawn = multiprocessing.get_context("spawn")
        self._listener = listener
        self._loaded, self._ready = self._spawn.Semaphore(0), ready
        self._arguments = (root, settings, listener, self._loaded, self._spawn.RawArray("d", count * WIDTH))
        self._processes: dict[int, SpawnProcess] = {}
        self._count = count
        self._signals, self._send = self._spawn.Pipe(duplex=False)

    def run(self) -> None:
        for number in _SIGNALS:  # the handlers only forward signals, because they can interrupt anything
            signal.signal(number, lambda number, _: self._send.send_bytes(bytes([number])))
        try:
            for worker in range(self._count):
                self._start(worker)
            threading.Thread(target=self._wait_for_all, daemon=True).start()
            while True:
                ready = wait([self._signals, *(process.sentinel for process in self._processes.values())])
                if self._signals in ready:
                    self._signals.recv_bytes()
                    break
                for worker, process in list(self._processes.items()):
                    if process.sentinel in ready:
                        self._replace(worker, process)
        finally:
            self._stop()

    def _wait_for_all(self) -> None:
        for _ in range(self._count):
            self._loaded.acquire()
        self._ready()

    def _start(self, worker: int) -> None:
        """Start a worker with SIGINT blocked: a terminal sends Ctrl-C to all, but only the parent handles it."""
        process = self._spawn.Process(target=_serve_in_worker, args=(*self._arguments, worker))
        if sys.platform == "win32":
            process.start()
        else:
            resource_tracker.ensure_running()  # otherwise it starts with the first process and unblocks the signal
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._processes[worker] = process

    def _replace(self, worker: int, process: SpawnProcess) -> None:
        process.join()
        code = process.exitcode or 0
        if code > 0:
            raise FailureError("the server has stopped because a worker failed; see the message above")
        how = f"was killed by signal {-code}" if code else "was told to stop"
        log.warning("worker %d (process %d) %s; a new one replaces it", worker + 1, process.pid, how)
        self._start(worker)

    def _stop(self) -> None:
        """Let the workers finish their requests; a second Ctrl-C kills them."""
        self._listener.close()
        for process in self._processes.values():
            process.terminate()
        while alive := [process.sentinel for process in self._processes.values() if process.is_alive()]:
            if self._signals in wait([self._signals, *alive]) and self._signals.recv_bytes() == bytes([signal.SIGINT]):
                for process in self._processes.values():
                    process.kill()
                raise FailureError(_ABORTED)
