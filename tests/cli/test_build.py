"""`pagekin build`: what it says and what it makes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Pagekin
from cli.processes import in_a_terminal
from pagekin.engines.local import WorkerPool
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.store import Store
from pagekin.urls import host_of

BUILD = ("build", "web", "-o", "x.kin", "--base-url", "http://lib.example")


def test_json_has_the_documented_keys(pagekin: Pagekin, web: Path) -> None:
    answer = pagekin(*BUILD, "--json")
    assert (answer.code, answer.err) == (0, "")
    report = json.loads(answer.out)
    assert {key: report[key] for key in report if key != "counts"} == {
        "store": "x.kin",
        "generation": 1,
        "changed": True,
        "read": 4,
        "reused": 0,
        "skipped": {"not HTML": 1, "redirects to another page": 1},
    }
    keys = "pages hosts nodes outside aliases tokens forms words anchors links blocks html_bytes text_bytes".split()
    assert list(report["counts"]) == keys
    assert (report["counts"]["pages"], report["counts"]["outside"], report["counts"]["aliases"]) == (3, 1, 1)


def test_json_tells_what_was_reused_and_whether_anything_changed(pagekin: Pagekin, web: Path) -> None:
    (web / "birds" / "old.html").unlink()
    pagekin(*BUILD)
    again = json.loads(pagekin(*BUILD, "--json").out)
    assert (again["changed"], again["read"], again["reused"], again["generation"]) == (False, 0, 3, 1)
    (web / "new.html").write_text("<p>new")
    more = json.loads(pagekin(*BUILD, "--json").out)
    assert (more["changed"], more["read"], more["reused"], more["generation"]) == (True, 1, 3, 2)


def test_people_are_told_what_was_read_what_was_skipped_and_what_to_do_next(pagekin: Pagekin, web: Path) -> None:
    answer = pagekin(*BUILD)
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "x.kin: 3 pages of 1 host, 4 links between them",
        "  4 pages read, 0 unchanged since the last build",
        "Skipped or cut:",
        "  1  not HTML",
        "  1  redirects to another page",
        "Try next:  pagekin related x.kin http://lib.example/birds/robin.html",
    ]
    assert pagekin(*BUILD).out == "Nothing has changed; x.kin holds 3 pages.\n"


def test_the_number_of_shards_is_told_and_kept(pagekin: Pagekin, web: Path) -> None:
    (web / "birds" / "old.html").unlink()  # it redirects, so that no store has it, and every build reads it again
    assert pagekin(*BUILD, "--shards", "3").code == 0
    assert pagekin("info", "x.kin").out.splitlines()[0].endswith(" in 3 shards")
    assert json.loads(pagekin("info", "x.kin", "--json").out)["shards"] == 3
    assert pagekin(*BUILD).out == "Nothing has changed; x.kin holds 3 pages.\n"
    answer = pagekin(*BUILD, "--shards", "4")
    assert (answer.code, answer.err) == (2, "pagekin: 4 shards of 3 pages; ask for at most 3 with --shards\n")
    assert pagekin(*BUILD, "--shards", "201").code == 2
    assert pagekin("check", "x.kin").code == 0
    assert pagekin(*BUILD, "--shards", "1").out.splitlines()[1].startswith("  0 pages read")
    assert "shards" not in pagekin("info", "x.kin").out


def test_vectors_of_pages_are_told_of(pagekin: Pagekin, web: Path) -> None:
    """A vector of a page that is not there, and pages without one."""
    np.save("v.npy", np.eye(3))
    urls = ("http://lib.example/birds/robin.html", "birds/wren.html", "http://lib.example/gone.html")
    Path("v.urls").write_text("\n".join(urls))
    told = "2 pages with vectors of 3 dimensions, 1 page without, 1 vector of no page of the collection"
    assert pagekin(*BUILD, "--vectors", "v.npy").out.splitlines()[2] == f"  {told}"
    assert f"Vectors: {told}" in pagekin("info", "x.kin").out
    report = json.loads(pagekin(*BUILD, "--vectors", "v.npy", "--json").out)
    assert report["changed"] is False
    assert {key: report["vectors"][key] for key in ("pages", "without", "unknown", "repeated")} == {
        "pages": 2,
        "without": 1,
        "unknown": 1,
        "repeated": 0,
    }


def test_a_file_that_has_no_vectors_is_misuse_before_anything_is_written(pagekin: Pagekin, web: Path) -> None:
    Path("v.npy").write_text("no vectors")
    answer = pagekin(*BUILD, "--vectors", "v.npy")
    assert (answer.code, "v.npy is not a .npy file of floats" in answer.err) == (2, True)
    assert not Path("x.kin").exists()


def test_a_build_that_would_lose_vectors_is_misuse(pagekin: Pagekin, web: Path) -> None:
    np.save("v.npy", np.eye(1))
    Path("v.txt").write_text("birds/wren.html")
    assert pagekin(*BUILD, "--vectors", "v.npy").code == 0
    (web / "new.html").write_text("<p>new")
    answer = pagekin(*BUILD)
    assert (answer.code, "--vectors FILE" in answer.err) == (2, True)
    assert pagekin(*BUILD, "--vectors", "v.npy").code == 0


def test_what_it_says_to_do_next_can_be_done(pagekin: Pagekin, web: Path) -> None:
    command = pagekin(*BUILD).out.splitlines()[-1].removeprefix("Try next:  pagekin ").split()
    assert pagekin(*command).code == 0


def test_quiet_says_nothing(pagekin: Pagekin, web: Path) -> None:
    assert pagekin(*BUILD, "-q") == (0, "", "")


def test_options_reach_the_reading(pagekin: Pagekin, web: Path) -> None:
    flags = "--max-page-size 2 --max-links 1 --max-url-length 10 --obey-noindex --obey-nofollow --chop-host"
    assert pagekin(*BUILD, "-q", *flags.split(), "--processes", "1").code == 0
    assert Store.open("x.kin").manifest.settings == {
        "max_page_bytes": 2 * 1024 * 1024,
        "max_links": 1,
        "max_url_bytes": 10,
        "obey_noindex": True,
        "obey_nofollow": True,
        "chop_host": True,
        "exclude": [],
        "follow_links": False,
        "capture": "latest",
        "namespaces": [0],
    }


def test_each_folder_may_have_its_base_or_its_host(pagekin: Pagekin, web: Path) -> None:
    assert pagekin("build", "web/birds", "-o", "one.kin", "-q").code == 0
    assert {host_of(url) for url in Store.open("one.kin").reading.pages.url} == {"birds.localhost"}
    hosts = Path("hosts")
    (hosts / "a.example").mkdir(parents=True)
    (hosts / "a.example" / "index.html").write_text("<p>a")
    assert pagekin("build", "hosts", "-o", "two.kin", "-q", "--base-url", "http://").code == 0
    assert list(Store.open("two.kin").reading.pages.url) == ["http://a.example/index.html"]
    arguments = ["build", "web", "hosts", "-o", "three.kin", "-q", "--base-url", "http://w.example/"]
    assert pagekin(*arguments, "--base-url", "http://").code == 0
    hosts_of = {host_of(url) for url in Store.open("three.kin").reading.pages.url}
    assert hosts_of == {"w.example", "a.example"}


def test_a_store_inside_its_source_is_not_read(pagekin: Pagekin, web: Path) -> None:
    os.chdir(web)
    assert pagekin("build", ".", "-o", "site.kin", "-q").code == 0
    assert pagekin("build", ".", "-o", "site.kin").out == "Nothing has changed; site.kin holds 3 pages.\n"


@pytest.mark.slow
def test_there_is_a_bar_on_a_terminal(web: Path, tmp_path: Path) -> None:
    code, said = in_a_terminal("build", web, "-o", tmp_path / "x.kin", "--processes", "1")
    assert code == 0
    assert b"reading" in said
    assert b"%" in said
    code, said = in_a_terminal("build", web, "-o", tmp_path / "y.kin", "--quiet")
    assert (code, said) == (0, b"")


def test_a_base_url_that_looks_wrong_is_told(pagekin: Pagekin, tmp_path: Path) -> None:
    """Links that begin above the folder that was named: the site has its pages in /wiki/."""
    for name in range(5):
        page = "".join(f"<p><a href=/wiki/{k}.html>page {k}</a>" for k in range(5))
        (tmp_path / f"{name}.html").write_text(page, "utf-8")
    told = pagekin("build", tmp_path, "-o", tmp_path / "x.kin").out
    assert "Nearly all of 25 links lead to pages that are not in the collection" in told
    assert "Nearly all" not in pagekin("build", tmp_path, "-o", tmp_path / "y.kin", "--base-url", "http://a/wiki/").out


def test_the_language_of_pages_that_name_none_can_be_told(pagekin: Pagekin, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>Katzen und Häuser", "utf-8")
    for language in ("de", "en"):
        pagekin("build", tmp_path / "a.html", "-o", tmp_path / f"{language}.kin", "--language", language)
    english, german = (IndexedStore.open(tmp_path / f"{language}.kin").index for language in ("en", "de"))
    assert (english.strategy.language, german.strategy.language) == ("en", "de")
    assert set(german.terms.name) == {"katzen", "häuser"}  # `und` is a stop word of German alone
    assert set(english.terms.name) == {"katzen", "häuser", "und"}
    wrong = pagekin("build", tmp_path / "a.html", "-o", tmp_path / "x.kin", "--language", "klingon")
    assert (wrong.code, "klingon" in wrong.err) == (2, True)


@pytest.mark.parametrize("wrong", ["much", "-1GiB", "4XiB", "1MiB"])
def test_a_memory_that_makes_no_sense_is_misuse(pagekin: Pagekin, web: Path, wrong: str) -> None:
    answer = pagekin("build", web, "-o", "x.kin", "--memory", wrong)
    assert answer.code == 2
    assert "memory is 1048576 bytes" in answer.err or "is not a size" in answer.err
    assert not Path("x.kin").exists()


def test_no_more_processes_read_than_fit_into_the_memory(
    pagekin: Pagekin, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []

    def run(function: object, jobs: object, pool: WorkerPool) -> list[object]:
        counts.append(pool.workers)
        return []

    monkeypatch.setattr("pagekin.pipeline.reading.run", run)
    for memory in ("2GiB", "3GiB", "40GiB"):
        pagekin("build", web, "-o", f"{memory}.kin", "--processes", "7", "--memory", memory)
    assert counts == [1, 4, 7]  # 1.5 GiB for the one that collects, 3/8 GiB for each that reads


def test_a_build_without_pages_fails_and_keeps_the_store(pagekin: Pagekin, web: Path, tmp_path: Path) -> None:
    """A site generator that failed leaves an empty folder, or one of files that are not pages."""
    assert pagekin(*BUILD, "-q").code == 0
    for path in web.rglob("*.html"):
        path.unlink()
    for flags in ([], ["--allow-shrink"]):
        answer = pagekin(*BUILD, *flags)
        told = "no page was found; in web: it has 1 file, but no HTML or Markdown (.png 1); x.kin is unchanged"
        assert (answer.code, answer.out, answer.err) == (1, "", f"pagekin: {told}\n")
    assert pagekin("related", "x.kin", "http://lib.example/birds/robin.html").code == 0
    (web / "picture.png").unlink()
    assert pagekin("build", "web", "-o", "new.kin").err == "pagekin: no page was found; in web: it has no files\n"
    lines = [{"url": "http://a.example/"}, {"url": "ftp://a.example/", "text": "robins"}]
    Path("lines.jsonl").write_text("\n".join(map(json.dumps, lines)))
    told = (
        "no page was found; skipped: 1 line without url, or without html and text (such as line 1), 1 no http or https"
    )
    assert told in pagekin("build", "lines.jsonl", "-o", "new.kin").err


def test_a_folder_of_other_files_gets_a_way_out(pagekin: Pagekin, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    for name in ("a.rst", "b.rst", "c.RST", "picture.png"):
        (tmp_path / "notes" / name).write_text("# Robins")
    answer = pagekin("build", "notes", "-o", "x.kin")
    told = "no page was found; in notes: it has 4 files, but no HTML or Markdown (.rst 3, .png 1); for each file: build"
    assert (answer.code, told in answer.err) == (1, True)


def test_a_build_that_loses_more_than_half_of_the_pages_must_be_allowed(
    pagekin: Pagekin, web: Path, tmp_path: Path
) -> None:
    """Three pages of six are half, two are not."""
    for k in range(3):
        (web / f"more{k}.html").write_text(f"<p>page {k}")
    assert pagekin(*BUILD, "-q").code == 0
    for k in range(3):
        (web / f"more{k}.html").unlink()
    assert pagekin(*BUILD, "-q").code == 0
    (web / "index.html").unlink()
    (web / "birds" / "wren.html").unlink()
    before = Path("x.kin/manifest.json").read_bytes()
    answer = pagekin(*BUILD)
    assert (answer.code, answer.out) == (1, "")
    assert "x.kin has 3 pages, the sources have only 1; x.kin is unchanged" in answer.err
    assert "--allow-shrink" in answer.err
    assert Path("x.kin/manifest.json").read_bytes() == before
    assert pagekin(*BUILD, "-q", "--allow-shrink").code == 0
    assert len(Store.open("x.kin")) == 1


def test_pages_can_be_excluded_by_their_urls(pagekin: Pagekin, web: Path) -> None:
    flags = ("--exclude", "wren", "--exclude", r"/index\.html$")
    answer = pagekin(*BUILD, *flags)
    assert answer.out.splitlines()[:4] == [
        "x.kin: 1 page of 1 host, 0 links between them",
        "  2 pages read, 0 unchanged since the last build",
        "Skipped or cut:",
        "  2  excluded by a pattern",
    ]
    assert list(Store.open("x.kin").reading.pages.url) == ["http://lib.example/birds/robin.html"]
    assert pagekin(*BUILD, *flags).out == "Nothing has changed; x.kin holds 1 page.\n"
    assert "3 pages of 1 host" in pagekin(*BUILD).out  # without the patterns the pages are back
    wrong = pagekin(*BUILD, "--exclude", "(")
    assert (wrong.code, "not a regular expression" in wrong.err) == (2, True)


def test_an_archive_with_excluded_pages_is_not_read_again(pagekin: Pagekin, tmp_path: Path) -> None:
    """An older capture that wins again is read again, an excluded one beside it is not."""
    rows = [("a", 1), ("b", 1), ("c", 1)]
    pages = [{"url": f"http://x.example/{name}", "text": f"page {name}", "captured": day} for name, day in rows]
    Path("old.jsonl").write_text("\n".join(map(json.dumps, pages)))
    Path("new.jsonl").write_text(json.dumps({"url": "http://x.example/a", "text": "newer", "captured": 2}))
    assert pagekin("build", "old.jsonl", "new.jsonl", "-o", "x.kin", "-q", "--exclude", "/b$").code == 0
    again = json.loads(pagekin("build", "old.jsonl", "-o", "x.kin", "--exclude", "/b$", "--json").out)
    assert (again["read"], again["counts"]["pages"]) == (1, 2)
    assert again["skipped"] == {"excluded by a pattern": 1}
    assert list(Store.open("x.kin").reading.pages.url) == ["http://x.example/a", "http://x.example/c"]
