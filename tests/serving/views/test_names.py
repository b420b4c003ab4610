"""Crawled text prepared for display."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.serving.views.names import (
    clean_line,
    name_from_url,
    original_href,
    short_url,
    shorten_middle,
)

TURNS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(st.text(), st.integers(2, 50))
def test_a_clean_line_is_short_and_has_no_direction_characters(text: str, most: int) -> None:
    line = clean_line(text, most)
    assert len(line) <= most
    assert not set(line) & set(TURNS)
    assert all(unicodedata.category(c) not in ("Cc", "Cs") for c in line)
    assert line == " ".join(line.split())


def test_plain_text_is_unchanged() -> None:
    assert clean_line("Oak & <ash>: שלום, 木") == "Oak & <ash>: שלום, 木"
    assert clean_line("x" * 10_000_000, 20) == "x" * 19 + "…"


@pytest.mark.parametrize(
    "href",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//a/b",
        "",
    ],
)
def test_only_web_addresses_are_linked_to(href: str) -> None:
    assert original_href(href, None) is None
    assert original_href(href, "https://replay.example/") is None


def test_a_replay_base_comes_before_the_address() -> None:
    assert original_href("http://a.example/", None) == "http://a.example/"
    assert original_href("http://a.example/", "https://r.example/2007") == "https://r.example/2007/http://a.example/"


def test_a_short_url_keeps_its_host_and_its_end() -> None:
    assert short_url("https://a.example/b.html") == "a.example/b.html"
    assert short_url("https://a.example/" + "long/" * 40 + "end.html", 40) == "a.example/…/long/long/long/long/end.html"
    assert short_url("https://a.example/" + "x" * 90, 30) == "a.example/" + "x" * 19 + "…"


@given(st.text(), st.integers(3, 40))
def test_a_cut_in_the_middle_keeps_both_ends(text: str, most: int) -> None:
    cut = shorten_middle(text, most)
    assert len(cut) == min(len(text), most)
    head, dots, tail = cut.partition("…") if len(text) > most else (text, "", "")
    assert text.startswith(head) and (not dots or text.endswith(tail))


def test_a_page_without_a_title_is_named_by_the_end_of_its_address() -> None:
    assert name_from_url("http://a.example/b/c/") == "c"
    assert name_from_url("http://a.example/") == "a.example"
    assert name_from_url("http://a.example/s?q=1") == "s?q=1"
