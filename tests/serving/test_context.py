"""Limits on running and queued requests."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from pagekin.serving.context import RequestThreads
from pagekin.serving.middleware import RequestError
from pagekin.serving.settings import RequestLimits, ServerSettings


def request(client: str) -> HTTPConnection:
    return HTTPConnection({"type": "http", "client": (client, 1), "headers": []})


async def refused(pool: RequestThreads, client: str) -> int:
    with pytest.raises(RequestError) as told:
        await pool.run(request(client), int)
    return told.value.status


def in_a_loop(pool: RequestThreads, work: Any) -> None:
    try:
        asyncio.run(work)
    finally:
        pool.close()


def test_requests_of_one_client_and_of_all_clients_are_limited() -> None:
    pool = RequestThreads(ServerSettings(threads=1, limits=RequestLimits(queued=2, per_client=2)))
    gate = threading.Event()

    async def asked() -> None:
        places = [asyncio.create_task(pool.run(request("1.1.1.1"), gate.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        assert await refused(pool, "1.1.1.1") == 429
        places.append(asyncio.create_task(pool.run(request("2.2.2.2"), gate.wait)))
        await asyncio.sleep(0)
        assert await refused(pool, "3.3.3.3") == 503
        gate.set()
        assert await asyncio.gather(*places) == [True, True, True]
        await asyncio.sleep(0)
        assert await pool.run(request("1.1.1.1"), lambda: "again") == "again"

    in_a_loop(pool, asked())


def test_a_call_over_the_time_limit_counts_until_it_ends() -> None:
    pool = RequestThreads(ServerSettings(threads=1, limits=RequestLimits(queued=1, per_client=1, seconds=0.01)))
    gate, done = threading.Event(), threading.Event()

    def work() -> None:
        gate.wait()
        done.set()

    async def asked() -> None:
        with pytest.raises(RequestError, match=r"within 0\.01 seconds") as told:
            await pool.run(request("1.1.1.1"), work)
        assert (told.value.status, told.value.headers) == (503, {"Retry-After": "10"})
        assert await refused(pool, "1.1.1.1") == 429
        gate.set()
        await asyncio.to_thread(done.wait)

    in_a_loop(pool, asked())


def test_an_error_of_a_call_is_raised_to_its_caller() -> None:
    pool = RequestThreads(ServerSettings())

    async def asked() -> None:
        with pytest.raises(ZeroDivisionError):
            await pool.run(request("1.1.1.1"), lambda: 1 // 0)

    in_a_loop(pool, asked())
