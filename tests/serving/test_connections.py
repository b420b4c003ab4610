"""Connections that keep the server waiting, and more of them than it can have. Time passes by calls of `sweep`."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
import uvicorn
from uvicorn.server import ServerState

from pagekin.errors import FailureError
from pagekin.serving import connections
from pagekin.serving.connections import Connection, Connections, Listener, capacity
from pagekin.serving.settings import RequestLimits
from pagekin.serving.workers import listen
from serving.processes import PATIENCE, announced

LIMITS = RequestLimits(head_seconds=10, seconds=20, reading_seconds=60)
ANSWER = b"HTTP/1.1 200 OK"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers /large with more than fits into the buffers of a connection, /body with the length of the body."""
    if scope["path"] == "/slow":
        await asyncio.Event().wait()
    length = 0
    while scope["path"] == "/body":
        message = await receive()
        length += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    body = bytes(30_000_000) if scope["path"] == "/large" else b"%d" % length
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


class Served:
    """A listener in this event loop, whose time stands still."""

    def __init__(self, limits: RequestLimits, capacity: int) -> None:
        self.socket = listen("127.0.0.1", 0)
        self.connections = Connections(limits, capacity)
        config = uvicorn.Config(app, http="h11", log_level="critical", h11_max_incomplete_event_size=1 << 20)
        make = partial(Connection, self.connections, config=config, server_state=ServerState(), app_state={})
        self.listener = Listener(self.socket, self.connections, make)
        self.writers: list[asyncio.StreamWriter] = []

    async def open(self, source: str = "127.0.0.1") -> Streams:
        address = self.socket.getsockname()[:2]
        reader, writer = await asyncio.open_connection(*address, local_addr=(source, 0))
        self.writers.append(writer)
        return reader, writer

    async def connect(self, data: bytes = b"", source: str = "127.0.0.1") -> Streams:
        """Connect, send something, and wait until the server has the connection."""
        before = len(self.connections)
        reader, writer = await self.open(source)
        writer.write(data)
        await until(lambda: len(self.connections) > before or before >= self.connections._capacity)
        return reader, writer

    def all(self) -> list[Connection]:
        networks = self.connections._open.values()
        return [each for network in networks for each in (*network.silent, *network.active)]

    def after(self, seconds: float) -> None:
        """Let time pass: the first call sees in which state a connection is, the second how long it lasts."""
        self.connections.sweep(0.0)
        self.connections.sweep(seconds)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # the test fails by the time limit of the whole run
        await asyncio.sleep(0.01)


@asynccontextmanager
async def serving(
    monkeypatch: pytest.MonkeyPatch, limits: RequestLimits = LIMITS, capacity: int = 100
) -> AsyncIterator[Served]:
    monkeypatch.setattr(connections, "_SWEEP_SECONDS", 3600.0)
    served = Served(limits, capacity)
    try:
        yield served
    finally:
        served.listener.close()
        await served.listener.wait_closed()
        served.socket.close()
        for writer in served.writers:
            writer.transport.abort()
        await until(lambda: not len(served.connections))


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await test()

    asyncio.run(bounded())


async def is_closed(streams: Streams) -> bool:
    """Wait for the end of a connection; whether it ended without an answer."""
    try:
        return await streams[0].read() == b""
    except ConnectionError:
        return True


WAITING = {
    "nothing": b"",
    "part of a line": b"GET /healthz HT",
    "part of a head": b"GET / HTTP/1.1\r\nHost: a\r\nX-a: ",
}


