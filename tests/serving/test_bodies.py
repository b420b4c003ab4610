"""Bodies of requests: what the server holds of them, and what it parses."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import ClientDisconnect, Request

from pagekin.serving.bodies import Bodies, count_values, parse_json
from pagekin.serving.middleware import RequestError
from pagekin.serving.settings import RequestLimits, ServerSettings
from serving.conftest import Serve

LIMITS = RequestLimits(body_bytes=100, all_body_bytes=200, seconds=600)


class Sending:
    """A client that sends a body piece by piece."""

    def __init__(self, bodies: Bodies, client: str) -> None:
        self.pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self.received = asyncio.Event()
        self.answered = asyncio.Event()
        scope = {"type": "http", "client": (client, 1), "headers": []}
        request = Request(scope, self._receive)
        self.task = asyncio.create_task(self._read(bodies, request))

    async def _receive(self) -> dict[str, Any]:
        piece = await self.pieces.get()
        return {"type": "http.request", "body": piece, "more_body": piece != b""}

    async def _read(self, bodies: Bodies, request: Request) -> bytes:
        async with bodies.read(request) as body:
            self.received.set()
            await self.answered.wait()
            return bytes(body)

    async def send(self, length: int) -> None:
        self.pieces.put_nowait(bytes(length))
        for _ in range(5):  # the reader runs
            await asyncio.sleep(0)

    async def status(self) -> int:
        """The status with which it is refused."""
        with pytest.raises(RequestError) as refused:
            await self.task
        return refused.value.status

    async def end(self) -> int:
        """End the body and its request; the length of the body."""
        self.pieces.put_nowait(b"")
        self.answered.set()
        return len(await self.task)


def test_the_bodies_of_one_client_and_of_all_clients_are_limited() -> None:
    async def test() -> None:
        bodies = Bodies(LIMITS)
        one, two, three, four = (Sending(bodies, client) for client in ("1.1.1.1", "1.1.1.1", "2.2.2.2", "3.3.3.3"))
        await one.send(60)
        await two.send(41)  # over half of what is for all
        assert await two.status() == 429
        await three.send(90)
        await four.send(51)
        assert await four.status() == 503
        await one.send(40)  # what was refused does not count any more
        assert (await one.end(), await three.end()) == (100, 90)
        for client in ("3.3.3.3", "1.1.1.1"):
            again = Sending(bodies, client)
            await again.send(100)
            assert await again.end() == 100

    asyncio.run(test())


def test_a_body_counts_until_its_request_is_answered() -> None:
    async def test() -> None:
        bodies = Bodies(LIMITS)
        one, two = Sending(bodies, "1.1.1.1"), Sending(bodies, "1.1.1.1")
        await one.send(60)
        await one.send(0)
        await one.received.wait()
        await two.send(41)
        assert await two.status() == 429
        assert await one.end() == 60

    asyncio.run(test())


def test_a_body_over_the_limit_is_refused_while_it_arrives() -> None:
    async def test() -> None:
        sending = Sending(Bodies(LIMITS), "1.1.1.1")
        await sending.send(101)
        assert await sending.status() == 413

    asyncio.run(test())


def test_a_body_is_parsed_only_when_its_request_is_admitted(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    monkeypatch.setattr("pagekin.serving.bodies.json", SimpleNamespace(loads=lambda *_, **__: parsed.append(1)))
    client = serve(ServerSettings(limits=RequestLimits(per_client=1)))
    client.app.state.context.threads._active["testclient"] += 1  # type: ignore[attr-defined]
    assert client.post("/api/related", json={"text": "oak"}).status_code == 429
    assert parsed == []


def test_a_million_empty_objects_are_not_parsed(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    monkeypatch.setattr("pagekin.serving.bodies.json", SimpleNamespace(loads=lambda *_, **__: parsed.append(1)))
    client = serve(ServerSettings())
    for path in ("/api/duplicates", "/api/related"):
        body = b"[" + b"{}," * 1_000_000 + b"{}]"
        answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422
        assert answer.json()["detail"] == "The body has too many values; at most 200,000 are allowed."
    assert parsed == []


def test_other_encodings_cannot_hide_values() -> None:
    """In UTF-16, a letter can contain the byte of a quotation mark."""
    for encoding in ("utf-16", "utf-16-le", "utf-32"):
        with pytest.raises(RequestError, match="not valid JSON"):
            parse_json('["∢", {}, {}]'.encode(encoding), RequestLimits())
    assert parse_json('{"a": 1}'.encode("utf-8-sig"), RequestLimits()) == {"a": 1}


def marks(value: object) -> int:
    """The commas between values, and the opening brackets."""
    if not isinstance(value, list | dict):
        return 0
    children = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(0, len(children) - 1) + sum(map(marks, children))


TEXTS = st.text(alphabet='",[{\\\u2022a', max_size=8)
VALUES = st.recursive(
    TEXTS | st.integers() | st.booleans(), lambda each: st.lists(each) | st.dictionaries(TEXTS, each), max_leaves=20
)


@given(VALUES, st.booleans())
def test_values_are_counted_outside_of_strings(value: object, ascii: bool) -> None:
    assert count_values(json.dumps(value, ensure_ascii=ascii).encode()) == 1 + marks(value)


def test_a_client_that_leaves_is_not_an_error_of_the_server(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def leave(_: Request) -> AsyncIterator[bytes]:
        yield b"{"
        raise ClientDisconnect

    monkeypatch.setattr("pagekin.serving.bodies.Request.stream", leave)
    client = serve(ServerSettings())
    with caplog.at_level(logging.WARNING):
        assert client.post("/api/related", json={"text": "oak"}).status_code == 400
    assert caplog.records == []
    assert 'pagekin_requests_total{path="/api/related",status="4xx"} 1' in client.get("/metrics").text
