"""Answers that are looked up are those that are computed, byte for byte."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from pagekin.pipeline import build, keep_answers
from pagekin.serving.app import make_app
from pagekin.serving.context import RequestThreads
from pagekin.serving.generations import CurrentGeneration
from pagekin.serving.kept import rounded
from pagekin.serving.settings import ServerSettings
from serving.processes import patient
from store.builders import page, write_jsonl

LIMIT = 10


@pytest.fixture(scope="module")
def kept(sample_index: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A server of the sample web that keeps answers."""
    copy = Path(shutil.copytree(sample_index, tmp_path_factory.mktemp("kept") / sample_index.name))
    keep_answers(copy, LIMIT)
    with TestClient(make_app(CurrentGeneration(copy), patient(ServerSettings()))) as client:
        yield client


def urls_of(client: TestClient) -> list[str]:
    generation = client.app.state.context.current.generation  # type: ignore[attr-defined]
    return list(generation.indexed.reading.pages.url)


async def no_thread(*_: object) -> Any:
    raise AssertionError("a thread")


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"limit": 3},
        {"min_similarity": 0.3},
        {"min_similarity": 0},
        {"group_duplicates": "false"},
        {"explain": "true"},
        {"limit": LIMIT + 1},
        {"exclude_host": "true"},
        {"similarity": "cosine"},
        {"never": "http://treeroom.example/oak.html"},
    ],
)
def test_answers_are_the_same_byte_for_byte(client: TestClient, kept: TestClient, params: dict[str, Any]) -> None:
    urls = urls_of(client)
    for url in urls if not params else urls[::7]:
        found, computed = (each.get("/api/related", params={"url": url, **params}) for each in (kept, client))
        assert found.content == computed.content, url
        assert found.headers.keys() == computed.headers.keys()


@pytest.mark.parametrize("params", [{}, {"limit": 3}, {"min_similarity": 0.3}])
def test_most_answers_need_no_thread(kept: TestClient, params: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    lookup = kept.app.state.context.current.generation.lookup  # type: ignore[attr-defined]
    separate = [url for url, one in zip(urls_of(kept), lookup._kept.separate, strict=True) if one]
    assert len(separate) > 150  # of 213
    monkeypatch.setattr(RequestThreads, "run", no_thread)
    for url in separate[::5]:
        assert kept.get("/api/related", params={"url": url, "explain": "0", **params}).status_code == 200


@pytest.mark.parametrize("params", [{"explain": "1"}, {"limit": LIMIT + 1}, {"exclude_linked": "1"}, {"links": "0.5"}])
def test_other_answers_are_computed(kept: TestClient, params: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RequestThreads, "run", no_thread)
    assert kept.get("/api/related", params={"url": urls_of(kept)[1], **params}).status_code == 500


def test_near_duplicates_and_odd_names_are_answered_as_without_kept_answers(tmp_path: Path) -> None:
    """Titles with quotes, percent signs, other scripts and line breaks; copies of pages."""
    words = "oak jay acorn gall leaf root bark moss fern nest wren song"
    titles = ['"quoted" \\ 100 %s %r', "Дуб и желудь", "a\nb &amp; c", "\U0001f333", "", "plain", "copy", "copy"]
    text = [" ".join(words.split()[k % 5 :] * 9) + f" number{k} " * 30 for k in range(6)]
    pages = [
        page(f"http://odd.example/{k}?a=%25{k}", f"<title>{title}</title><p>{(text + text[:2])[k]}")
        for k, title in enumerate(titles)
    ]
    source, store = write_jsonl(tmp_path / "pages.jsonl", pages), tmp_path / "my.kin"
    build([source], store)
    answers = []
    for limit in (0, LIMIT):
        keep_answers(store, limit)
        current = CurrentGeneration(store)
        urls = list(current.generation.indexed.reading.pages.url)
        with TestClient(make_app(current, patient(ServerSettings()))) as client:
            answers.append([client.get("/api/related", params={"url": url}).content for url in urls])
    assert answers[0] == answers[1]
    assert any(line["duplicate_of_query"] for answer in answers[0] for line in json.loads(answer)["related"])


def test_a_title_and_a_missing_page_are_answered_as_without_kept_answers(client: TestClient, kept: TestClient) -> None:
    for name in ("Oak and its many guests", "treeroom.example/oak.html", "http://nowhere.example/", "x" * 3000):
        found, computed = (each.get("/api/related", params={"url": name}) for each in (kept, client))
        assert (found.status_code, found.content) == (computed.status_code, computed.content)


@given(st.integers(0, 10**9))
def test_similarities_are_rounded_as_in_every_answer(billionths: int) -> None:
    similarity = billionths / 1e9
    assert rounded(similarity) == json.dumps(round(similarity, 6))