@pytest.mark.parametrize("sent", WAITING.values(), ids=WAITING)
def test_a_client_that_does_not_send_its_head_is_disconnected(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    async def test() -> None:
        async with serving(monkeypatch) as served:
            streams = await served.connect(sent)
            served.after(9)
            assert len(served.connections) == 1
            streams[1].write(b"a")  # a byte now and then does not help
            served.after(1)
            assert await is_closed(streams)
            assert len(served.connections) == 0

    run(test)


def test_the_time_for_a_head_begins_again_with_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with serving(monkeypatch) as served:
            reader, writer = await served.connect()
            for _ in range(3):
                served.after(9)
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                assert (await reader.readuntil(b"\r\n\r\n0")).startswith(ANSWER)

    run(test)


@pytest.mark.parametrize("path", ["/body", "/"])
def test_a_client_that_does_not_send_its_body_is_disconnected(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    """Also where the answer does not need the body, and was sent."""

    async def test() -> None:
        async with serving(monkeypatch) as served:
            reader, writer = await served.connect(
                f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1".encode()
            )
            if path == "/":
                await reader.readuntil(b"\r\n\r\n0")
            [connection] = served.all()
            await until(lambda: connection.waits_for() is connections.Wait.BODY)
            served.after(20)
            assert len(served.connections) == 1
            writer.write(b"2")
            served.after(3)
            served.after(20 + 2 * 3600)  # the tests have set the interval, which is added twice
            assert await is_closed((reader, writer))

    run(test)


def test_a_client_that_does_not_read_its_answer_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with serving(monkeypatch) as served:
            client = socket.create_connection(served.socket.getsockname())
            client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            await until(lambda: len(served.connections) == 1)
            [connection] = served.all()
            await until(lambda: connection.waits_for() is connections.Wait.READING)
            served.after(59)
            assert len(served.connections) == 1
            served.after(1)
            assert len(served.connections) == 0
            client.close()

    run(test)


def test_a_server_at_work_is_not_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with serving(monkeypatch) as served:
            await served.connect(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            [connection] = served.all()
            await until(lambda: connection.waits_for() is None)
            served.after(1e9)
            assert len(served.connections) == 1

    run(test)


GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


async def get(streams: Streams) -> None:
    streams[1].write(GET)
    assert (await streams[0].readuntil(b"\r\n\r\n0")).startswith(ANSWER)


def test_a_flood_of_silent_connections_displaces_itself_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with serving(monkeypatch, capacity=12) as served:  # half of them are for one address
            first, second = await served.connect(), await served.connect()
            await get(first)
            await get(second)
            silent = [await served.connect(b"GET "[:k]) for k in range(4)]
            for gone in silent:
                silent.append(await served.open())
                assert await is_closed(gone)
                if len(silent) == 12:
                    break
            await get(first)
            await get(second)
            await get(silent[-1])
            assert len(served.connections) == 6

    run(test)


def test_a_flood_of_slow_requests_displaces_itself_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"

    async def test() -> None:
        async with serving(monkeypatch, capacity=12) as served:
            flood = [await served.connect(slow) for _ in range(4)]
            await until(lambda: len(next(iter(served.connections._open.values())).active) == 4)
            new, client = await served.connect(), await served.connect()
            await get(client)
            for gone in flood:
                flood.append(await served.open())
                flood[-1][1].write(slow)
                assert await is_closed(gone)
                await until(lambda: len(next(iter(served.connections._open.values())).active) == 5)
                await get(client)
                if len(flood) == 12:
                    break
            await get(new)
            assert len(served.connections) == 6

    run(test)


def test_clients_that_send_at_once_are_answered_or_refused_but_not_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are accepted together displace nobody whose request has arrived, but was not read yet."""

    async def test() -> None:
        async with serving(monkeypatch, capacity=12) as served:
            clients = [socket.create_connection(served.socket.getsockname()) for _ in range(30)]
            for client in clients:  # the event loop has not run yet
                client.sendall(GET)
            found = []
            for client in clients:
                reader, writer = await asyncio.open_connection(sock=client)
                served.writers.append(writer)
                found.append((await reader.readuntil(b"\r\n"))[9:12])
            assert set(found) == {b"200", b"503"}
            assert found[:6] == [b"200"] * 6

    run(test)


def test_an_address_with_many_connections_makes_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with serving(monkeypatch, capacity=8) as served:
            for source, count in (("127.0.0.2", 4), ("127.0.0.3", 3), ("127.0.0.4", 1), ("127.0.0.5", 1)):
                for _ in range(count):
                    await served.connect(b"GET ", source)
                    await asyncio.sleep(0.05)
            await until(lambda: "127.0.0.5" in served.connections._open)
            counts = {network: len(same) for network, same in served.connections._open.items()}
            assert counts == {"127.0.0.2": 3, "127.0.0.3": 3, "127.0.0.4": 1, "127.0.0.5": 1}

    run(test)


def test_where_all_connections_are_being_answered_a_new_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with serving(monkeypatch, capacity=2) as served:
            await served.connect(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
            [connection] = served.all()
            await until(lambda: connection.waits_for() is None)
            reader, _ = await served.open()
            assert (await reader.read()).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
            assert len(served.connections) == 1

    run(test)


@pytest.mark.parametrize(
    ("sent", "status"), [(b"GET /?" + b"a" * 900_000, b"414"), (b"GET / HTTP/1.1\r\nX: " + b"a" * 900_000, b"431")]
)
def test_a_head_that_is_too_long_is_refused_before_it_is_complete(
    monkeypatch: pytest.MonkeyPatch, sent: bytes, status: bytes
) -> None:
    async def test() -> None:
        async with serving(monkeypatch) as served:
            reader, _ = await served.connect(sent)
            assert (await reader.read()).startswith(b"HTTP/1.1 " + status)

    run(test)


def test_the_networks_of_ipv6_clients_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "__init__", lambda self: None)
    found = []
    for host in ("2001:db8::1", "2001:db8::2:3", "2001:db8:0:1::1", "::ffff:192.0.2.1", "192.0.2.1", "fe80::1%eth0"):
        connection = Connection()  # type: ignore[call-arg]
        connection.client = (host, 1)
        found.append(connection.network)
    assert found[0] == found[1] != found[2]
    assert found[3] == found[4] == "192.0.2.1"
    assert found[5] not in found[:5]


def test_without_descriptors_the_listener_pauses_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls, pauses = [], []

    async def test() -> None:
        async with serving(monkeypatch) as served:
            loop, sleep = asyncio.get_running_loop(), asyncio.sleep
            accept = loop.sock_accept

            async def accept_late(listener: socket.socket) -> Any:
                calls.append(1)
                if len(calls) < 50:
                    raise OSError(errno.EMFILE, "Too many open files")
                return await accept(listener)

            async def no_sleep(seconds: float) -> None:
                pauses.append(seconds)
                await sleep(0)

            monkeypatch.setattr(loop, "sock_accept", accept_late)
            monkeypatch.setattr(asyncio, "sleep", no_sleep)
            reader, writer = await served.open()
            writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert (await reader.readuntil(b"\r\n\r\n0")).startswith(ANSWER)
            monkeypatch.setattr(asyncio, "sleep", sleep)

    with caplog.at_level(logging.WARNING):
        run(test)
    assert [record.getMessage() for record in caplog.records] == [
        "no connections can be accepted now: Too many open files"
    ]
    assert pauses.count(connections._PAUSE_SECONDS) == 49


def test_closed_connections_are_logged_at_most_once_a_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        async with serving(monkeypatch) as served:
            for _ in range(3):
                streams = await served.connect()
                served.after(10)
                assert await is_closed(streams)
            for _ in range(200):
                served.connections.sweep(0.0)

    with caplog.at_level(logging.WARNING):
        run(test)
    assert [record.getMessage() for record in caplog.records] == [
        "3 slow or surplus connections were closed; 0 are open"
    ]


def test_a_connection_that_is_closed_for_want_of_memory_is_logged_in_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loop = asyncio.new_event_loop()
    connections.report_error(loop, {"message": "Fatal read error", "exception": MemoryError()})
    connections.report_error(loop, {"message": "Fatal read error", "exception": KeyError("a")})
    loop.close()
    first, second = caplog.records
    assert (first.getMessage(), first.exc_info) == ("a connection was closed: there is not enough memory", None)
    assert second.exc_info


def test_there_are_as_many_connections_as_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    limits = [(400, 1000)]
    monkeypatch.setattr(resource, "getrlimit", lambda _: limits[-1])
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: limits.append(pair))
    monkeypatch.setattr(Path, "iterdir", lambda _: iter(range(100)))
    assert capacity(600) == 600
    assert limits[-1] == (932, 1000)  # three times what is open now, 32, and the connections
    assert capacity(1000) == 668
    assert limits[-1] == (1000, 1000)
    limits.append((330, 330))
    with pytest.raises(FailureError, match=r"340 open files.* ulimit -n"):
        capacity(1000)


POST = b"POST /api/related HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SLOW = {  # what a client sends at first, and then again and again
    "nothing": (b"", b""),
    "a slow head": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"X-a: b\r\n"),
    "a slow body": (POST + b"Content-Length: 8000000\r\n\r\n", b" "),
    "slow reading": (b"GET /static/page.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * 10, b""),
}


@pytest.fixture
def descriptors() -> Iterator[None]:
    """Enough of them for the sockets of a test."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2000 if before[1] == resource.RLIM_INFINITY else min(before[1], 2000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(before[0], wanted), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.slow
@pytest.mark.usefixtures("descriptors")
@pytest.mark.parametrize(("sent", "then"), SLOW.values(), ids=SLOW)
def test_slow_clients_lock_nobody_out(served_index: Path, sent: bytes, then: bytes) -> None:
    """A thousand of them, where the server may open 1,024 files; longer: `python -m benchmarks.slow_clients`."""
    with announced("serve", str(served_index), "--port", "0", descriptors=1024) as server:
        idle = []
        try:
            for number in range(1000):
                client = socket.socket()
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.settimeout(PATIENCE)
                client.connect(("127.0.0.1", urlsplit(server.url).port or 0))
                idle.append(client)
                client.sendall(sent)
                if number % 100 == 99:
                    for each in idle if then else ():
                        with suppress(ConnectionError):  # closed, in favour of another one
                            each.sendall(then)
                    assert httpx2.get(f"{server.url}healthz", timeout=PATIENCE).status_code == 200
        finally:
            for each in idle:
                each.close()
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0
        assert len(server.rest()) < 1000
