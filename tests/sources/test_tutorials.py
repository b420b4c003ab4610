"""The commands in `docs/sources.md` work in their order, and name what they should find."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.processes import in_this_process
from sources.test_crawls import ARC
from sources.trap_site import trap_site
from sources.walk import file, json_lines
from sources.warcs import HTML, gz, response
from sources.wikis import multistream, wiki_page
from sources.zims import Page, write_zim
from sources.zips import wacz

PAGE = (Path(__file__).parents[2] / "docs" / "sources.md").read_text("utf-8")
TREES = ("Oak", "Birch", "Beech", "Ash")
FISH = ("Carp", "Pike", "Perch", "Eel")


def commands(section: str) -> list[list[str]]:
    """The commands of a section."""
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S) for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("pagekin")]


def run(section: str, folder: Path, *more: str, url: str = "") -> list[str]:
    """Run the commands of a section, on another URL than https://example.org/; what they print."""
    printed = []
    for _, *arguments in commands(section):
        arguments = [url if each == "https://example.org/" else each for each in arguments]
        done = in_this_process(*arguments, *more, folder=folder)
        assert (done.code, done.err) == (0, ""), arguments
        printed.append(done.out)
    return printed


def about(name: str) -> str:
    trees = "a tree with leaves and bark that grows in a forest with moss, roots, twigs and branches"
    fish = "a fish with fins and scales that swims in a river with reeds, weirs, currents and pools"
    return f"{name} is {trees if name in TREES else fish}."


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for kind, names in (("trees", TREES), ("fish", FISH)):
        for name, other in zip(names, (*names[1:], names[0]), strict=True):
            text = f"---\ntags: [{kind}]\n---\n{about(name)} See [[{other}]].\n"
            file(tmp_path / f"notes/{kind}/{name}.md", text.encode())
    return tmp_path


def test_notes(notes: Path) -> None:
    built, related, by_tags, by_path = run("Notes", notes)
    assert "8 pages of 1 host, 8 links between them" in built
    assert "trees/Ash.md" in related and "trees/Birch.md" not in related  # Oak links to Birch
    assert "8 pages in 2 classes" in by_tags and "8 pages in 2 classes" in by_path


def test_wikis(tmp_path: Path) -> None:
    pages = [wiki_page("Category:Trees", "[[Category:Nature]]", 99, 14), wiki_page("Quercus", "", 98, redirect="Oak")]
    for kind, names in (("Trees", TREES), ("Fish", FISH)):
        for name, other in zip(names, (*names[1:], names[0]), strict=True):
            pages.append(wiki_page(name, f"{about(name)} See [[{other}]]. [[Category:{kind}]]", len(pages)))
    file(tmp_path / "simplewiki-pages-articles-multistream.xml.bz2", b"".join(multistream(pages)))
    built, related, evaluated = run("Wikis", tmp_path)
    assert "8 pages of 1 host, 8 links between them" in built
    assert "wiki.example/wiki/Ash" in related and "wiki.example/wiki/Birch" not in related
    assert "8 pages in 2 classes" in evaluated


def test_zim_files(tmp_path: Path) -> None:
    pages = [Page(name, name, f"<title>{name}</title><p>{about(name)}") for name in (*TREES, *FISH)]
    write_zim(tmp_path / "trees.zim", iter(pages))
    built, related = run("ZIM files", tmp_path)
    assert "8 pages of 1 host" in built
    assert all(f"trees.localhost/{name}" in related for name in TREES)


def test_crawls(tmp_path: Path) -> None:
    archives, index = b"", ""
    for name, year in (*((name, 2020) for name in TREES), ("Oak", 2023)):
        record = gz(response(f"http://a.example/{name}", about(name).encode(), HTML, date=f"{year}-06-01T00:00:00Z"))
        file(tmp_path / f"crawls/{name}{year}.warc.gz", record)
        place = {"url": f"http://a.example/{name}", "filename": "all.warc.gz", "offset": len(archives)}
        index += f"x {year}0601000000 {json.dumps({**place, 'length': len(record)})}\n"
        archives += record
    file(tmp_path / "crawls/list.txt", b"Oak2020.warc.gz\nBirch*.warc.gz\n")
    file(tmp_path / "crawls/archive/all.warc.gz", archives)
    file(tmp_path / "crawls/indexes/index.cdxj", index.encode())
    file(
        tmp_path / "web.wacz", wacz({"archive/a.warc.gz": gz(response("http://a.example/Elm", about("Elm").encode()))})
    )
    file(tmp_path / "old.arc.gz", gzip.compress(ARC[0]) + gzip.compress(ARC[1]))
    by_pattern, by_list, then, by_index, both = run("Crawls", tmp_path, "--allow-shrink")
    assert "4 pages of 1 host" in by_pattern and "2 pages of 1 host" in by_list and "4 pages" in then
    assert "4 pages of 1 host" in by_index and "2 pages of 1 host" in both
    shown = [
        in_this_process("show", store, "a.example/Oak", folder=tmp_path).out for store in ("then.kin", "first.kin")
    ]
    assert all("captured 2020-06-01" in each for each in shown)


def test_tables_of_pages(tmp_path: Path) -> None:
    json_lines(tmp_path / "feed.jl", {"url": "http://a.example/Oak", "body": about("Oak")})
    pq.write_table(pa.table({"url": ["http://a.example/Elm"], "content": [about("Elm")]}), tmp_path / "pages.parquet")
    assert "2 pages of 1 host" in run("Tables of pages", tmp_path)[0]


@pytest.mark.slow
def test_a_live_site(tmp_path: Path) -> None:
    """A setting leaves out the pause of a second between two pages."""
    file(tmp_path / "pagekin.toml", b"[crawl]\ndelay = 0.0\n")
    with trap_site() as site:
        crawled, built = run("A live site", tmp_path, url=site.url + "oak")
    assert "site.warc.gz: " in crawled and "finished" in crawled
    assert (
        "of 1 host" in built and "http://127.0.0.1" in in_this_process("search", "site.kin", "elm", folder=tmp_path).out
    )
