"""MkDocs and Sphinx themselves, with the plugin and the extension."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from static_site.conftest import TEXTS, content

pytestmark = pytest.mark.slow
MKDOCS = """\
site_name: Birds and trees
theme: {theme}
plugins:
  - search
  - pagekin:
      limit: 3
      heading: Read on
      exclude: ["trees/lime/*"]
"""
CONF = """\
project = "Birds and trees"
extensions = ["pagekin.integrations.sphinx"]
pagekin_limit = 3
pagekin_heading = "Read on"
pagekin_exclude = ["trees/lime*"]
"""


def run(*command: str, folder: Path) -> str:
    done = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


def write_sources(folder: Path, suffix: str, underline: bool) -> None:
    for name, (title, text) in TEXTS.items():
        path = folder / f"{name}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        heading = f"{title}\n{'=' * len(title)}" if underline else f"# {title}"
        path.write_text(f"{heading}\n\n{text}\n", "utf-8")


def links(page: Path, inside: str) -> list[tuple[str, str | None]]:
    found = LexborHTMLParser(page.read_bytes()).css(f"{inside} nav.pagekin-related li > a")
    return [(each.text(), each.attributes["href"]) for each in found]


@pytest.mark.parametrize(("theme", "inside"), [("mkdocs", "[role=main]"), ("material", "article")])
def test_a_site_of_mkdocs_has_lists_and_a_second_build_the_same(tmp_path: Path, theme: str, inside: str) -> None:
    write_sources(tmp_path / "docs", ".md", underline=False)
    (tmp_path / "docs" / "index.md").write_text("# Home\n\nBirds and trees.\n")
    (tmp_path / "mkdocs.yml").write_text(MKDOCS.format(theme=theme))
    said = run("mkdocs", "build", folder=tmp_path)
    assert "related pages in 7 of 1" in said and (tmp_path / ".cache" / "pagekin.kin").is_dir()
    found = links(tmp_path / "site" / "birds" / "robin" / "index.html", inside)
    assert {address for _, address in found} == {"../wren/", "../finch/", "../tit/"}
    assert not links(tmp_path / "site" / "trees" / "lime" / "index.html", inside)
    assert not links(tmp_path / "site" / "index.html", inside)
    if theme == "mkdocs":
        pages = {name: data for name, data in content(tmp_path / "site").items() if name.endswith(".html")}
        run("mkdocs", "build", "--quiet", folder=tmp_path)
        after = content(tmp_path / "site")
        assert [name for name, data in pages.items() if after[name] != data and name != "index.html"] == []


def test_a_wrong_setting_of_mkdocs_is_one_sentence(tmp_path: Path) -> None:
    write_sources(tmp_path / "docs", ".md", underline=False)
    (tmp_path / "mkdocs.yml").write_text(MKDOCS.format(theme="mkdocs").replace("limit: 3", "limit: 0"))
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pagekin: limit is 0; it must be at least 1" in done.stderr and "Traceback" not in done.stderr


def test_a_site_of_sphinx_has_lists_and_keeps_them_when_one_page_is_built_again(tmp_path: Path) -> None:
    source = tmp_path / "source"
    write_sources(source, ".rst", underline=True)
    (source / "conf.py").write_text(CONF)
    (source / "index.rst").write_text("Home\n====\n\n.. toctree::\n   :glob:\n\n   birds/*\n   trees/*\n")
    run("sphinx", "-q", "-b", "html", "source", "build/html", folder=tmp_path)
    html = tmp_path / "build" / "html"
    assert {a for _, a in links(html / "birds" / "robin.html", "[role=main]")} == {
        "wren.html",
        "finch.html",
        "tit.html",
    }
    for name in ("index", "genindex", "search", "trees/lime"):
        assert not links(html / f"{name}.html", "body"), name
    before = content(html)
    page = source / "birds" / "robin.rst"
    page.write_text(page.read_text() + "\nMore.\n")
    run("sphinx", "-q", "-b", "html", "source", "build/html", folder=tmp_path)
    after = content(html)
    assert {a for _, a in links(html / "birds" / "robin.html", "[role=main]")} == {
        "wren.html",
        "finch.html",
        "tit.html",
    }
    assert after["trees/oak.html"] == before["trees/oak.html"]
