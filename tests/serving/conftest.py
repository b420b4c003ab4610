"""The sample web, served."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings
from serving.processes import patient

Serve = Callable[..., TestClient]


@pytest.fixture(scope="session")
def served_index(sample_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the index of the sample web: some tests add reports to it."""
    return Path(shutil.copytree(sample_index, tmp_path_factory.mktemp("served") / sample_index.name))


@pytest.fixture(scope="session")
def current(served_index: Path) -> CurrentGeneration:
    return CurrentGeneration(served_index)


@pytest.fixture(scope="session")
def client(current: CurrentGeneration) -> Iterator[TestClient]:
    """A server without a network."""
    with TestClient(make_app(current, patient(ServerSettings()))) as client:
        yield client


@pytest.fixture
def serve(current: CurrentGeneration) -> Iterator[Serve]:
    """A server with settings of its own."""
    clients: list[TestClient] = []

    def make(settings: ServerSettings) -> TestClient:
        clients.append(TestClient(make_app(current, patient(settings)), raise_server_exceptions=False))
        return clients[-1].__enter__()

    yield make
    for client in clients:
        client.__exit__(None, None, None)
