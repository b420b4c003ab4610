"""The map of a collection: who is on it, where, and in which colour."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from pagekin.model.strategy import Strategy
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings
from pagekin.serving.views import map as page_maps
from pagekin.serving.views.collection import most_linked
from serving.processes import patient
from store.builders import page, write_jsonl

BREAD = "bread oven flour dough crust baker loaf"
BOATS = "boat sail harbour mast rudder keel wind"


def built(folder: Path, strategy: Strategy | None = None) -> IndexedStore:
    """Pages on bread and on boats, every other one, and one without text."""
    rows = [
        page(
            f"http://{'ab'[k % 3 == 0]}.example/{k}",
            f"<title>{k}</title><p>{(BREAD, BOATS)[k % 2]} word{k} <a href=/0>",
        )
        for k in range(8)
    ]
    build(
        [write_jsonl(folder / "a.jsonl", [*rows, page("http://c.example/", "<p>!")])],
        folder / "a.kin",
        strategy=strategy,
    )
    return IndexedStore.open(folder / "a.kin")


def test_similar_pages_are_near_to_each_other(tmp_path: Path) -> None:
    indexed = built(tmp_path)
    points = page_maps.map_points(indexed, page_maps.page_map(indexed), "host")
    assert len(points["x"]) == len(points["id"]) == 8
    place = {int(title): (x, y) for title, x, y in zip(points["title"], points["x"], points["y"], strict=True)}

    def far(a: int, b: int) -> float:
        return float(abs(place[a][0] - place[b][0]) + abs(place[a][1] - place[b][1]))

    within = max(far(a, b) for a in place for b in place if a % 2 == b % 2)
    assert within < min(far(a, b) for a in place for b in place if a % 2 != b % 2)
    assert all(0 <= value <= points["side"] for axis in "xy" for value in points[axis])


def test_the_largest_groups_have_colours_and_pages_without_text_are_counted(tmp_path: Path) -> None:
    indexed = built(tmp_path)
    found = page_maps.page_map(indexed)
    assert (found.without, found.total) == (1, 8)
    points = page_maps.map_points(indexed, found, "host")
    assert points["groups"] == ["a.example", "b.example"]  # five pages and three
    hosts = {url: "ab".index(url[7]) for url in indexed.reading.pages.url if "c.example" not in url}
    ids = {row["id"]: row["url"] for row in indexed.catalog.rows("SELECT id, url FROM nodes")}
    assert points["group"] == [hosts[ids[id]] for id in points["id"]]
    assert page_maps.map_points(indexed, found, "language")["groups"] == ["unknown"]


def test_the_page_with_most_links_of_texts_is_the_first(client: TestClient, current: CurrentGeneration) -> None:
    [(first, _)] = most_linked(current.generation.indexed, 1)
    assert client.get("/collection/map/points").json()["id"][0] == first.id


def test_a_large_collection_is_sampled_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed = built(tmp_path)
    monkeypatch.setattr(page_maps, "MOST", 4)
    found = page_maps.page_map(indexed)
    assert found.nodes.tolist() == [0, 2, 4, 6] and found.total == 8


def test_an_index_without_latent_vectors_says_so(tmp_path: Path) -> None:
    built(tmp_path, Strategy(blend="text=1"))
    current = CurrentGeneration(tmp_path / "a.kin")
    with TestClient(make_app(current, patient(ServerSettings()))) as client:
        answer = client.get("/collection/map")
        assert answer.status_code == 200 and "A map needs latent vectors" in answer.text
        assert str(tmp_path) not in answer.text
        assert client.get("/collection/map/points").status_code == 422
        assert client.get("/collection/map?by=colour").status_code == 422
