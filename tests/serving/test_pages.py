"""The pages of unusual collections: without pages, without links, without words, with equal pages only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from model.learned import DRAWN
from pagekin.model.strategy import Strategy
from pagekin.pipeline import build
from pagekin.serving.app import make_app
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.settings import ServerSettings
from serving.processes import patient
from store.builders import Row, page, write_jsonl

ODD: dict[str, list[Row]] = {
    "no links": [page(f"http://a.example/{name}", f"<title>{name}</title><p>bread oven {name}") for name in "abc"],
    "one page": [page("http://a.example/", "<title>One</title><p>bread <a href=http://far.example/>far</a>")],
    "no words": [page("http://a.example/", ""), page("http://b.example/", "<p>")],
    "all the same": [
        page(f"http://a.example/{k}", "<p>bread oven <a href=/0>a</a> <a href=/1>b</a>") for k in range(4)
    ],
}
ANYWHERE = (
    "/",
    "/search?q=a",
    "/search?q=%00%ff",
    "/random",
    "/collection",
    *(f"/collection/{part}" for part in ("similarities", "gaps", "bridges", "duplicates")),
    "/compare?a=x&b=%00",
    "/page/%ff",
)


@pytest.fixture(scope="module", params=ODD)
def odd(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[TestClient, CurrentGeneration]]:
    folder: Path = tmp_path_factory.mktemp("odd")
    build([write_jsonl(folder / "odd.jsonl", ODD[request.param])], folder / "odd.kin", processes=1)
    current = CurrentGeneration(folder / "odd.kin")
    with TestClient(make_app(current, patient(ServerSettings())), follow_redirects=False) as client:
        yield client, current


@pytest.mark.slow
def test_every_view_of_an_unusual_collection_is_shown_or_refused(odd: tuple[TestClient, CurrentGeneration]) -> None:
    client, current = odd
    ids = [row["id"] for row in current.generation.indexed.catalog.rows("SELECT id FROM nodes")]
    of_pages = [
        path.format(id)
        for id in ids
        for path in ("/page/{0}", "/page/{0}?by=both", "/page/{0}?by=links&measure=cosine", "/page/{0}/clusters",
                     "/page/{0}/graph", "/page/{0}/graph?by=links", "/compare?a={0}&b={0}")
    ]  # fmt: skip
    answers = {path: client.get(path).status_code for path in of_pages}
    assert set(answers.values()) <= {200}, answers
    answers = {path: client.get(path).status_code for path in ANYWHERE}
    assert set(answers.values()) <= {200, 302, 404}, answers


@pytest.mark.parametrize(
    "path", ["?least=x", "?least=7", "?measure=no", "?by=no", "?limit=1000", "/clusters?alpha=0", "/graph?by=no"]
)
def test_an_invalid_choice_is_reported_on_a_page(client: TestClient, current: CurrentGeneration, path: str) -> None:
    id = current.generation.indexed.page(0)["id"]
    answer = client.get(f"/page/{id}{path}")
    assert answer.status_code == 422 and 'role="alert"' in answer.text
    part = client.get(f"/page/{id}{path}&part=1")
    assert part.status_code == 422 and "<html" not in part.text


def test_no_answer_names_the_folder_of_the_collection(client: TestClient, current: CurrentGeneration) -> None:
    answer = client.get("/compare", params={"a": "nothing has this name", "b": ""})
    assert "in this collection" in answer.text and str(current.root.parent) not in answer.text


def test_links_have_the_learned_share_unless_another_is_chosen(tmp_path: Path) -> None:
    weights = replace(DRAWN, link_share=0.4).as_text()
    strategy = Strategy(similarity="linklearn", weights=weights)
    rows = [
        page(f"http://a.example/{name}", f"<p>bread oven {name} <a href=/b>b</a> <a href=/c>c</a>") for name in "abc"
    ]
    build([write_jsonl(tmp_path / "a.jsonl", rows)], tmp_path / "a.kin", strategy=strategy, processes=1)
    current = CurrentGeneration(tmp_path / "a.kin")
    learned = "text and links, share learned by LinkLearn"
    with TestClient(make_app(current, patient(ServerSettings()))) as client:
        for asked, share in (("", 0.4), ("&links=0.25", 0.25), ("&links=0", 0.0), ("&similarity=jaccard", 0.0)):
            answer = client.get(f"/api/related?url=http://a.example/b&explain=1{asked}").json()["related"][0]
            shares = {part["part"]: part["share"] for part in answer["why"]["parts"]}
            assert shares.get("links", 0.0) == share
        number = current.generation.indexed.catalog.rows("SELECT id FROM nodes WHERE url = 'http://a.example/b'")[0][
            "id"
        ]
        for asked, tells in (("", True), ("?by=usual", True), ("?by=words", False)):
            shown = client.get(f"/page/{number}{asked}").text
            assert f'<option value="usual"{" selected" if tells else ""}>{learned}</option>' in shown
            assert ('links&nbsp;<span class="share">' in shown) == tells
