"""The templates for Hugo, Jekyll and Eleventy; those generators that are installed, and Zensical, themselves."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pagekin
from integrations.test_generators import links, write_sources
from static_site.conftest import TEXTS

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "examples" / "templates"
TEXT = (ROOT / "docs" / "site.md").read_text("utf-8")
PLACES = (None, str(Path(sys.executable).parent), str(ROOT / ".venv/node_modules/.bin"))  # where generators are
BIRDS = {"/blog/birds/wren/", "/blog/birds/finch/", "/blog/birds/tit/"}


@pytest.mark.parametrize(
    "path", [path for path in TEMPLATES.rglob("*.*") if path.is_file()], ids=lambda path: path.name
)
def test_the_page_on_sites_has_every_template(path: Path) -> None:
    assert f"```html\n{path.read_text('utf-8')}```" in TEXT


def command(name: str) -> str:
    found = next(filter(None, (shutil.which(name, path=path) for path in PLACES)), None)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(folder: Path, *arguments: str) -> None:
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def write_markdown(folder: Path, head: str = "") -> None:
    write_sources(folder, ".md", underline=False)
    for name, (title, _) in TEXTS.items():
        path = folder / f"{name}.md"
        path.write_text(f'---\ntitle: "{title}"\n{head}---\n' + path.read_text("utf-8"), "utf-8")


def check_twice(folder: Path, public: str, data: str, *generator: str) -> None:
    """Build, write the data file, build again: the page has its list, and a third round changes no list."""
    run(folder, *generator)
    (folder / data).parent.mkdir(exist_ok=True)
    pagekin.update_site(folder / public, data=folder / data, limit=3, index=folder / "site.kin", processes=1)
    run(folder, *generator)
    assert {address for _, address in links(folder / public / "birds" / "robin" / "index.html", "main")} == BIRDS
    before = (folder / data).read_bytes()
    pagekin.update_site(folder / public, data=folder / data, limit=3, index=folder / "site.kin", processes=1)
    assert (folder / data).read_bytes() == before


@pytest.mark.slow
def test_hugo_prints_the_lists_of_its_data_file(tmp_path: Path) -> None:
    hugo = command("hugo")
    shutil.copytree(TEMPLATES / "hugo", tmp_path, dirs_exist_ok=True)
    write_markdown(tmp_path / "content")
    layouts = tmp_path / "layouts" / "_default"
    layouts.mkdir()
    page = '<!doctype html><title>{{ .Title }}</title><main>{{ .Content }}{{ partial "pagekin.html" . }}</main>'
    (layouts / "single.html").write_text(page)
    (layouts / "list.html").write_text("<title>{{ .Title }}</title><main>{{ .Content }}</main>")
    (tmp_path / "config.toml").write_text('baseURL = "https://example.org/blog/"\n')
    check_twice(tmp_path, "public", "data/pagekin.json", hugo)


@pytest.mark.slow
def test_jekyll_prints_the_lists_of_its_data_file(tmp_path: Path) -> None:
    jekyll = command("jekyll")
    shutil.copytree(TEMPLATES / "jekyll", tmp_path, dirs_exist_ok=True)
    write_markdown(tmp_path, "layout: page\n")
    (tmp_path / "_layouts").mkdir()
    page = "<!doctype html><title>{{ page.title }}</title><main>{{ content }}{% include pagekin.html %}</main>"
    (tmp_path / "_layouts" / "page.html").write_text(page)
    (tmp_path / "_config.yml").write_text("baseurl: /blog\npermalink: pretty\nexclude: [site.kin]\n")
    check_twice(tmp_path, "_site", "_data/pagekin.json", jekyll, "build", "--quiet")


@pytest.mark.slow
def test_eleventy_prints_the_lists_of_its_data_file(tmp_path: Path) -> None:
    eleventy = command("eleventy")
    shutil.copytree(TEMPLATES / "eleventy", tmp_path, dirs_exist_ok=True)
    write_markdown(tmp_path, "layout: page.njk\n")
    page = '<!doctype html><title>{{ title }}</title><main>{{ content | safe }}{% include "pagekin.njk" %}</main>'
    (tmp_path / "_includes" / "page.njk").write_text(page)
    check_twice(tmp_path, "_site", "_data/pagekin.json", eleventy, "--quiet", "--pathprefix=/blog/")


@pytest.mark.slow
def test_the_output_of_zensical_gets_lists_after_the_build(tmp_path: Path) -> None:
    zensical = command("zensical")
    write_sources(tmp_path / "docs", ".md", underline=False)
    (tmp_path / "docs" / "index.md").write_text("# Home\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: Birds and trees\n")
    run(tmp_path, zensical, "build")
    report = pagekin.update_site(tmp_path / "site", inject=True, limit=3, processes=1)
    assert report.lists == len(TEXTS)
    found = links(tmp_path / "site" / "birds" / "robin" / "index.html", "article")
    assert {address for _, address in found} == {"../wren/", "../finch/", "../tit/"}
