"""Views that take long: nobody gets an error, the others are answered meanwhile, and the work is done once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from pagekin.errors import MisuseError
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import RequestLimits, ServerSettings
from pagekin.serving.views import collection
from pagekin.serving.views.collection import SampleResult
from serving.processes import PATIENCE

SLOW = "/collection/bridges"


class Gate:
    """Bridges that are not found before the gate is open; the limits of the server are far below that."""

    def __init__(self) -> None:
        self.opened, self.calls = threading.Event(), 0

    def bridges(self, indexed: Any, analysis: Any, over: Any) -> Any:
        self.calls += 1
        for _ in over([None] * 3):
            self.opened.wait(PATIENCE)
        return SampleResult(3, [])


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    monkeypatch.setattr(collection, "bridges", gate.bridges)
    yield gate
    gate.opened.set()


@contextmanager
def impatient(store: Path) -> Iterator[TestClient]:
    """A server with one thread for each kind of views, and hardly any time."""
    settings = ServerSettings(limits=RequestLimits(patience=0.01, seconds=0.01), threads=1)
    with TestClient(make_app(CurrentGeneration(store), settings), raise_server_exceptions=False) as client:
        yield client


def ready(client: TestClient, path: str) -> httpx2.Response:
    """The answer after all that says that it is being computed."""
    end = time.monotonic() + PATIENCE
    while (answer := client.get(path)).status_code == 202 and time.monotonic() < end:
        pass
    return answer


def test_a_slow_view_shows_its_progress_and_then_itself(served_index: Path, gate: Gate) -> None:
    with impatient(served_index) as client:
        page, part = client.get(SLOW), client.get(f"{SLOW}?part=1")
        while " of 3, " not in part.text:  # the thread has not begun
            part = client.get(f"{SLOW}?part=1")
        assert page.status_code == part.status_code == 202
        assert '<meta http-equiv="refresh"' in page.text and "<html" not in part.text
        assert "0 of 3, " in part.text and part.headers["Cache-Control"] == "no-store"
        assert client.get(f"{SLOW}?wait=1").status_code == 202
        gate.opened.set()
        assert ready(client, f"{SLOW}?wait=1").status_code == 204
        pages = [ready(client, SLOW) for _ in range(2)]  # compressed for each request anew
        assert [each.status_code for each in pages] == [200, 200] and pages[0].text == pages[1].text
        assert "None." in ready(client, f"{SLOW}?part=1").text
    assert gate.calls == 1


def test_other_views_are_answered_while_a_slow_one_is_computed(served_index: Path, gate: Gate) -> None:
    with impatient(served_index) as client:
        assert client.get(SLOW).status_code == 202
        for path in ("/", "/search?q=oak", "/compare?a=Oak&b=Oak", "/collection"):
            assert ready(client, path).status_code == 200
        gate.opened.set()


def test_an_error_of_a_slow_view_is_reported_when_it_is_ready(
    served_index: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        gate.opened.wait(PATIENCE)
        raise MisuseError("this cannot be computed")

    monkeypatch.setattr(collection, "bridges", fail)
    with impatient(served_index) as client:
        assert client.get(SLOW).status_code == 202
        gate.opened.set()
        answer = ready(client, SLOW)
    assert answer.status_code == 422 and "this cannot be computed" in answer.text


def test_a_server_that_stops_does_not_wait_for_a_sample_of_pages(
    served_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def endless(_: Any, __: Any, over: Any) -> Any:
        seen.extend(page for page in over(range(1 << 62)) if not page)

    monkeypatch.setattr(collection, "bridges", endless)
    with impatient(served_index) as client:
        while not seen:
            assert client.get(SLOW).status_code == 202
    assert seen == [0]
