"""The collection that the examples in docstrings use: `collection`, in a folder of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

_PACKAGE = Path(__file__).parent / "src" / "pagekin"
BIRDS = {
    "robin": "Robins sing all winter, even at night, and feed on insects and berries in gardens and hedges. "
    + " ".join(f"In week {week} of the winter a robin sang on {week % 7} days." for week in range(60)),
    "wren": "Wrens hide all winter in hedges and feed on insects and spiders; the song of a wren is loud.",
    "finch": "Finches eat seeds, and many finches travel in winter to gardens with seeds and berries.",
}
TREES = {
    "oak": "Oaks grow slowly; the wood of an oak is hard, and acorns feed jays in autumn.",
    "birch": "Birches grow fast on poor soil; the wood of a birch burns well, its bark is white.",
    "elm": "Elms grew along roads; the wood of an elm bends, and a beetle brings the disease.",
}


def write_pages(folder: Path) -> None:
    """Nine pages: a home page, three birds and a copy of one, and four about trees."""
    pages = {
        "birds/copy": ("Redbreast", BIRDS["robin"] + "Copied from a book.", ["wren"]),
        "birds/robin": ("The robin", BIRDS["robin"], ["wren", "finch"]),
        "birds/wren": ("The wren", BIRDS["wren"], ["robin", "finch"]),
        "birds/finch": ("The finch", BIRDS["finch"], ["robin", "wren"]),
        "trees/oak": ("The oak", TREES["oak"], ["birch", "elm"]),
        "trees/birch": ("The birch", TREES["birch"], ["oak", "elm"]),
        "trees/elm": ("The elm", TREES["elm"], ["oak", "birch"]),
        "trees/index": ("Trees", "Trees of the county: three kinds.", ["oak", "birch", "elm"]),
        "index": ("Home", "Birds and trees of the county.", [f"birds/{name}" for name in BIRDS] + ["trees/index"]),
    }
    for name, (title, text, links) in pages.items():
        anchors = " ".join(f"<a href={link}.html>{link.rpartition('/')[2]}</a>" for link in links)
        path = folder / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<html lang=en><title>{title}</title><p>{text}<p>{anchors}", "utf-8")


@pytest.fixture(scope="session")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pages and the store."""
    import pagekin

    folder = tmp_path_factory.mktemp("examples")
    write_pages(folder / "pages")
    pagekin.build([folder / "pages"], folder / "site.kin", base_urls=["http://site.example/"], processes=1)
    return folder


@pytest.fixture(autouse=True)
def examples(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give `pagekin`, `Path` and `collection` to the examples of the public interface."""
    path = request.node.path
    others = (_PACKAGE / "evaluation" / "sweep_report.py", _PACKAGE / "site" / "site.py")
    if path.parent not in (_PACKAGE, _PACKAGE / "collection") and path not in others:
        return
    import pagekin

    namespace: dict[str, Any] = request.getfixturevalue("doctest_namespace")
    folder: Path = request.getfixturevalue("example_folder")
    monkeypatch.chdir(folder)
    namespace |= {"pagekin": pagekin, "Path": Path, "collection": pagekin.open("site.kin")}
