"""A small site: posts about birds and trees, and the pages that generators add."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import pagekin

TEXTS = {
    "birds/robin": ("The robin", "Robins sing all winter, even at night, and feed on insects and berries in gardens."),
    "birds/wren": ("The wren", "Wrens hide all winter in gardens and feed on insects and spiders; wrens sing loudly."),
    "birds/finch": ("The finch", "Finches eat seeds and berries, and many finches sing and feed in gardens in winter."),
    "birds/tit": ("The tit", "Tits feed on insects and seeds in gardens; in winter tits sing little and eat berries."),
    "trees/oak": ("The oak & acorn", "Oaks grow slowly; the wood of an oak is hard, its leaves fall late in autumn."),
    "trees/birch": ("The birch <b>", "Birches grow fast; the wood of a birch burns well, its leaves fall in autumn."),
    "trees/elm": ("The élm", "Elms grew along roads; the wood of an elm bends, and its leaves fall in autumn."),
    "trees/lime": ("The lime", "Limes grow along roads; the wood of a lime is soft, and its leaves fall in autumn."),
}
OTHERS = {
    "index": ("Home", "Birds and trees: robins, wrens, oaks and elms in gardens and along roads."),
    "search": ("Search", "Search robins, wrens, finches, oaks, birches and elms in gardens in winter."),
    "tags/birds": ("Birds", "Robins, wrens, finches and tits sing and feed in gardens in winter."),
    "404": ("Not found", "There is no such page about gardens in winter."),
}
MOVED = '<!doctype html><meta http-equiv="refresh" content="0; url=https://elsewhere.example/"><title>Moved</title>'


def html(title: str, text: str) -> str:
    shown = title.replace("&", "&amp;").replace("<", "&lt;")
    head = f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{shown}</title></head>"
    return (
        f"{head}<body><nav><a href=/>Home</a></nav>\n<main><h1>{shown}</h1><p>{text}</p></main>\n<footer>2024</footer>"
    )


def write_site(folder: Path) -> Path:
    """Eight pages, four that only lead to others, one that forwards, and a picture."""
    for name, (title, text) in {**TEXTS, **OTHERS}.items():
        path = folder / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html(title, text), "utf-8")
    (folder / "old.html").write_text(MOVED)
    (folder / "picture.png").write_bytes(b"\x89PNG")
    return folder


def content(folder: Path) -> dict[str, bytes]:
    """The bytes of all files of a folder, by their paths."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site and its index, not to be changed."""
    folder = tmp_path_factory.mktemp("site")
    write_site(folder / "public")
    pagekin.update_site(folder / "public", dry_run=True, processes=1)
    return folder


@pytest.fixture
def site(built: Path, tmp_path: Path) -> Path:
    """A copy of the site, with its index beside it."""
    shutil.copytree(built, tmp_path, dirs_exist_ok=True)
    return tmp_path / "public"
