"""Run worker processes on one socket, and replace those that die. Light to import: the workers import the rest.

A worker maps the files of the store. If these are changed in place, a worker can die of it (SIGBUS), whatever it checks
before; so also a single one runs in a process of its own.
"""

import errno
import logging
import math
import multiprocessing
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess
from typing import Any

from pagekin.errors import FailureError, is_want_of_memory
from pagekin.serving.metrics import WIDTH
from pagekin.serving.settings import ServerSettings

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_BACKLOG = 2048  # connections waiting to be accepted
_LONGEST_PAUSE = 60.0  # seconds before a worker that dies again and again is replaced
_SOUND_SECONDS = 60.0  # a worker that has lived so long is replaced at once
_CHANGED = "; files of the store were changed in place, which docs/serving.md explains"

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
    """Serve until a signal arrives, in processes that share the socket and the mapped files.

    `ready` is called when all processes have loaded the store and what they need to answer.
    """
    _Workers(root, settings, listener, workers, ready).run()


def _work(*arguments: Any) -> None:
    try:
        from pagekin.serving.server import serve_in_worker  # only here, since the parent does not need it

        serve_in_worker(*arguments)
    except Exception as error:
        if not is_want_of_memory(error):
            raise
        sys.exit(errno.ENOMEM)


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
        self._started: dict[int, float] = {}
        self._pauses: dict[int, float] = {}  # of workers that were replaced: seconds before the last replacement
        self._due: dict[int, float] = {}  # when to start a worker that has ended
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
                timeout = max(0.0, min(self._due.values()) - time.monotonic()) if self._due else None
                ready = wait([self._signals, *(process.sentinel for process in self._processes.values())], timeout)
                if self._signals in ready:
                    self._signals.recv_bytes()
                    break
                for worker, process in list(self._processes.items()):
                    if process.sentinel in ready:
                        self._replace(worker, process)
                for worker in [each for each, due in self._due.items() if due <= time.monotonic()]:
                    self._start(worker)
        finally:
            self._stop()

    def _wait_for_all(self) -> None:
        for _ in range(self._count):
            self._loaded.acquire()
        self._ready()

    def _start(self, worker: int) -> None:
        """Start a worker with SIGINT blocked: a terminal sends Ctrl-C to all, but only the parent handles it."""
        process = self._spawn.Process(target=_work, args=(*self._arguments, worker, worker in self._pauses))
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
        self._started[worker] = time.monotonic()
        self._due.pop(worker, None)

    def _replace(self, worker: int, process: SpawnProcess) -> None:
        process.join()
        code = process.exitcode or 0
        if code == errno.ENOMEM:
            raise MemoryError
        if code > 0:
            raise FailureError("the server has stopped because a worker failed; see the message above")
        how = f"was killed by signal {-code}" if code else "was told to stop"
        why = _CHANGED if -code == getattr(signal, "SIGBUS", math.inf) else ""
        log.warning("worker %d (process %d) %s; a new one replaces it%s", worker + 1, process.pid, how, why)
        del self._processes[worker]
        now, before = time.monotonic(), self._pauses.get(worker)
        sound = before is None or now - self._started[worker] > _SOUND_SECONDS
        self._pauses[worker] = 0.0 if sound else min(2 * (before or 0.5), _LONGEST_PAUSE)
        self._due[worker] = now + self._pauses[worker]

    def _stop(self) -> None:
        """Let the workers finish their requests; a second Ctrl-C kills them."""
        self._listener.close()
        for process in self._processes.values():
            process.terminate()
        while alive := [process.sentinel for process in self._processes.values() if process.is_alive()]:
            if self._signals in wait([self._signals, *alive]) and self._signals.recv_bytes() == bytes([signal.SIGINT]):
                for process in self._processes.values():
                    process.kill()
                raise FailureError("stopped immediately; running requests were not answered")
