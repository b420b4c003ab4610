"""A server from its socket to its last answer."""

from __future__ import annotations

import multiprocessing
import signal
import socket
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from typing import Any

import uvicorn

from pagekin.errors import FailureError
from pagekin.serving.app import make_app
from pagekin.serving.holding import Held
from pagekin.serving.metrics import WIDTH, Metrics
from pagekin.serving.settings import Settings

_GRACE = 30  # seconds for what is running when the server is told to stop


def listening(host: str, port: int) -> socket.socket:
    """A socket on which the server can be reached; 0 is any free port."""
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.socket(kind, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        told = f"port {port} of {host} cannot be listened on: {error.strerror or error}"
        raise FailureError(f"{told}; choose another one with --port, or 0 for any that is free") from error
    listener.set_inheritable(True)
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
        return
    spawning = multiprocessing.get_context("spawn")
    counts = spawning.RawArray("d", workers * WIDTH)
    processes = [spawning.Process(target=_work, args=(root, settings, listener, counts, k)) for k in range(workers)]
    for process in processes:
        process.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: _stop(processes))
    for process in processes:
        process.join()


def _work(root: str, settings: Settings, listener: socket.socket, counts: Any = None, worker: int = 0) -> None:
    """What a worker does."""
    config = uvicorn.Config(
        make_app(Held(root), settings, Metrics(counts, worker)),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _stop(processes: Sequence[BaseProcess]) -> None:
    for process in processes:
        if process.is_alive():
            process.terminate()
