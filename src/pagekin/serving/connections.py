"""Connections of clients: how many may be open, and how long a client may keep the server waiting.

uvicorn limits only the time between two requests. Here a connection is also closed if the head or the body of a request
does not arrive, or if an answer is not read. If too many connections are open, the one that has kept the server waiting
longest gives way to a new one, so that silent clients cannot lock others out.
"""

import asyncio
import errno
import logging
import socket
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import partial
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address
from itertools import chain
from pathlib import Path
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from pagekin.errors import FailureError, is_want_of_memory
from pagekin.serving.middleware import HEADERS, RequestError
from pagekin.serving.settings import RequestLimits

_SWEEP_SECONDS = 1.0
_ACCEPTED_AT_ONCE = 100
_TURNS = 3  # of the event loop until a new connection is read from: its reader is added in one, and polled in the next
_PAUSE_SECONDS = 1.0  # before connections are accepted again, if there was no descriptor
_LOG_SWEEPS = 60  # between two messages about connections that were closed
_GENERATIONS = 3  # which may be open at once: one is served, one is opened, one still has requests
_SPARE_DESCRIPTORS = 32
_FEWEST = 8  # connections with which a server is of use
_LINGER_SECONDS = 5  # for a client to read why its request is refused

log = logging.getLogger("pagekin.serving")


class Wait(Enum):
    """What the server waits for."""

    HEAD = "the head of a request"
    BODY = "the body of a request"
    READING = "the client to read its answer"
    LEAVING = "a client that was refused to close its connection"


class Connection(H11Protocol):
    """A connection that is closed when its client keeps the server waiting too long."""

    def __init__(self, others: "Connections", **uvicorn: Any) -> None:
        super().__init__(**uvicorn)
        self._others = others
        self._head_bytes = 0  # of an incomplete head
        self._refused = False
        self._last: tuple[Wait | None, object] = (None, None)
        self.waited = 0.0  # seconds in the present state
        self.is_heard = False  # whether what the client sent at once was read

    @property
    def network(self) -> str:
        """The address of the client; for IPv6 the /64 network, since one client usually has a whole one."""
        host = self.client[0] if self.client else ""
        with suppress(ValueError):
            address = ip_address(host.partition("%")[0])
            if isinstance(address, IPv6Address):
                return str(address.ipv4_mapped or address.packed[:8].hex())
        return host

    def waits_for(self) -> Wait | None:
        """Return what the client has to do, or None if the server is at work."""
        if self._refused:
            return Wait.LEAVING
        if self.transport.get_write_buffer_size():
            return Wait.READING
        return {h11.IDLE: Wait.HEAD, h11.SEND_BODY: Wait.BODY}.get(self.conn.their_state)

    def wait(self, seconds: float) -> Wait | None:
        """Count the time in the present state of the present request, and return what the server waits for."""
        now = self.waits_for(), self.cycle
        self.waited = self.waited + seconds if now == self._last else 0.0
        self._last = now
        return now[0]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self._others.add(self):
            self._refuse(RequestError(503, "Too many connections are open; try again.", retry_after=1))
            transport.close()
        self._hear(_TURNS)

    def _hear(self, turns: int) -> None:
        """Let the event loop read from the connection before it counts as one that keeps the server waiting."""
        if turns:
            self.loop.call_soon(self._hear, turns - 1)
        self.is_heard = not turns

    def connection_lost(self, exc: Exception | None) -> None:
        self._others.remove(self)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._others.note_progress(self)
        super().on_response_complete()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._others.note_progress(self)
        self._head_bytes = self._head_bytes + len(data) if self.conn.their_state is h11.IDLE else 0
        if self._head_bytes > self._others.limits.head_bytes:
            status = 431 if b"\n" in self.conn.trailing_data[0] else 414
            detail = f"A request may have {self._others.limits.head_bytes:,} bytes before its body."
            self._refuse(RequestError(status, detail))
            self.transport.write_eof()  # not closed yet: a client that is still sending would not see the answer

    def _refuse(self, error: RequestError) -> None:
        self._refused = True
        response = error.response()
        headers = [*response.raw_headers, *HEADERS, (b"connection", b"close")]
        status = f"HTTP/1.1 {response.status_code} {HTTPStatus(response.status_code).phrase}".encode("ascii")
        lines = [status, *(name + b": " + value for name, value in headers), b"", bytes(response.body)]
        self.transport.write(b"\r\n".join(lines))

    def abort(self) -> None:
        self._others.remove(self)
        self.transport.abort()


class _Network:
    """The connections of one network: without a request so far, and with one; both by their last progress."""

    def __init__(self) -> None:
        self.silent: dict[Connection, None] = {}
        self.active: dict[Connection, None] = {}

    def __len__(self) -> int:
        return len(self.silent) + len(self.active)

    def first_waiting(self) -> Connection | None:
        """Return the connection of the more numerous kind that has kept the server waiting longest, or of the other.

        A flood of one kind so displaces itself, and neither a client that has just connected nor one that comes back.
        """
        kinds = sorted((self.silent, self.active), key=len, reverse=True)
        return next((each for each in chain(*kinds) if each.is_heard and each.waits_for()), None)

    def remove(self, connection: Connection) -> int:
        found = connection in self.silent or connection in self.active
        self.silent.pop(connection, None)
        self.active.pop(connection, None)
        return int(found)


