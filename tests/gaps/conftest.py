"""A small site whose missing links are known."""

from __future__ import annotations

from pathlib import Path

import pytest

import pagekin

MENU = "<nav><a href=index.html>Home</a> <a href=about.html>About us</a> <a href=elm.html>Elms</a></nav>"
PAGES = {
    "index": (
        "Trees of the park",
        "<p>The park has an <a href=oak.html>English oak</a>, a <a href=birch.html>silver birch</a> and an"
        " <a href=ash.html>ash</a>, planted for <a href=jay.html>the Eurasian jay</a>.",
    ),
    "oak": (
        "Oak (tree)",
        "<p>Acorns of an old tree feed many birds of the park in autumn. Its hard wood was used for ships."
        "<p>The Eurasian jay buries acorns in autumn, and the birds forget some acorns. A silver birch grows nearby.",
    ),
    "jay": (
        "Garrulus glandarius",
        "<p>Jays are shy birds of the park. In autumn the birds bury acorns, which feed them in winter."
        "<p>Many an English oak grew from acorns that the birds forgot. The autumn is loud. See the"
        " <a href=birch.html>oak</a> in the north.",
    ),
    "birch": (
        "Birch",
        "<p>Birches grow fast on poor soil, and their bark is white. Its sap is sweet in spring."
        " It burns like <a href=ash.html>ash</a> wood.",
    ),
    "ash": ("Ash", "<p>The ash has grey bark and dark buds in spring. It bends; <a href=oak.html>oak</a> does not."),
    "elm": ("Elm", "<p>Elms grew along roads until a beetle brought a disease. Elm bark is rough."),
    "about": ("About us", "<p>We look after the trees. Write to us about a fallen tree."),
    "secret": ("Draft", "<p>A draft about mushrooms under trees, with many caps and rings."),
}  # fmt: skip


def write_site(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, text) in PAGES.items():
        (folder / f"{name}.html").write_text(
            f"<html lang=en><title>{title}</title>{MENU}<h1>{title}</h1>{text}", "utf-8"
        )
    return folder


@pytest.fixture(scope="session")
def park(tmp_path_factory: pytest.TempPathFactory) -> pagekin.Collection:
    """The collection of the site; its URLs are http://park.example/oak.html and the like."""
    folder = tmp_path_factory.mktemp("park")
    return pagekin.build(
        write_site(folder / "pages"), folder / "park.kin", base_urls=["http://park.example/"], processes=1
    )
