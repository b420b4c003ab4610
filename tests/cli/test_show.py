"""`pagekin show`: all that is known of a page, found by whatever name, and safe to print."""

from __future__ import annotations

import json
import unicodedata
from hashlib import sha256
from pathlib import Path

import pytest

from cli.conftest import PAGES, Pagekin
from cli.processes import in_a_terminal, in_this_process
from pagekin.pipeline import build
from pagekin.urls import page_id
from store.builders import page, write_jsonl

ROBIN = "http://lib.example/birds/robin.html"


def test_json_has_the_documented_keys(pagekin: Pagekin, library: Path) -> None:
    answer = pagekin("show", library, ROBIN, "--json", "--text")
    assert (answer.code, answer.err) == (0, "")
    facts = json.loads(answer.out)
    html = PAGES["birds/robin.html"]
    text = "Robins sing all winter, even at night. The wren home far away"
    assert facts.pop("captured").endswith("Z")
    terms = facts.pop("top_terms")
    assert {"winter", "robins", "wren", "night"} <= {each["term"] for each in terms}
    assert not {"the", "all", "at"} & {each["term"] for each in terms}
    assert facts == {
        "id": page_id(ROBIN),
        "url": ROBIN,
        "title": "The robin in winter",
        "host": "lib.example",
        "language": "en",
        "charset": "utf-8",
        "source": "web/birds/robin.html",
        "words": 12,
        "html_bytes": len(html),
        "sha256": sha256(html.encode()).hexdigest()[:32],
        "in_degree": 2,
        "out_degree": 3,
        "aliases": [{"url": "http://lib.example/birds/old.html", "kind": "redirect"}],
        "excerpt": text,
        "other_captures": [],
        "anchor_texts": [{"text": "a robin", "count": 1}, {"text": "Robins", "count": 1}],
        "linked_from": [
            {"url": "http://lib.example/birds/wren.html", "title": "The wren in winter"},
            {"url": "http://lib.example/index.html", "title": "The borough library"},
        ],
        "links_to": [
            {"url": "http://lib.example/birds/wren.html", "title": "The wren in winter"},
            {"url": "http://lib.example/index.html", "title": "The borough library"},
            {"url": "http://far.example/", "title": ""},
        ],
        "text": text,
    }


def test_without_being_asked_the_text_is_not_in_the_json(pagekin: Pagekin, library: Path) -> None:
    assert "text" not in json.loads(pagekin("show", library, ROBIN, "--json").out)


def test_a_moment_is_told_in_iso_8601_or_not_at_all(pagekin: Pagekin, tmp_path: Path) -> None:
    rows = [page("http://a.example/1", "<p>x", 1_262_304_000), page("http://a.example/2", "<p>x", 0)]
    build([write_jsonl(tmp_path / "a.jsonl", rows)], "x.kin", processes=1)
    assert json.loads(pagekin("show", "x.kin", "a.example/1", "--json").out)["captured"] == "2010-01-01T00:00:00Z"
    assert json.loads(pagekin("show", "x.kin", "a.example/2", "--json").out)["captured"] is None


def test_people_are_told_the_same(pagekin: Pagekin, library: Path) -> None:
    lines = pagekin("show", library, ROBIN).out.splitlines()
    assert lines[:2] == ["The robin in winter", ROBIN]
    assert lines[2].startswith("  en, utf-8, 12 words, captured 2")
    assert lines[3] == "  also http://lib.example/birds/old.html (redirect)"
    assert lines[4].startswith("  about robins, winter, ")  # both are there twice, and it begins with robins
    assert lines[5] == ""
    assert "2 pages link here, saying:" in lines
    assert "  1  a robin" in lines
    assert "Linked from:" in lines
    assert "Links to 3 pages:" in lines


def test_text_is_the_whole_text(pagekin: Pagekin, library: Path) -> None:
    answer = pagekin("show", library, ROBIN, "--text")
    assert answer.out == "Robins sing all winter, even at night. The wren home far away\n"