class Connections:
    """The open connections, by the network of their client."""

    def __init__(self, limits: RequestLimits, capacity: int) -> None:
        self.limits = limits
        self._capacity = capacity
        self._per_network = max(1, capacity // 2)
        self._open: defaultdict[str, _Network] = defaultdict(_Network)
        self._count = 0
        self._closed = self._sweeps = 0  # for the log
        self._seconds = {
            Wait.HEAD: limits.head_seconds,
            Wait.BODY: limits.seconds + 2 * _SWEEP_SECONDS,  # a handler that reads the body answers with 408 before
            Wait.READING: limits.reading_seconds,
            Wait.LEAVING: _LINGER_SECONDS,
        }

    def __len__(self) -> int:
        return self._count

    def add(self, new: Connection) -> bool:
        """Add a connection, if need be in the place of one that keeps the server waiting. False: there is no place."""
        full, same = self._count >= self._capacity, self._open[new.network]
        if full or len(same) >= self._per_network:
            self._closed += 1
            waiting = (max(self._open.values(), key=len) if full else same).first_waiting()
            if waiting is None:
                return False
            waiting.abort()
        self._open[new.network].silent[new] = None
        self._count += 1
        return True

    def note_progress(self, connection: Connection) -> None:
        """A request has begun or is answered."""
        network = self._open.get(connection.network)
        if network is not None and network.remove(connection):  # not of one that was refused
            network.active[connection] = None

    def remove(self, connection: Connection) -> None:
        network = self._open[connection.network]
        self._count -= network.remove(connection)
        if not network:
            del self._open[connection.network]

    def sweep(self, seconds: float = _SWEEP_SECONDS) -> None:
        """Close connections that have waited too long. Called at this interval, it does not read the clock: a process
        that was suspended closes nothing.
        """
        for each in [each for network in self._open.values() for each in chain(network.silent, network.active)]:
            waiting = each.wait(seconds)
            if waiting is not None and each.waited >= self._seconds[waiting]:
                self._closed += 1
                each.abort()
        self._sweeps += 1
        if self._closed and self._sweeps >= _LOG_SWEEPS:
            log.warning("%d slow or surplus connections were closed; %d are open", self._closed, self._count)
            self._closed = self._sweeps = 0


class Listener:
    """Accepts connections, and sweeps them. It pauses while there is no descriptor for another one."""

    def __init__(self, listener: socket.socket, connections: Connections, protocol: Callable[[], Connection]) -> None:
        listener.setblocking(False)
        self._socket, self._connections, self._protocol = listener, connections, protocol
        self._tasks = [asyncio.create_task(self._accept()), asyncio.create_task(self._sweep())]

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        short = False
        while True:
            try:
                clients = [(await loop.sock_accept(self._socket))[0]]
            except OSError as error:
                if error.errno == errno.ECONNABORTED:  # the client has left
                    continue
                if not short:
                    log.warning("no connections can be accepted now: %s", error.strerror)
                short = True
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            short = False
            with suppress(OSError):  # until no more are waiting: a busy event loop seldom comes back
                while len(clients) < _ACCEPTED_AT_ONCE:
                    clients.append(self._socket.accept()[0])
            await asyncio.gather(
                *(loop.connect_accepted_socket(self._protocol, client) for client in clients), return_exceptions=True
            )

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            self._connections.sweep()

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def wait_closed(self) -> None:
        await asyncio.gather(*self._tasks, return_exceptions=True)


def listen_for(listener: socket.socket, limits: RequestLimits, **uvicorn: Any) -> Listener:
    """Accept connections in the running event loop, after the collection is open."""
    asyncio.get_running_loop().set_exception_handler(report_error)
    connections = Connections(limits, capacity(limits.connections))
    return Listener(listener, connections, partial(Connection, connections, **uvicorn))


def report_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log an error of the event loop; want of memory, by which it closes a connection, in one line."""
    if is_want_of_memory(context.get("exception")):
        log.error("a connection was closed: there is not enough memory")
    else:
        loop.default_exception_handler(context)


def capacity(wanted: int) -> int:
    """Return the number of connections for which this process has descriptors, beside those of new generations."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return wanted
    needed = _GENERATIONS * len(list(Path("/dev/fd").iterdir())) + _SPARE_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed + wanted:
        soft = needed + wanted if hard == resource.RLIM_INFINITY else min(hard, needed + wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    free = wanted if soft == resource.RLIM_INFINITY else min(wanted, soft - needed)
    if free < _FEWEST:
        raise FailureError(
            f"a server needs {needed + _FEWEST} open files, but the limit is {soft}; raise it with ulimit -n"
        )
    return free
