"""A store is replaced under load, by `mv` as it should be, or by commands that change files in place."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from starlette.testclient import TestClient

from pagekin.collection.collection import Collection
from pagekin.model.jsons import to_json
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from serving.processes import PATIENCE, running
from serving.test_generations import refresh, write
from serving.test_server import until

PATH = "/api/related?url=http://birds.example/3"
with_rsync = pytest.mark.skipif(shutil.which("rsync") is None, reason="needs rsync (tests/system_tools.sh)")


def two_stores(folder: Path, shards: int = 1) -> tuple[Path, Path]:
    """A store that is served, and one of the same generation with other pages, whose files have the same names."""
    stores = []
    for name, pages in (("live", 20), ("new", 30)):
        (folder / name).mkdir()
        stores.append(write(folder / name, pages, shards))
    return stores[0], stores[1]


def copy(new: Path, live: Path) -> None:
    subprocess.run(["cp", "-r", f"{new}/.", f"{live}/"], check=True)


def copy_in_place(new: Path, live: Path) -> None:
    """Write over the old content, then cut off the rest."""
    for source in sorted(path for path in new.rglob("*") if path.is_file()):
        with (live / source.relative_to(new)).open("r+b") as file:
            file.write(source.read_bytes())
            file.truncate()


def rsync_in_place(new: Path, live: Path) -> None:
    subprocess.run(["rsync", "-r", "--inplace", "--ignore-times", f"{new}/", f"{live}/"], check=True)


def truncate_and_copy(new: Path, live: Path) -> None:
    truncate(live)
    copy(new, live)


def truncate(live: Path) -> None:
    for path in live.rglob("*.npy"):
        with path.open("r+b") as file:
            file.truncate(0)


def move(new: Path, live: Path) -> None:
    live.rename(live.with_suffix(".old"))
    new.rename(live)


def expected(store: Path) -> object:
    indexed = IndexedStore.open(store)
    answer = to_json(Collection(indexed).related(PATH.partition("=")[2], explain=False))
    indexed.close()
    return answer


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deploy", "workers"),
    [
        (move, "1"),
        (copy, "1"),
        (copy, "2"),
        (copy_in_place, "1"),
        pytest.param(rsync_in_place, "1", marks=with_rsync),
        pytest.param(rsync_in_place, "2", marks=with_rsync),
        (truncate_and_copy, "1"),
    ],
)
def test_a_deployed_store_is_served_and_the_server_survives(
    tmp_path: Path, deploy: Callable[[Path, Path], None], workers: str
) -> None:
    live, new = two_stores(tmp_path)
    answer, stop, statuses = expected(new), threading.Event(), []

    def ask(url: str) -> None:
        limit = 0
        while not stop.is_set():
            limit = limit % 100 + 1  # so that few answers come from the cache
            try:
                statuses.append(httpx2.get(f"{url}{PATH[1:]}&limit={limit}", timeout=PATIENCE).status_code)
            except httpx2.TransportError:  # a worker has died
                statuses.append(0)

    def is_new(url: str) -> bool:
        try:
            return bool(httpx2.get(f"{url}healthz", timeout=PATIENCE).json().get("pages") == 30)
        except httpx2.TransportError:
            return False

    with running(live, "--workers", workers) as server:
        asking = threading.Thread(target=ask, args=(server.url,))
        asking.start()
        try:
            until(lambda: len(statuses) > 5, "the first answers")
            deploy(new, live)
            until(lambda: all(is_new(server.url) for _ in range(10)), "the new store")
            assert server.process.poll() is None
            for _ in range(10):
                found = httpx2.get(f"{server.url}{PATH[1:]}", timeout=PATIENCE)
                assert (found.status_code, found.json()) == (200, answer)
        finally:
            stop.set()
            asking.join()
    assert set(statuses) <= ({200} if deploy is move else {200, 503, 0})


@pytest.mark.slow
@pytest.mark.parametrize("shards", [1, 3])
def test_a_server_whose_files_are_cut_off_answers_again_when_they_are_back(tmp_path: Path, shards: int) -> None:
    live, new = two_stores(tmp_path, shards)
    with running(live) as server:
        before = server.children()
        truncate(live)
        until(lambda: status(server.url + PATH[1:]) == 503, "an answer that nothing can be served")
        health = httpx2.get(f"{server.url}healthz", timeout=PATIENCE)
        assert (health.status_code, "where it should have" in health.json()["detail"]) == (503, True)
        copy(new, live)
        until(lambda: status(server.url + PATH[1:]) == 200, "an answer")
        assert server.process.poll() is None
        assert len(server.children()) == len(before)


def status(url: str) -> int:
    try:
        return httpx2.get(url, timeout=PATIENCE).status_code
    except httpx2.TransportError:
        return 0


def test_nothing_is_served_from_a_file_that_was_changed_in_place(tmp_path: Path) -> None:
    live, new = two_stores(tmp_path)
    now = [0.0]
    current = CurrentGeneration(live, lambda: now[0])
    with TestClient(make_app(current), raise_server_exceptions=False) as client:
        assert client.get(PATH).status_code == 200
        file = next(live.glob("index-*/postings.npy"))
        content = file.read_bytes()
        file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))  # of the same size
        assert not refresh(current)
        for path in (PATH, "/", "/healthz"):
            assert client.get(path).status_code == 503, path
        assert "postings.npy does not match its checksum" in client.get("/healthz").json()["detail"]
        assert "pagekin_index_generation 0" in client.get("/metrics").text
        copy(new, live)
        now[0] += 60
        assert refresh(current)
        assert client.get(PATH).json() == expected(new)


def test_a_file_that_was_replaced_or_deleted_is_still_served(tmp_path: Path) -> None:
    live, _ = two_stores(tmp_path)
    current = CurrentGeneration(live)
    for file in live.glob("index-*/*"):
        shutil.copy(file, file.with_suffix(".new"))
        file.with_suffix(".new").rename(file)
    assert not refresh(current)
    assert current.generation.indexed.related("http://birds.example/3")
    shutil.rmtree(live / "store-1")
    assert not refresh(current)
    assert current.generation.indexed.related("http://birds.example/3")


def test_a_store_that_is_not_trusted_is_served_when_it_is_sound(tmp_path: Path) -> None:
    live, new = two_stores(tmp_path)
    now = [0.0]
    truncate(live)
    current = CurrentGeneration(live, lambda: now[0], trusted=False)
    assert (current.is_open, current.number, current.pages) == (False, 0, 0)
    copy(new, live)
    now[0] += 60
    assert refresh(current)
    assert (current.is_open, current.number, current.pages) == (True, 1, 30)