@pytest.mark.parametrize(
    "name",
    [
        ROBIN,
        "https://lib.example/birds/robin",
        "lib.example/birds/robin.html",
        "http://lib.example/birds/old.html",
        "web/birds/robin.html",
        "birds/robin.html",
        "the robin in winter",
        "robin",
    ],
)
def test_a_page_has_many_names(pagekin: Pagekin, library: Path, name: str) -> None:
    answer = pagekin("show", library, name, "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["url"] == ROBIN


def test_a_page_is_found_by_the_file_that_was_read(pagekin: Pagekin, library: Path) -> None:
    answer = pagekin("show", library, library.parent / "web" / "birds" / "robin.html", "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["url"] == ROBIN


def test_words_of_several_titles_are_ambiguous(pagekin: Pagekin, library: Path) -> None:
    answer = pagekin("show", library, "winter")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines()[0] == "pagekin: 'winter' could be several pages; name one by its URL:"
    assert sorted(answer.err.splitlines()[1:]) == [
        f"  {ROBIN}  The robin in winter",
        "  http://lib.example/birds/wren.html  The wren in winter",
    ]


def test_an_unknown_page_is_answered_with_the_nearest(pagekin: Pagekin, library: Path) -> None:
    answer = pagekin("show", library, "http://lib.example/birds/rob.html")
    assert (answer.code, answer.out) == (2, "")
    assert f"no page 'http://lib.example/birds/rob.html' in {library}; did you mean:" in answer.err
    assert ROBIN in answer.err
    answer = pagekin("show", library, "zebra")
    assert answer.code == 2
    assert answer.err == f"pagekin: no page 'zebra' in {library}\n"


# --- what a crawl says must not move the cursor ---------------------------------------------------

NASTY = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202ereversed\x08\x7f"


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    web = folder / f"web{NASTY}"
    web.mkdir()
    body = f"<p>{NASTY} text <a href=b.html>{NASTY} anchor</a> <a href='c{NASTY}.html'>c</a>"
    for name in ("a", "b", f"c{NASTY}"):
        (web / f"{name}.html").write_text(f"<html lang='en{NASTY}'><title>Bad {NASTY} title</title>{body}", "utf-8")
    (web / f"{NASTY}.png").write_text("no page")
    build([web], folder / "nasty.kin", base_urls=["http://a.example/"], processes=1)
    return folder / "nasty.kin"


def harmless(said: bytes | str) -> bool:
    """Whether nothing in it moves a cursor, changes a colour, rings a bell or, outside JSON, turns the direction."""
    text = said.decode() if isinstance(said, bytes) else said
    controls = [c for c in text if unicodedata.category(c) == "Cc" and c not in "\r\n"]
    return not controls and (text.startswith("{") or "\u202e" not in text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "{}", "http://a.example/b.html"],
        ["show", "{}", "http://a.example/b.html", "--text"],
        ["show", "{}", "http://a.example/b.html", "--json"],
        ["show", "{}", "bad title"],
        ["show", "{}", "http://a.example/zzz.html"],
        ["show", "{}", "bad"],
        ["info", "{}"],
        ["info", "{}", "--json"],
        ["check", "{}"],
    ],
    ids=" ".join,
)
def test_escape_sequences_of_a_crawl_do_not_reach_the_terminal(nasty: Path, arguments: list[str]) -> None:
    filled = [each.format(nasty) for each in arguments]
    _, said = in_a_terminal(*filled)
    assert said
    assert harmless(said)
    piped = in_this_process(*filled, folder=nasty.parent)
    assert harmless(piped.out)
    assert harmless(piped.err)


@pytest.mark.slow
def test_escape_sequences_do_not_reach_the_terminal_while_building(nasty: Path, tmp_path: Path) -> None:
    (source,) = nasty.parent.glob("web*")
    arguments = ["build", str(source), "-o", "x.kin", "--base-url", "http://a.example/"]
    answer = in_this_process(*arguments, folder=tmp_path)
    assert answer.code == 0
    assert harmless(answer.out.replace(str(source), ""))


def test_pages_are_searched_by_words_of_titles_and_of_texts(pagekin: Pagekin, library: Path) -> None:
    answer = pagekin("search", library, "robins", "at", "night")
    assert (answer.code, answer.out) == (0, f"The robin in winter\n       {ROBIN}\n")
    found = json.loads(pagekin("search", library, "robin", "--json").out)
    assert (found["query"], found["pages"][0]["url"]) == ("robin", ROBIN)
    assert pagekin("search", library, "nonsense").out == "No page has these words, or this text in its URL.\n"
    assert pagekin("search", library).code == 2
