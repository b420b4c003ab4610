"""Capture -> bytes to scan: within bounds, in UTF-8, plain text dressed as HTML."""

from __future__ import annotations

import codecs
import os
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.model.capture import Capture, Origin, PageFormat, ReadingSettings, Skip
from pagekin.reading.bodies import (
    _CODECS,
    _COMMENT,
    _META,
    Body,
    _codec_in_page,
    codec_of,
    load_body,
    text_as_html,
    to_utf8,
)

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
    body = load_body(capture(b"a <b> & c", format=PageFormat.TEXT, title="T<i>"), SETTINGS)
    assert isinstance(body, Body)
    assert body.html == b"<title>T&lt;i&gt;</title><p>a &lt;b&gt; &amp; c"


# --- charsets --------------------------------------------------------------------------------------------

META = '<meta charset="{}">'


def test_a_byte_order_mark_comes_before_everything() -> None:
    page = META.format("windows-1251") + "é"
    assert to_utf8(codecs.BOM_UTF8 + page.encode(), "koi8-r") == (page.encode(), "utf-8")
    assert to_utf8(codecs.BOM_UTF16_LE + page.encode("utf-16-le"), "koi8-r") == (page.encode(), "utf-16-le")
    assert to_utf8(codecs.BOM_UTF16_BE + page.encode("utf-16-be"), "koi8-r") == (page.encode(), "utf-16-be")


def test_the_transport_comes_before_the_page() -> None:
    page = (META.format("koi8-r") + "мир").encode("windows-1251")
    text, charset = to_utf8(page, "windows-1251")
    assert (text.decode().endswith("мир"), charset) == (True, "windows-1251")


def test_the_page_comes_before_a_guess() -> None:
    page = (META.format("koi8-r") + "мир").encode("koi8-r")
    assert to_utf8(page)[0].decode().endswith("мир")
    assert to_utf8(page, "no-such-charset")[0].decode().endswith("мир")


@pytest.mark.parametrize(
    "head",
    [
        "<meta charset=koi8-r>",
        "<META CHARSET = 'KOI8-R'>",
        '<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">',
        "<meta content='text/html;charset=koi8-r' http-equiv=content-type>",
        '<?xml version="1.0" encoding="koi8-r"?>',
        "<!-- <meta charset=utf-8> --><meta charset=koi8-r>",
        "<meta charset=no-such><meta charset=koi8-r>",
    ],
)
def test_a_page_may_say_its_charset_in_many_ways(head: str) -> None:
    assert to_utf8(head.encode() + "мир".encode("koi8-r")) == ((head + "мир").encode(), "koi8-r")


def test_what_stands_far_down_or_in_a_comment_does_not_count() -> None:
    far = b"<p>" + b" " * 5000 + b"<meta charset=koi8-r>" + "мир".encode()
    assert to_utf8(far) == (far, "utf-8")
    comment = b"<!-- <meta charset=koi8-r> -->" + "мир".encode()
    assert to_utf8(comment) == (comment, "utf-8")


def test_a_page_in_ascii_markup_is_not_in_utf16_whatever_it_says() -> None:
    page = (META.format("utf-16") + "é").encode()
    assert to_utf8(page) == (page, "utf-8")


@pytest.mark.parametrize(
    ("name", "sample", "text"),
    [  # encoding.spec.whatwg.org: what browsers make of the name, which is often more than it says
        ("iso-8859-1", b"\x80 \x93quoted\x94", "€ “quoted”"),
        ("us-ascii", b"caf\xe9", "café"),
        ("latin1", b"\x99", "™"),
        ("iso-8859-9", b"\x80\xfe", "€ş"),
        ("tis-620", b"\xa1\x85", "ก…"),
        ("gb2312", b"\x81\x40", "丂"),
        ("gbk", b"\xc4\xe3\xba\xc3", "你好"),
        ("big5", b"\xa7\x41", "你"),
        ("shift_jis", b"\x87\x40\x93\xfa", "①日"),
        ("euc-jp", b"\xc6\xfc\xcb\xdc", "日本"),
        ("iso-2022-jp", b"\x1b$B&|K\\\x1b(B".replace(b"&|", b"F|"), "日本"),
        ("euc-kr", b"\xc7\xd1\x81\x41", "한갂"),
        ("ks_c_5601-1987", b"\xc7\xd1", "한"),
        ("macintosh", b"\x8e", "é"),
        ("ibm866", b"\xac\xa8\xe0", "мир"),
        ("UTF8", "é".encode(), "é"),
        ("utf-16", "é".encode("utf-16-le"), "é"),
        ("  'KOI8-U' ", "Київ".encode("koi8-u"), "Київ"),
    ],
)
def test_a_name_means_what_browsers_make_of_it(name: str, sample: bytes, text: str) -> None:
    assert to_utf8(sample, name)[0].decode() == text


@pytest.mark.parametrize(
    "name", ["", "punycode", "unicode_escape", "idna", "rot13", "hex", "utf-7", "cp65001", "x" * 99]
)
def test_a_page_cannot_choose_a_codec_that_is_no_charset_of_the_web(name: str) -> None:
    assert codec_of(name) is None


def test_every_codec_is_one_that_python_has() -> None:
    for codec in _CODECS:
        assert codecs.lookup(codec)
        assert b"abc".decode(codec, "replace") == "abc" or codec.startswith("utf-16")


_HEADS = ["<meta ", "<?xml ", "charset=koi8-r", "ENCODING='cp866'", ">", "<", "<p>", ' x="', "<META charset=latin1>"]
_HEADS += ["<!--", "-->"]


@given(st.lists(st.sampled_from(_HEADS), max_size=10).map("".join))
def test_a_declared_charset_is_found_behind_any_tags(head: str) -> None:
    shown = _COMMENT.sub(b"", head.encode())
    declared = next((codec_of(found[1].decode()) for found in _META.finditer(shown)), None)
    assert _codec_in_page(head.encode()) == declared


@given(st.binary(max_size=60), st.sampled_from(["", "nonsense", *_CODECS]))
def test_whatever_comes_in_utf8_comes_out(data: bytes, name: str) -> None:
    text, charset = to_utf8(data, name)
    text.decode("utf-8")
    assert charset in _CODECS


@given(st.text(max_size=60))
def test_utf8_without_any_word_of_it_is_utf8(text: str) -> None:
    data = text.encode("utf-8", "replace")
    if not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and b"<" not in data:
        assert to_utf8(data) == (data, "utf-8")


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("windows-1251", "Съешь же ещё этих мягких французских булок, да выпей чаю. Широкая электрификация. " * 4),
        ("windows-1252", "Une étude montre que les élèves préfèrent l'été à l'hiver, où il fait très froid. " * 4),
        ("shift_jis", "これは日本語の文章です。今日はとても良い天気なので、散歩に行きましょう。" * 4),
        ("gb18030", "这是一个中文句子。今天天气很好，我们去公园散步吧。" * 4),
    ],
)
def test_a_charset_that_nobody_names_is_guessed(charset: str, text: str) -> None:
    page = f"<html><body><p>{text}</p></body></html>"
    assert to_utf8(page.encode(charset))[0].decode() == page


def test_bytes_that_the_charset_does_not_have_become_replacement_characters() -> None:
    assert to_utf8(b"a\xffb", "utf-8") == ("a\ufffdb".encode(), "utf-8")
    assert to_utf8(b"\x00\xd8a\x00", "utf-16le")[0].decode()[-1] in "a\ufffd?"
