"""Capture -> bytes to scan: within bounds, in UTF-8, plain text dressed as HTML."""

from __future__ import annotations

import os
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.model.capture import Capture, Origin, Skip
from pagekin.model.settings import ReadingSettings
from pagekin.reading.bodies import Body, load_body, text_as_html

SETTINGS = ReadingSettings(max_page_bytes=20)


def capture(body: bytes | None = None, path: Path | str = "", **facts: object) -> Capture:
    return Capture("http://a.example/", Origin("a", 0, 0, 0), body=body, path=str(path), **facts)  # type: ignore[arg-type]


def test_a_body_at_hand_is_taken_as_it_is() -> None:
    body = load_body(capture(b"<p>caf\xe9", charset="latin1"), SETTINGS)
    assert isinstance(body, Body)
    assert (body.html, body.charset, body.size) == ("<p>café".encode(), "windows-1252", 7)


def test_the_digest_is_of_the_bytes_that_were_captured() -> None:
    data = b"<p>caf\xe9"
    for charset in ("latin1", "koi8-r"):
        body = load_body(capture(data, charset=charset), SETTINGS)
        assert isinstance(body, Body)
        assert body.digest == sha256(data).digest()[:16]


def test_a_body_in_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(b"<p>word")
    body = load_body(capture(path=path), SETTINGS)
    assert isinstance(body, Body)
    assert body.html == b"<p>word"


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"x" * 21, "page too large"), (b"", "empty page"), (b" \n\t\r ", "empty page"), (b"x" * 20, None)],
)
def test_what_is_too_large_or_empty_is_skipped(tmp_path: Path, data: bytes, reason: str | None) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(data)
    for each in (capture(data), capture(path=path)):
        found = load_body(each, SETTINGS)
        assert (found.reason if isinstance(found, Skip) else None) == reason


def test_a_file_that_is_gone_is_skipped_with_the_reason(tmp_path: Path) -> None:
    found = load_body(capture(path=tmp_path / "gone.html"), SETTINGS)
    assert found == Skip("a", "unreadable file (No such file or directory)", "http://a.example/")
    (tmp_path / "folder.html").mkdir()
    found = load_body(capture(path=tmp_path / "folder.html"), SETTINGS)
    assert isinstance(found, Skip)
    assert found.reason == "unreadable file (Is a directory)"


def test_of_a_huge_file_no_more_is_read_than_needed(tmp_path: Path) -> None:
    path = tmp_path / "huge.html"
    with path.open("wb") as file:
        os.truncate(file.fileno(), 1 << 40)
    found = load_body(capture(path=path), SETTINGS)
    assert isinstance(found, Skip)
    assert found.reason == "page too large"


def test_plain_text_becomes_paragraphs() -> None:
    assert text_as_html("one\r\ntwo\r\n\r\nthree\n \t\nfour\n\n\n") == "<p>one\ntwo<p>three<p>four"
    assert text_as_html("") == ""


class Words(HTMLParser):
    """The text of a page by the standard library."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        self.text += "\n"

    def handle_data(self, data: str) -> None:
        self.text += data


@given(st.text(st.sampled_from("ab <>&;/!-\"'\n\t=é"), max_size=40))
def test_plain_text_says_as_html_what_it_says_as_text(text: str) -> None:
    parser = Words()
    parser.feed(text_as_html(text))
    parser.close()
    assert parser.text.split() == text.split()
    assert set(parser.tags) <= {"p"}


def test_plain_text_is_read_as_text() -> None:
    body = load_body(capture(b"a <b> & c", plain=True, title="T<i>"), SETTINGS)
    assert isinstance(body, Body)
    assert body.html == b"<title>T&lt;i&gt;</title><p>a &lt;b&gt; &amp; c"
