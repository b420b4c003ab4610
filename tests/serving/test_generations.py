"""A new generation replaces the old one; requests that started on the old one finish on it."""

from __future__ import annotations

import asyncio
import gc
import json
import shutil
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from pagekin.errors import MisuseError, StoreError
from pagekin.model.jsons import to_json
from pagekin.pipeline import build
from pagekin.serving.app import make_app, replace_generation
from pagekin.serving.context import Context
from pagekin.serving.generations import CurrentGeneration, Generation, open_generation
from pagekin.serving.settings import ServerSettings

WORDS = "robin wren heron plover dunlin curlew whimbrel godwit turnstone sanderling knot stint ruff snipe".split()


def write(folder: Path, pages: int, shards: int = 1) -> Path:
    """Build a collection of some pages, each with related pages."""
    rows = []
    for k in range(pages):
        text = f"{' '.join(WORDS[k % 7 :] * 3)} <a href=/{(k + 1) % pages}>{WORDS[k % 9]}</a>"
        rows.append({"url": f"http://birds.example/{k}", "html": f"<title>Bird {k}</title><p>{text}"})
    (folder / "birds.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    build([folder / "birds.jsonl"], folder / "birds.kin", processes=1, shards=shards)
    return folder / "birds.kin"


def refresh(current: CurrentGeneration) -> bool:
    """Serve a newer generation, if one was built; return whether there was one."""
    new = current.open_newer()
    if new is not None:
        current.generation = new
    return new is not None


def test_a_new_generation_is_seen_and_the_old_one_still_answers(tmp_path: Path) -> None:
    current = CurrentGeneration(write(tmp_path, 20))
    old = current.generation
    before = old.indexed.related("http://birds.example/3")
    assert not refresh(current)
    write(tmp_path, 30)
    assert not (tmp_path / "birds.kin" / old.indexed.manifest.folder).exists()
    assert refresh(current)
    assert not refresh(current)
    assert (current.generation.number, len(current.generation.indexed)) == (2, 30)
    assert current.generation.tag != old.tag
    assert old.indexed.related("http://birds.example/3") == before
    assert old.indexed.page(old.indexed.find("http://birds.example/19"))["title"] == "Bird 19"
    row = old.indexed.find("http://birds.example/3")
    assert old.indexed.text(row).endswith("plover")
    assert old.indexed.anchor_texts(old.indexed.find_node("http://birds.example/3")) == [("heron", 1)]
    with old.clusters("http://birds.example/3") as (_, clusters):
        assert len(clusters) >= 1
    with pytest.raises(MisuseError):
        old.indexed.find("http://birds.example/29")


def test_a_generation_that_cannot_be_opened_leaves_the_old_one_in_place(tmp_path: Path) -> None:
    current = CurrentGeneration(write(tmp_path, 20))
    write(tmp_path, 30)
    manifest = tmp_path / "birds.kin" / "manifest.json"
    whole = manifest.read_bytes()
    manifest.write_bytes(whole[:-9])
    assert not refresh(current)
    assert "damaged" in current.error
    assert len(current.generation.indexed) == 20
    with TestClient(make_app(current)) as client:
        health = client.get("/healthz").json()
        assert (health["trouble"], health["reason"][:14]) == (True, "manifest.json ")
        assert "pagekin_index_trouble 1" in client.get("/metrics").text
    manifest.write_bytes(whole)
    assert refresh(current)
    assert (len(current.generation.indexed), current.error) == (30, "")


def test_a_generation_that_cannot_be_opened_is_tried_again_after_growing_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The manifest stays as it is: nothing but time says that the disk is back."""
    now, failures, tries = [0.0], 9, []
    current = CurrentGeneration(write(tmp_path, 20), lambda: now[0])
    write(tmp_path, 30)

    def fail_at_first(root: Path, check: bool) -> Generation:
        tries.append(now[0])
        if len(tries) <= failures:
            raise StoreError(f"{root / 'index-2'} cannot be read")
        return open_generation(root, check)

    monkeypatch.setattr("pagekin.serving.generations.open_generation", fail_at_first)
    while not refresh(current):
        assert current.error == "index-2 cannot be read"
        now[0] += 0.5
    assert tries == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]
    assert (len(current.generation.indexed), current.error) == (30, "")
    assert len(caplog.records) == 1  # not at each attempt


def test_a_generation_that_cannot_be_served_is_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, answered = [0.0], []
    current = CurrentGeneration(write(tmp_path, 20), lambda: now[0])
    app = make_app(current, ServerSettings(refresh_seconds=0.01))

    async def fail_once(context: Context, new: Generation) -> None:
        answered.append(new)
        if len(answered) == 1:
            now[0] += 10  # over the first pause
            raise MemoryError
        await replace_generation(context, new)

    monkeypatch.setattr("pagekin.serving.app.replace_generation", fail_once)
    with TestClient(app) as client:
        write(tmp_path, 30)
        while client.get("/healthz").json()["generation"] == 1:
            now[0] += 1
        assert client.get("/healthz").json() == {
            "status": "ok",
            "generation": 2,
            "pages": 30,
            "trouble": False,
            "reason": "",
        }
    assert len(answered) == 2


def test_a_store_that_is_gone_is_served_on(tmp_path: Path) -> None:
    current = CurrentGeneration(write(tmp_path, 20))
    shutil.rmtree(tmp_path / "birds.kin")
    assert not refresh(current)
    assert current.generation.indexed.related("http://birds.example/3")
    assert current.error


def test_a_new_generation_has_new_etags(tmp_path: Path) -> None:
    current = CurrentGeneration(write(tmp_path, 20))
    with TestClient(make_app(current)) as client:
        path = "/api/related?url=http://birds.example/3"
        tag = client.get(path).headers["etag"]
        write(tmp_path, 30)
        assert refresh(current)
        new = client.get(path, headers={"If-None-Match": tag})
        assert (new.status_code, new.headers["etag"] == tag) == (200, False)
        assert client.get("/healthz").json()["generation"] == 2


def test_answers_are_computed_again_before_a_new_generation_is_served(tmp_path: Path) -> None:
    current = CurrentGeneration(write(tmp_path, 20))
    app = make_app(current)
    paths = [f"/api/related?url=http://birds.example/{k}" for k in (3, 4, 19)]
    with TestClient(app) as client:
        old = [client.get(path).json() for path in paths]
        write(tmp_path, 15)
        new = current.open_newer()
        assert new is not None
        asyncio.run(replace_generation(app.state.context, new))
        cache = app.state.context.cache
        assert [key[2][-2:] for key, _ in cache.latest(9) if key[0] == new.tag] == [b"/3", b"/4"]
        assert [client.get(path).status_code for path in paths] == [200, 200, 404]
        assert client.get(paths[0]).json() == to_json(new.collection.related(paths[0][17:], explain=False))
        assert len(old[0]["related"]) == 10


def test_several_threads_get_the_same_answers_as_one(tmp_path: Path) -> None:
    current = CurrentGeneration(write(tmp_path, 40))
    indexed = current.generation.indexed
    urls = [f"http://birds.example/{k}" for k in range(40)]
    alone = [indexed.related(url) for url in urls]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(5):
            assert list(threads.map(indexed.related, urls)) == alone


def test_an_expensive_result_is_computed_once(tmp_path: Path) -> None:
    generation = CurrentGeneration(write(tmp_path, 20)).generation
    made: list[int] = []
    begin = threading.Barrier(4)

    def make() -> int:
        made.append(1)
        return len(made)

    def ask() -> int:
        begin.wait()
        return generation.compute_once("expensive", make)

    with ThreadPoolExecutor(4) as threads:
        assert {task.result() for task in [threads.submit(ask) for _ in range(4)]} == {1}
    assert made == [1]


def test_the_clusters_of_few_pages_are_cached(tmp_path: Path) -> None:
    generation = CurrentGeneration(write(tmp_path, 20)).generation
    seen = []
    for k in (0, 1, 2, 3, 4, 4, 0):
        with generation.clusters(f"http://birds.example/{k}") as (_, clusters):
            seen.append(clusters)
    assert seen[4] is seen[5]
    assert seen[0] is not seen[6]


def test_a_generation_is_freed_with_its_last_request(tmp_path: Path) -> None:
    """Not when the garbage collector runs: in a server this may be many generations later."""
    root = write(tmp_path, 20)
    gc.collect()
    gc.disable()
    try:
        generation = open_generation(root)
        generation.collection.related("http://birds.example/3")
        with generation.clusters("http://birds.example/3") as (analysis, clusters):
            freed = [weakref.ref(each) for each in (generation, generation.indexed, analysis, clusters)]
        del generation, analysis, clusters
        assert [each() for each in freed] == [None] * 4
    finally:
        gc.enable()
