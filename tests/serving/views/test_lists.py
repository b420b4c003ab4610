"""Lists of the web page as files, with the filters of the page."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from pagekin.pipeline import build
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings
from pagekin.serving.views.lists import write_list
from serving.processes import patient
from store.builders import page, write_jsonl

OAK = "http://treeroom.example/oak.html"


@pytest.fixture(scope="module")
def oak(current: CurrentGeneration) -> str:
    indexed = current.generation.indexed
    return f"/page/{indexed.page(indexed.find(OAK))['id']}"


def test_the_list_shown_is_exported_in_every_format(client: TestClient, current: CurrentGeneration, oak: str) -> None:
    found = current.generation.collection.related(OAK, limit=4, exclude_linked=True)
    shown = client.get(f"{oak}?limit=4&linked=hide&part=1").text
    links = {unescape(link) for link in re.findall(r'href="([^"]+)" download', shown)}
    answers = {link.rpartition("=")[2]: client.get(link) for link in links}
    assert {kind: each.headers["Content-Disposition"] for kind, each in answers.items()} == {
        kind: f'attachment; filename="related.{kind}"' for kind in ("csv", "json", "md")
    }
    rows = list(csv.DictReader(io.StringIO(answers["csv"].text)))
    urls = [each.url for each in found]
    assert [row["url"] for row in rows] == [row["url"] for row in answers["json"].json()] == urls
    assert [float(row["similarity"]) for row in rows] == pytest.approx([each.similarity for each in found], abs=1e-6)
    assert re.findall(r"\]\(<([^>]+)>\)", answers["md"].text) == urls


def test_search_results_are_exported_and_other_formats_are_refused(client: TestClient, oak: str) -> None:
    pages = client.get("/search?q=oak&format=json").json()
    assert pages[0]["title"].startswith("Oak") and len(pages) > 1
    assert client.get(f"{oak}?format=exe").status_code == 422


@pytest.mark.parametrize("text", ["=cmd()", "+1", "-1", "@a", "\tb"])
def test_no_cell_of_a_spreadsheet_is_a_formula(text: str) -> None:
    [_, cells] = csv.reader(
        io.StringIO(write_list([{"title": text, "url": "http://a.example/"}], "csv").decode(), newline="")
    )
    assert cells == ["'" + text, "http://a.example/"]


def test_markup_of_a_title_is_text_in_markdown() -> None:
    row = {"title": "](javascript:x) <b>*a*", "url": "http://a.example/>\n# b"}
    line = write_list([row], "md").decode()
    assert line == "1. [\\]\\(javascript:x\\) \\<b\\>\\*a\\*](<http://a.example/%3E%0A# b>)\n".replace("# b", "#%20b")


@pytest.mark.parametrize("kind", ["csv", "json", "md"])
def test_an_empty_list_is_a_file(kind: str) -> None:
    assert write_list([], kind) == (b"[]" if kind == "json" else b"")


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server of a page and its copy."""
    folder: Path = tmp_path_factory.mktemp("copies")
    text = " ".join(f"word{k}" for k in range(400))
    pages = [page(f"http://a.example/{k}", f"<title>{name}</title><p>{text}") for k, name in enumerate(("One", "Two"))]
    build([write_jsonl(folder / "a.jsonl", pages)], folder / "a.kin", processes=1)
    with TestClient(make_app(CurrentGeneration(folder / "a.kin"), patient(ServerSettings()))) as client:
        yield client


@pytest.mark.parametrize("part", ["bridges", "gaps", "duplicates"])
def test_the_sections_of_a_collection_are_exported(client: TestClient, copies: TestClient, part: str) -> None:
    client = copies if part == "duplicates" else client
    shown = client.get(f"/collection/{part}?part=1").text
    links = [unescape(link) for link in re.findall(r'href="([^"]+)" download', shown)]
    answers = {link.rpartition("=")[2]: client.get(link) for link in links}
    assert {kind: each.status_code for kind, each in answers.items()} == {"csv": 200, "json": 200, "md": 200}
    rows = answers["json"].json()
    assert rows and [row["url"] for row in csv.DictReader(io.StringIO(answers["csv"].text))] == [
        row["url"] for row in rows
    ]
    assert re.findall(r"\]\(<([^>]+)>\)", answers["md"].text) == [row["url"] for row in rows]
    for row in rows:
        for name, title in row.items():
            if name.endswith("title"):
                assert title in unescape(shown)


def test_the_pages_in_view_of_the_map_are_exported(client: TestClient) -> None:
    points = client.get("/collection/map/points").json()
    everything = client.get("/collection/map/pages?format=json").json()
    assert [row["title"] for row in everything] == points["title"]
    assert [(row["x"], row["y"]) for row in everything] == list(zip(points["x"], points["y"], strict=True))
    half = points["side"] // 2
    left = client.get(f"/collection/map/pages?right={half}&left=-100&format=json").json()
    assert left == [row for row in everything if row["x"] <= half]
    assert 0 < len(left) < len(everything)
    assert client.get("/collection/map/pages?left=x&format=csv").status_code == 422
    assert client.get("/collection/map/pages").status_code == 422
