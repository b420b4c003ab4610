"""The sample web, served."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from pagekin import village
from pagekin.pipeline import build
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings

Serve = Callable[..., TestClient]


@pytest.fixture(scope="session")
def village_kin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample web as a store, not to be changed."""
    folder = tmp_path_factory.mktemp("served")
    village.write_warc(folder / "village.warc.gz")
    build([folder / "village.warc.gz"], folder / "village.kin")
    return folder / "village.kin"


@pytest.fixture(scope="session")
def current(village_kin: Path) -> CurrentGeneration:
    return CurrentGeneration(village_kin)


@pytest.fixture(scope="session")
def client(current: CurrentGeneration) -> Iterator[TestClient]:
    """A server without a network."""
    with TestClient(make_app(current)) as client:
        yield client


@pytest.fixture
def serve(current: CurrentGeneration) -> Iterator[Serve]:
    """A server with settings of its own."""
    clients: list[TestClient] = []

    def make(settings: ServerSettings) -> TestClient:
        clients.append(TestClient(make_app(current, settings), raise_server_exceptions=False))
        return clients[-1].__enter__()

    yield make
    for client in clients:
        client.__exit__(None, None, None)
