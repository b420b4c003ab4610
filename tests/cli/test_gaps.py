"""`pagekin gaps` and `pagekin mcp`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cli.conftest import Pagekin

OCTOBER = "http://almanac.example/october.html"


def test_missing_links_are_printed_with_words_and_sentence(pagekin: Pagekin, sample_index: Path) -> None:
    answer = pagekin("gaps", sample_index, OCTOBER, "--limit", "1")
    assert answer.code == 0
    assert "October, the month to get ready for gales" in answer.out
    assert "-> A gale and the Beaufort scale  http://skydiary.example/gale.html" in answer.out
    assert "link 'A gale' (anchor; in-links of the target: " in answer.out
    assert "1 missing link from 1 page, " in answer.out.splitlines()[-1]


def test_json_has_what_the_text_has(pagekin: Pagekin, sample_index: Path) -> None:
    answer = pagekin("gaps", sample_index, OCTOBER, "--limit", "1", "--json")
    [gap] = json.loads(answer.out)["missing"]
    assert (gap["source"]["url"], gap["words"], gap["words_from"]) == (OCTOBER, "A gale", "anchor")
    assert gap["sentence"].startswith("A gale belongs to a wide depression")


def test_a_file_is_written_and_named(pagekin: Pagekin, sample_index: Path, tmp_path: Path) -> None:
    answer = pagekin("gaps", sample_index, "-o", "gaps.csv", "--limit", "4")
    assert answer.out.startswith("gaps.csv: 4 missing links from 213 pages, ")
    assert (tmp_path / "gaps.csv").read_text("utf-8").startswith("kind,source,target,decision,")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("-o", "gaps.pdf"), "gaps.pdf has no known suffix; name a file whose suffix is one of csv, json, html"),
        (("--decisions", "none.csv"), "none.csv cannot be read"),
        (("--include", "("), "is not a regular expression"),
        (("http://nowhere.example/",), "no page 'http://nowhere.example/'"),
        (("--per-page", "0"), "0 is not in the range 1<=x<=100"),
    ],
)
def test_misuse_is_told_and_nothing_is_written(
    pagekin: Pagekin, sample_index: Path, tmp_path: Path, arguments: tuple[str, ...], problem: str
) -> None:
    answer = pagekin("gaps", sample_index, *arguments)
    assert (answer.code, problem in answer.err) == (2, True), answer.err
    assert not list(tmp_path.glob("gaps*"))


@pytest.mark.parametrize("arguments", [(), ("--decisions", "gaps.csv")])
def test_a_file_of_decisions_is_not_overwritten(
    pagekin: Pagekin, sample_index: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    write = ("gaps", sample_index, "-o", "gaps.csv", "--limit", "2")
    assert [pagekin(*write).code, pagekin(*write).code] == [0, 0]  # without decisions it can be written again
    file = tmp_path / "gaps.csv"
    decided = file.read_text("utf-8").replace(",,", ",dismissed,", 1)
    file.write_text(decided, "utf-8")
    answer = pagekin(*write, *arguments)
    assert (answer.code, "gaps.csv has 1 decision, which would be lost" in answer.err) == (2, True), answer.err
    assert file.read_text("utf-8") == decided


def test_a_file_that_cannot_be_written_is_a_failure(pagekin: Pagekin, sample_index: Path) -> None:
    answer = pagekin("gaps", sample_index, "-o", "nowhere/gaps.csv", "--limit", "1")
    assert answer.code == 1
    assert "gaps.csv cannot be written" in answer.err


def test_assistants_need_their_library_and_a_store(
    pagekin: Pagekin, sample_index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = pagekin("mcp", "nowhere.kin")
    assert (answer.code, answer.out) == (2, "")
    assert "nowhere.kin" in answer.err
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    answer = pagekin("mcp", sample_index)
    assert answer.code == 2
    assert "pip install 'pagekin[mcp]'" in answer.err
