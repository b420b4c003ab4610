"""`pagekin` as people call it, and a small store to call it on."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.processes import Answer
from duplicates.test_result_list import prose
from pagekin.cli.main import main
from pagekin.pipeline import build

Pagekin = Callable[..., Answer]

PAGES = {
    "index.html": "<html lang=en><title>The borough library</title><p>Welcome. <a href=birds/robin.html>Robins</a>",
    "birds/robin.html": "<html lang=en><title>The robin in winter</title><p>Robins sing all winter, even at night. "
    "<a href=wren.html>The wren</a> <a href=/index.html>home</a> <a href=http://far.example/>far away</a>",
    "birds/wren.html": "<html lang=en><title>The wren in winter</title><p>Wrens hide all winter, even at night. "
    "<a href=robin.html>a robin</a>",
    "birds/old.html": '<meta http-equiv="refresh" content="0; url=robin.html">',
    "picture.png": "no page",
}


@pytest.fixture
def pagekin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Pagekin:
    """Run `pagekin ARGUMENTS` here, in an empty folder. What is not an exit is a traceback, and fails the test."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pagekin.cli.progress.INTERVAL", 1e6)  # what is printed must not depend on the machine

    def call(*arguments: str | Path) -> Answer:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["pagekin", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        code = end.value.code
        return Answer(code if isinstance(code, int) else 0 if code is None else 1, *capsys.readouterr())

    return call


def write_pages(folder: Path) -> Path:
    for name, html in PAGES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, "utf-8")
    return folder


@pytest.fixture
def web(tmp_path: Path) -> Path:
    """A folder of pages."""
    return write_pages(tmp_path / "web")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of those pages, not to be changed."""
    folder = tmp_path_factory.mktemp("library")
    build([write_pages(folder / "web")], folder / "library.kin", base_urls=["http://lib.example/"], processes=1)
    return folder / "library.kin"


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with two pages that say the same, and one that does not."""
    folder = tmp_path_factory.mktemp("copies")
    rows = [("http://a.example/", prose(1)), ("http://b.example/", prose(1)), ("http://c.example/", prose(2))]
    pages = [{"url": url, "html": f"<title>Of {url[7]}</title><p>{text}"} for url, text in rows]
    (folder / "pages.jsonl").write_text("\n".join(map(json.dumps, pages)))
    build([folder / "pages.jsonl"], folder / "copies.kin")
    return folder / "copies.kin"
