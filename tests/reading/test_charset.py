"""Which charset a page is in: mark, then transport, then the page itself, then a guess."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagekin.reading.charset import _CODECS, codec_of, to_utf8

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
