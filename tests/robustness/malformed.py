"""Malformed inputs: each has a name, the bytes that make it, and the expected result.

Files that end in .html lie in a folder `site`; the others are sources of their own. `kept` are the pages that survive,
`reasons` what is counted: several, where more than one reason would be right. Nothing here is random: the bytes are the
same every time.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from pagekin.model.capture import NOT_HTML
from sources.bombs import brotli_bomb, gzip_bomb, record_bomb, zstd_bomb
from sources.test_crawls import HEAD as ARC_HEAD
from sources.test_crawls import HTTP as ARC_HTTP
from sources.test_crawls import arc_record
from sources.warcs import DAY, HTML, gz, http, page, record, response, revisit
from sources.wikis import BASE as WIKI
from sources.wikis import dump, multistream, wiki_page
from sources.zims import Page, write_zim
from sources.zips import wacz

HOST = "http://a.example/"
SITE = "http://site.localhost/"
MEGABYTE = 1 << 20
PAGE_LIMIT = 16 * MEGABYTE

Reasons = Mapping[str, int]


@dataclass(frozen=True)
class Malformed:
    """A broken input and what must become of it."""

    file: str
    make: Callable[[], bytes | Mapping[str, bytes]]  # the bytes of `file`, or several files
    kept: tuple[str, ...] = ()
    reasons: tuple[Reasons, ...] = ({},)
    text: Mapping[str, str] = field(default_factory=dict)  # what survivors say, where that could go wrong
    aliases: int = 0
    refused: str = ""  # where a source is none at all: what the error says

    def files(self) -> Mapping[str, bytes]:
        """Every file by its path."""
        made = self.make()
        return {self.file: made} if isinstance(made, bytes) else made


# --- archives ------------------------------------------------------------------------------------

ONE, TWO, THREE = (response(HOST + word, page(word)) for word in ("one", "two", "three"))
ALL = (HOST + "one", HOST + "two", HOST + "three")
FIRST_TWO = ALL[:2]
ONE_AND_THREE = (ALL[0], ALL[2])

TRUNCATED = {"truncated record": 1}
DAMAGED = {"damaged record": 1}
DAMAGED_COMPRESSION = {"damaged compression": 1}
WRONG_DIGEST = {"record does not match its digest": 1}


def wrong_at(data: bytes, place: int) -> bytes:
    """The same bytes but for one."""
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def unfinished(data: bytes) -> bytes:
    """A gzip member that a crawler was still writing when it was stopped."""
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH)


def cut_after(data: bytes, words: bytes) -> bytes:
    return data[: data.index(words) + len(words)]


def wrong_length(length: object, checked: bool) -> bytes:
    """The second record with a wrong length; `checked` if it has a digest that tells."""
    return response(HOST + "two", page("two"), length=length, checked=checked)


def packed_around(length: object) -> bytes:
    return gz(ONE, wrong_length(length, checked=False), THREE)


def plain_around(length: object) -> bytes:
    return ONE + wrong_length(length, checked=True) + THREE


TRUE_LENGTH = len(http(page("two"), HTML))
LENGTHS = {"too-long": TRUE_LENGTH + 50, "too-short": TRUE_LENGTH - 10, "negative": -5, "no-number": "many"}


def without(header: bytes) -> bytes:
    """The second record without one of its headers."""
    head, blank, block = TWO.partition(b"\r\n\r\n")
    return b"\r\n".join(line for line in head.split(b"\r\n") if not line.startswith(header)) + blank + block


def long_page() -> bytes:
    """A page that cannot be packed small, and so stands far from what comes before it."""
    return b"<p>" + b" ".join(sha256(bytes([k % 256, k // 256])).hexdigest().encode() for k in range(8000))


def pages_with_charsets() -> bytes:
    """Names of Python's codecs that are none of the web's, and names of nothing."""
    return gz(*(response(HOST + name, page(), ("Content-Type", f"text/html; charset={name}")) for name in CHARSETS))


CHARSETS = ("punycode", "idna", "unicode_escape", "rot13", "hex", "base64", "zip", "undefined", "utf-7", "x" * 1000)


def redirect(path: str, to: str, date: str = DAY) -> bytes:
    return response(HOST + path, b"", ("Location", to), status="301 Moved Permanently", date=date)


def pages_of_a_gigabyte() -> bytes:
    bombs = {"gzip": gzip_bomb(), "br": brotli_bomb(), "zstd": zstd_bomb()}
    packed = [response(HOST + name, body, HTML, ("Content-Encoding", name)) for name, body in bombs.items()]
    return gz(ONE, *packed, THREE)


def encoded(encoding: str, body: bytes) -> bytes:
    return gz(ONE, response(HOST + "two", body, HTML, ("Content-Encoding", encoding)), THREE)


def packed_five_times() -> bytes:
    body = page("two")
    for _ in range(5):
        body = gzip.compress(body, mtime=0)
    return encoded(", ".join(["gzip"] * 5), body)


WARCS = {
    "empty": Malformed("a.warc.gz", lambda: b""),
    "not-a-warc": Malformed("a.warc", lambda: page() * 100, reasons=(DAMAGED,)),
    "not-a-warc-but-gzip": Malformed("a.warc.gz", lambda: gzip.compress(page() * 100, mtime=0), reasons=(DAMAGED,)),
    "truncated-gzip": Malformed("a.warc.gz", lambda: gz(ONE, TWO, THREE)[:-30], FIRST_TWO, (TRUNCATED,)),
    "truncated-in-record-header": Malformed(
        "a.warc.gz", lambda: gz(ONE, TWO) + unfinished(cut_after(THREE, b"WARC-Date: 2024")), FIRST_TWO, (TRUNCATED,)
    ),
    "truncated-in-http-header": Malformed(
        "a.warc.gz", lambda: gz(ONE, TWO) + unfinished(cut_after(THREE, b"200 OK\r\nContent-")), FIRST_TWO, (TRUNCATED,)
    ),
    "truncated-plain": Malformed("a.warc", lambda: ONE + TWO + cut_after(THREE, b"<title>th"), FIRST_TWO, (TRUNCATED,)),
    "damaged-member": Malformed(
        "a.warc.gz", lambda: gz(ONE) + wrong_at(gz(TWO), 150) + gz(THREE), ONE_AND_THREE, (DAMAGED_COMPRESSION,)
    ),
    "damaged-last-member": Malformed(
        "a.warc.gz", lambda: gz(ONE, TWO) + wrong_at(gz(THREE), 150), FIRST_TWO, (DAMAGED_COMPRESSION,)
    ),
    "damaged-first-byte": Malformed(
        "a.warc.gz", lambda: wrong_at(gz(ONE, TWO, THREE), 0), ALL[1:], (DAMAGED_COMPRESSION, DAMAGED)
    ),
    "damaged-page-plain": Malformed(
        "a.warc", lambda: ONE + TWO.replace(b"<p>two", b"<p>twO") + THREE, ONE_AND_THREE, (WRONG_DIGEST,)
    ),
    "garbage-between-records": Malformed(
        "a.warc.gz", lambda: gz(ONE) + b"garbage" + gz(TWO, THREE), ALL, (DAMAGED_COMPRESSION, DAMAGED)
    ),
    "garbage-between-records-plain": Malformed("a.warc", lambda: ONE + b"garbage\r\n" + TWO + THREE, ALL, (DAMAGED,)),
    "garbage-first": Malformed(
        "a.warc.gz", lambda: b"garbage" + gz(ONE, TWO, THREE), ALL, (DAMAGED_COMPRESSION, DAMAGED)
    ),
    "garbage-last": Malformed(
        "a.warc.gz", lambda: gz(ONE, TWO, THREE) + b"garbage", ALL, (DAMAGED_COMPRESSION, DAMAGED)
    ),
    "record-inside-a-page-before-garbage": Malformed(
        "a.warc",
        lambda: (
            response(HOST + "one", b"<pre>\r\n" + response("http://forged.example/")) + b"garbage\r\n" + TWO + THREE
        ),
        ALL,
        (DAMAGED,),
    ),
    **{
        f"content-length-{name}": Malformed(
            "a.warc.gz",
            partial(packed_around, length),
            ONE_AND_THREE,
            (DAMAGED, TRUNCATED),
        )
        for name, length in LENGTHS.items()
    },
    **{
        f"content-length-{name}-plain": Malformed(
            "a.warc",
            partial(plain_around, length),
            ONE_AND_THREE,
            (WRONG_DIGEST, DAMAGED, TRUNCATED),
        )
        for name, length in LENGTHS.items()
    },
    "content-length-huge": Malformed(
        "a.warc.gz", lambda: gz(ONE, wrong_length(10**18, checked=False), THREE), ONE_AND_THREE, (TRUNCATED,)
    ),
    "content-length-huge-plain": Malformed(
        "a.warc", lambda: ONE + wrong_length(10**18, checked=False) + THREE, ONE_AND_THREE, (TRUNCATED,)
    ),
    "content-length-huge-before-much": Malformed(
        "a.warc",
        lambda: ONE + wrong_length(10**18, checked=False) + THREE + response(HOST + "large", bytes(PAGE_LIMIT + 1)),
        ONE_AND_THREE,
        ({"truncated record": 1, "page too large": 1},),
    ),
    "content-length-of-warcinfo-too-long": Malformed(
        "a.warc",
        lambda: record("warcinfo", HOST, b"software: a crawler\r\n", length=10**6) + ONE + TWO + THREE,
        ALL,
        (TRUNCATED, DAMAGED),
    ),
    "without-content-length": Malformed(
        "a.warc.gz", lambda: gz(ONE, without(b"Content-Length"), THREE), ONE_AND_THREE, (DAMAGED, TRUNCATED)
    ),
    "without-url": Malformed(
        "a.warc.gz",
        lambda: gz(ONE, without(b"WARC-Target-URI"), THREE),
        ONE_AND_THREE,
        ({"no http or https URL": 1}, DAMAGED),
    ),
    "without-date": Malformed("a.warc.gz", lambda: gz(ONE, without(b"WARC-Date"), THREE), ALL),
    "header-too-long": Malformed(
        "a.warc.gz",
        lambda: gz(ONE, record("response", HOST + "two", b"", ("X-Long", "x" * 70_000)), THREE),
        ONE_AND_THREE,
        ({"record header too long": 1},),
    ),
    "header-of-a-gigabyte": Malformed(
        "a.warc.gz",
        lambda: gz(ONE) + gzip_bomb(b"WARC/1.1\r\nWARC-Type: ") + gz(THREE),
        ONE_AND_THREE,
        ({"record header too long": 1},),
    ),
    "http-header-too-long": Malformed(
        "a.warc.gz",
        lambda: gz(ONE, response(HOST + "two", page(), HTML, ("X-Long", "x" * 70_000)), THREE),
        ONE_AND_THREE,
        ({"record header too long": 1},),
    ),
    "http-garbage": Malformed(
        "a.warc.gz",
        lambda: gz(ONE, record("response", HOST + "two", b"\0\xff<p>", ("Content-Type", "application/http")), THREE),
        ONE_AND_THREE,
        ({"no HTTP response": 1},),
    ),
    "http-status-of-5000-digits": Malformed(
        "a.warc.gz",
        lambda: gz(ONE, response(HOST + "two", page(), status="2" * 5000), THREE),
        ONE_AND_THREE,
        ({"no HTTP response": 1},),
    ),
    "one-gzip-member": Malformed("a.warc.gz", lambda: gzip.compress(ONE + TWO + THREE, mtime=0), ALL),
    "one-gzip-member-truncated": Malformed(
        "a.warc.gz", lambda: unfinished(ONE + TWO + cut_after(THREE, b"<title>th")), FIRST_TWO, (TRUNCATED,)
    ),
    "one-gzip-member-damaged": Malformed(
        "a.warc.gz",
        lambda: unfinished(ONE + TWO + response(HOST + "three", long_page())[:-1000]) + b"\xff" * 50,
        FIRST_TWO,
        (DAMAGED_COMPRESSION, TRUNCATED),
    ),
    "charset-punycode": Malformed("a.warc.gz", pages_with_charsets, tuple(HOST + name for name in CHARSETS)),
    "url-of-60-kilobytes": Malformed(
        "a.warc.gz", lambda: gz(ONE, response(HOST + "x" * 60_000), THREE), ONE_AND_THREE, ({"URL too long": 1},)
    ),
    "redirect-loop": Malformed(
        "a.warc.gz", lambda: gz(ONE, redirect("x", "/y"), redirect("y", "/z"), redirect("z", "/x")), ALL[:1]
    ),
    "redirect-to-itself": Malformed(
        "a.warc.gz", lambda: gz(ONE, redirect("one", "/one?utm_source=loop#top", "2024-06-01T12:00:00Z")), ALL[:1]
    ),
    # As the Fetch standard has it, the twentieth redirect is the last that is followed.
    "redirect-chain-of-1000": Malformed(
        "a.warc.gz",
        lambda: gz(*(redirect(str(k), f"/{k + 1}") for k in range(1000)), response(HOST + "1000", page("the end"))),
        (HOST + "1000",),
        aliases=20,
    ),
    "revisit-without-record": Malformed(
        "a.warc.gz",
        lambda: gz(ONE, revisit(HOST + "x", page("lost")), revisit(HOST + "y", page("lost")), THREE),
        ONE_AND_THREE,
        ({"revisit of a record that is not here": 2},),
    ),
    "gzip-bomb": Malformed(
        "a.warc.gz", lambda: gz(ONE) + record_bomb(HOST + "two") + gz(THREE), ONE_AND_THREE, ({"page too large": 1},)
    ),
    "encoding-bombs": Malformed("a.warc.gz", pages_of_a_gigabyte, ONE_AND_THREE, ({"page too large": 3},)),
    "encoding-too-deep": Malformed("a.warc.gz", packed_five_times, ONE_AND_THREE, ({"too many content encodings": 1},)),
    "encoding-unknown": Malformed(
        "a.warc.gz", lambda: encoded("compress", b"\x1f\x9d\x90a"), ONE_AND_THREE, ({"unknown content encoding": 1},)
    ),
    "encoding-damaged": Malformed(
        "a.warc.gz",
        lambda: encoded("gzip", wrong_at(gzip.compress(page("two"), mtime=0), 20)),
        ONE_AND_THREE,
        ({"compressed body damaged": 1},),
    ),
    "encoding-cut-short": Malformed(
        "a.warc.gz",
        lambda: encoded("gzip", gzip.compress(page("two"), mtime=0)[:-20]),
        ONE_AND_THREE,
        ({"compressed body damaged": 1},),
    ),
    "encoding-not-done": Malformed("a.warc.gz", lambda: encoded("br", page("two")), ALL, text={HOST + "two": "two"}),
    "chunks-not-done": Malformed(
        "a.warc.gz",
        lambda: gz(ONE, response(HOST + "two", page("two"), HTML, ("Transfer-Encoding", "chunked")), THREE),
        ALL,
        text={HOST + "two": "two"},
    ),
}


# --- WACZ ----------------------------------------------------------------------------------------


def wacz_with_a_damaged_record() -> bytes:
    data = wacz({"archive/a.warc.gz": gz(ONE, TWO, THREE)})
    return wrong_at(data, data.index(gz(TWO)) + 150)


def wacz_with_damaged_deflation() -> bytes:
    data = bytearray(wacz({"archive/a.warc": TWO, "archive/b.warc": ONE + THREE}, zipfile.ZIP_DEFLATED))
    start = 30 + len("archive/a.warc")  # of the data: a local header is as long as that
    data[start : start + 40] = b"\xff" * 40  # no kind of deflated block begins so
    return bytes(data)


def wacz_with_a_password() -> bytes:
    data = bytearray(wacz({"archive/a.warc": ONE}))
    data[6] |= 1  # the flags of the local header, and of the central one
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


WACZS = {
    "bad-zip": Malformed("a.wacz", lambda: page() * 100, refused=r"a\.wacz is no WACZ"),
    "bad-zip-name": Malformed(
        "a.wacz",
        lambda: wacz({"archive/ä.warc": ONE}).replace("ä".encode(), b"\xff\xff"),
        refused=r"a\.wacz is no WACZ",
    ),
    "bad-zip-empty": Malformed("a.wacz", lambda: b"", refused=r"a\.wacz is no WACZ"),
    "bad-zip-truncated": Malformed(
        "a.wacz", lambda: wacz({"archive/a.warc": ONE})[:-40], refused=r"a\.wacz is no WACZ.*fetch it again"
    ),
    "zip-with-a-password": Malformed("a.wacz", wacz_with_a_password, refused=r"a\.wacz cannot be read"),
    "zip-without-archive": Malformed("a.wacz", lambda: wacz({"photo.png": b"\x89PNG"}), refused=r"a\.wacz"),
    "wacz-with-truncated-warc": Malformed(
        "a.wacz",
        lambda: wacz({"archive/a.warc.gz": gz(ONE, TWO)[:-30], "archive/b.warc": THREE}),
        ONE_AND_THREE,
        (TRUNCATED,),
    ),
    "wacz-with-empty-warc": Malformed(
        "a.wacz", lambda: wacz({"archive/a.warc.gz": b"", "archive/b.warc": ONE}), ALL[:1]
    ),
    "wacz-with-damaged-record": Malformed("a.wacz", wacz_with_a_damaged_record, ONE_AND_THREE, (DAMAGED_COMPRESSION,)),
    "wacz-with-damaged-deflation": Malformed(
        "a.wacz", wacz_with_damaged_deflation, ONE_AND_THREE, (DAMAGED_COMPRESSION, DAMAGED, TRUNCATED)
    ),
    "wacz-with-a-way-out": Malformed("a.wacz", lambda: wacz({"archive/../../../etc/a.warc": ONE}), ALL[:1]),
    "wacz-bomb": Malformed(
        "a.wacz",
        lambda: wacz({"archive/a.warc": ONE + bytes(100 * MEGABYTE), "archive/b.warc": THREE}, zipfile.ZIP_DEFLATED),
        ONE_AND_THREE,
        (DAMAGED,),
    ),
}


# --- JSON lines ----------------------------------------------------------------------------------


def between(line: bytes) -> bytes:
    """A line between two good ones."""
    return row("one") + line + b"\n" + row("three")


def row(word: str, key: bytes = b"html") -> bytes:
    return b'{"url": "%s%s", "%s": "%s"}\n' % (HOST.encode(), word.encode(), key, word.encode())


NO_JSON = {"line is no JSON": 1}
MORE = {"line holds more than a page": 1}
LOST = {"compressed data damaged, the rest is lost": 1}

LINES = {
    "jsonl-not-json": Malformed("a.jsonl", lambda: between(page()), ONE_AND_THREE, (NO_JSON,)),
    "jsonl-half-a-line": Malformed("a.jsonl", lambda: row("one") + row("three")[:-9], ALL[:1], (NO_JSON,)),
    "jsonl-no-utf8": Malformed("a.jsonl", lambda: between(row("two")[:-3] + b'\xff\xfe"}'), ONE_AND_THREE, (NO_JSON,)),
    "jsonl-nul-bytes": Malformed("a.jsonl", lambda: between(bytes(1000)), ONE_AND_THREE, (NO_JSON,)),
    "jsonl-nested": Malformed("a.jsonl", lambda: between(b"[" * 99_999 + b"]" * 99_999), ONE_AND_THREE, (NO_JSON,)),
    "jsonl-deep-nesting": Malformed(
        "a.jsonl", lambda: between(b"[" * MEGABYTE + b"]" * MEGABYTE), ONE_AND_THREE, (MORE,)
    ),
    "jsonl-deep-value": Malformed(
        "a.jsonl",
        lambda: between(row("two")[:-2] + b', "captured": ' + b'{"a": ' * MEGABYTE + b"0" + b"}" * MEGABYTE + b"}"),
        ONE_AND_THREE,
        (MORE,),
    ),
    "jsonl-huge-number": Malformed(
        "a.jsonl",
        lambda: between(row("two")[:-2] + b', "captured": %s}' % (b"9" * MEGABYTE)),
        ONE_AND_THREE,
        (MORE,),
    ),
    "jsonl-huge-exponent": Malformed("a.jsonl", lambda: between(row("two")[:-2] + b', "captured": 1e999999999}'), ALL),
    "jsonl-no-object": Malformed(
        "a.jsonl", lambda: between(b'[]\n""\n0\nnull\nNaN'), ONE_AND_THREE, ({"line is no JSON object": 5},)
    ),
    "jsonl-without-page": Malformed(
        "a.jsonl",
        lambda: between(b'{}\n{"url": []}\n{"url": "http://a.example/", "html": 1}'),
        ONE_AND_THREE,
        ({"line without url, or without html and text": 3},),
    ),
    "jsonl-lone-surrogates": Malformed(
        "a.jsonl",
        lambda: between(
            rb'{"url": "\ud800", "html": "a"}' + b"\n" + rb'{"url": "http://a.example/two", "html": "\udc00"}'
        ),
        ALL,
        ({"no http or https URL": 1},),
    ),
    "jsonl-huge-line": Malformed(
        "a.jsonl.gz",
        lambda: gzip.compress(between(b"x" * (4 * PAGE_LIMIT + 1)), 1, mtime=0),
        ONE_AND_THREE,
        ({"line too long": 1},),
    ),
    "jsonl-huge-page": Malformed(
        "a.jsonl", lambda: between(row("two")[:-3] + b"x" * PAGE_LIMIT + b'"}'), ONE_AND_THREE, ({"page too large": 1},)
    ),
    "jsonl-megabyte-url": Malformed(
        "a.jsonl", lambda: between(row("x" * MEGABYTE)), ONE_AND_THREE, ({"URL too long": 1},)
    ),
    "jsonl-truncated-gzip": Malformed(
        "a.jsonl.gz", lambda: unfinished(row("one") + row("two") + b'{"url": '), FIRST_TWO, (LOST,)
    ),
    "jsonl-damaged-gzip": Malformed(
        "a.jsonl.gz", lambda: gzip.compress(row("one"), mtime=0) + b"garbage", ALL[:1], (LOST,)
    ),
    "jsonl-not-gzip": Malformed("a.jsonl.gz", lambda: row("one"), reasons=(LOST,)),
}


# --- HTML ----------------------------------------------------------------------------------------


def html(body: Callable[[], bytes], text: str | None = None, reasons: Reasons | None = None) -> Malformed:
    """A broken page that is kept."""
    said = {} if text is None else {SITE + "broken.html": text}
    return Malformed("site/broken.html", body, (SITE + "broken.html",), (reasons or {},), said)


def lost(body: Callable[[], bytes], reason: str) -> Malformed:
    """A broken page that is not."""
    return Malformed("site/broken.html", body, reasons=({reason: 1},))


def ring(tag: str) -> Mapping[str, bytes]:
    """Two pages that each name the other."""
    return {
        "site/a.html": tag.format("b.html").encode() + b"<p>one page",
        "site/b.html": tag.format("a.html").encode() + b"<p>another page",
    }


RING = (SITE + "a.html", SITE + "b.html")
MILLION = 1_000_000

PAGES = {
    "html-empty": lost(lambda: b"", "empty page"),
    "html-blank": lost(lambda: b" \r\n\t" * 1000, "empty page"),
    "html-too-large": lost(lambda: b"<p>words " * (PAGE_LIMIT // 9 + 1), "page too large"),
    "html-nul-bytes": html(lambda: b"<p>so\0me\0 \0words\0", "some words"),
    "html-utf16-without-bom": html(lambda: "<title>kin</title><p>words".encode("utf-16-le")),
    "html-utf16-of-odd-length": html(
        lambda: codecs.BOM_UTF16_LE + "<p>words".encode("utf-16-le") + b"x", "words\ufffd"
    ),
    "html-utf16-lone-surrogates": html(
        lambda: codecs.BOM_UTF16_LE + "<p>some ".encode("utf-16-le") + b"\x00\xd8" + "words".encode("utf-16-le")
    ),
    # Each byte of an encoded surrogate is an error of its own (Encoding standard, section 8.1.1).
    "html-lone-surrogates": html(lambda: b"<meta charset=utf-8><p>a\xed\xa0\x80b", "a\ufffd\ufffd\ufffdb"),
    "html-lone-surrogate-references": html(lambda: b"<p>a&#xD800;b&#57343;c", "a\ufffdb\ufffdc"),
    "html-huge-references": html(lambda: b"<p>a&#x110000;b&#%s;c" % (b"9" * MILLION), "a\ufffdb\ufffdc"),
    "html-million-ampersands": html(lambda: b"<p>" + b"&" * MILLION, "&" * MILLION),
    "html-wrong-charset": html(lambda: "<meta charset=utf-8><p>Äpfel".encode("latin-1"), "\ufffdpfel"),
    "html-charset-punycode": html(lambda: b"<meta charset=punycode><p>some-words", "some-words"),
    "html-thousand-charsets": html(lambda: b"<meta charset=" * 1000 + b">words"),
    "html-deep-nesting": html(lambda: b"<div>" * MILLION + b"words", "words"),
    "html-deep-tables": html(lambda: b"<table>" * MILLION + b"words", "words"),
    "html-deep-templates": html(lambda: b"words" + b"<template>" * MILLION + b"hidden", "words"),
    "html-million-end-tags": html(lambda: b"</div></table></a></template>" * 100_000 + b"words", "words"),
    "html-million-less-than": html(lambda: b"<" * MILLION + b"\xff"),
    "html-million-links": html(
        lambda: b"".join(b"<a href=%d>" % k for k in range(MILLION)) + b"words",
        "words",
        {"link beyond the limit of a page": MILLION - 50_000},
    ),
    "html-megabyte-url": html(
        lambda: b"<a href=%s>some</a> <a href=ok>words</a>" % (b"x" * MEGABYTE), "some words", {"URL too long": 1}
    ),
    "html-megabyte-base": html(
        lambda: b"<base href=/%s/><p>" % (b"x" * MEGABYTE) + b" ".join(b"<a href=%d>words</a>" % k for k in range(30)),
        " ".join(["words"] * 30),
        {"URL too long": 1},
    ),
    "html-megabyte-canonical": html(
        lambda: b"<link rel=canonical href=%s><p>words" % (b"x" * MEGABYTE), "words", {"URL too long": 1}
    ),
    "html-megabyte-title": html(lambda: b"<title>%s</title><p>words" % (b"kin " * (MEGABYTE // 4)), "words"),
    "html-long-word": html(lambda: b"<p>" + b"x" * MEGABYTE, "x" * MEGABYTE, {"word too long": 1}),
    "html-huge-attribute": html(lambda: b'<p title="%s">words' % (b"x" * (8 * MEGABYTE)), "words"),
    "html-million-attributes": html(lambda: b"<p %s>words" % b" ".join(b"a%d=b" % k for k in range(MILLION)), "words"),
    "html-unclosed-comment": html(lambda: b"<p>words<!-- never " + b"x" * MEGABYTE, "words"),
    "html-unclosed-script": html(lambda: b"<p>words<script>if (a < b) { " + b"</scrip" * 100_000, "words"),
    "html-unclosed-title": html(lambda: b"<title>all of this is the title <p>and this", ""),
    "html-unclosed-tag": html(lambda: b"<p>words <a href=x", "words"),
    "html-unclosed-quote": html(lambda: b'<p>words <a href="x>lost</a> and more', "words"),
    "html-unclosed-everything": html(
        lambda: b"<html><head><title>kin</title><body><table><tr><td><ul><li><b><i><a href=x>words<!--", "words"
    ),
    "html-refresh-to-itself": html(lambda: b'<meta http-equiv=refresh content="0;url=broken.html"><p>words', "words"),
    "html-refresh-loop": Malformed(
        "site/a.html", lambda: ring('<meta http-equiv=refresh content="0;url={}">'), RING, text={RING[0]: "one page"}
    ),
    "html-canonical-loop": Malformed(
        "site/a.html",
        lambda: ring("<link rel=canonical href={}>"),
        RING,
        ({"canonical link to a page that names another (kept)": 2},),
        text={RING[0]: "one page", RING[1]: "another page"},
    ),
}

# --- notes ---------------------------------------------------------------------------------------

NOTES_SITE = "http://vault.localhost/"
SAME_NAME = "note with the name of another (kept; links by that name lead to the other)"


def note(text: str | bytes, *others: str) -> Malformed:
    """A vault with this note and a good one."""
    data = text if isinstance(text, bytes) else text.encode()
    files = {
        "vault/broken.md": data,
        "vault/good.md": b"Good [[Broken]].",
        **{f"vault/{name}": b"x" for name in others},
    }
    urls = tuple(NOTES_SITE + name for name in ("broken.md", "good.md", *others))
    return Malformed("vault/broken.md", lambda: files, urls, aliases=2 + sum(1 + ("/" in name) for name in others))


def yaml_bomb() -> str:
    levels = "".join(f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]\n" for k in range(1, 30))
    return f"---\n{levels}tags: *a29\n---\nwords"


NOTES = {
    "note-front-matter-without-end": note("---\ntitle: x\nno end of it"),
    "note-front-matter-bomb": note(yaml_bomb()),
    "note-front-matter-of-brackets": note(f"---\ntags: {'[' * 30_000}\n---\nwords"),
    "note-front-matter-toml-nested": note(f"+++\na = {'[' * 20_000}\n+++\nwords"),
    "note-broken-links": note("[[Nowhere]] [[ ]] [[#]] [[|]] [[a|b|c]] ![[]] [x](nowhere.md) [y](http://[) words"),
    "note-deep-quotes": note("> " * 20_000 + "words"),
    "note-deep-lists": note("".join(" " * k + "- a\n" for k in range(500))),
    "note-brackets": note("[[" * 50_000 + "words"),
    "note-latin-1": note("caf\xe9".encode("latin-1")),
    "note-utf-16": note("words".encode("utf-16")),
    "note-nul-bytes": note(b"a\0b\0" * 100),
    "note-raw-html": note("<base href='http://b.example/'><script>[[Good]]</script><p>words"),
    "note-same-name": replace(note("words", "deep/broken.md"), aliases=3, reasons=({SAME_NAME: 1},)),
    "note-too-large": replace(
        note("word " * 500_000),
        kept=(NOTES_SITE + "good.md",),
        aliases=1,
        reasons=({"Markdown of more than 2 MiB": 1},),
    ),
    "note-empty": replace(note(" \n"), kept=(NOTES_SITE + "good.md",), aliases=1, reasons=({"empty page": 1},)),
}

# --- wikis ---------------------------------------------------------------------------------------

ARTICLES = [wiki_page(name, f"{name} words", k) for k, name in enumerate(("One", "Two", "Three"), 1)]
FIRST, LAST = WIKI + "One", WIKI + "Three"
WIKI_URLS = (FIRST, WIKI + "Two", LAST)
ONE_LOST = ({"damaged bzip2 block": 1},)


def wiki_of(text: str) -> bytes:
    """A dump whose second page has this text."""
    return dump([ARTICLES[0], wiki_page("Two", text, 2), ARTICLES[2]])


def streams_with(number: int, data: bytes) -> bytes:
    """A multistream dump with another stream in place of one."""
    streams = multistream(ARTICLES, 1)
    streams[number] = data
    return b"".join(streams)


WIKIS = {
    "wiki-damaged-block": Malformed(
        "a.xml.bz2", lambda: streams_with(2, wrong_at(multistream(ARTICLES, 1)[2], 80)), (FIRST, LAST), ONE_LOST
    ),
    "wiki-stream-of-garbage": Malformed(
        "a.xml.bz2", lambda: streams_with(2, b"BZh91AY&SY" + bytes(100)), (FIRST, LAST), ONE_LOST
    ),
    "wiki-cut-in-a-page": Malformed(
        "a.xml", lambda: dump(ARTICLES)[:-300], WIKI_URLS[:2], ({"dump ends within a page": 1},)
    ),
    "wiki-not-bzip2": Malformed("a.xml.bz2", lambda: dump(ARTICLES), (), ({"no bzip2 data at the beginning": 1},)),
    "wiki-cut-gzip": Malformed(
        "a.xml.gz",
        lambda: gzip.compress(dump([*ARTICLES[:2], wiki_page("Three", long_page().decode(), 3)]), mtime=0)[:-9000],
        WIKI_URLS[:2],
        ({"compressed data damaged, the rest is lost": 1},),
    ),
    "wiki-other-xml": Malformed("a.xml", lambda: b"<rss/>", refused="is no MediaWiki dump"),
    "wiki-brackets": Malformed("a.xml", lambda: wiki_of("[[" * 100_000 + "{{" * 100_000), WIKI_URLS),
    "wiki-unclosed-tags": Malformed("a.xml", lambda: wiki_of("<ref>" * 100_000 + "<!--" * 100_000), WIKI_URLS),
    "wiki-redirect-ring": Malformed(
        "a.xml",
        lambda: dump([*ARTICLES, wiki_page("A", "", 8, redirect="B"), wiki_page("B", "", 9, redirect="A")]),
        WIKI_URLS,
    ),
    "wiki-html-in-text": Malformed(
        "a.xml", lambda: wiki_of("<base href=x><script>[[a]]</script><plaintext>b"), WIKI_URLS
    ),
    "wiki-page-without-title": Malformed(
        "a.xml", lambda: dump([*ARTICLES, wiki_page("", "x", 9)]), WIKI_URLS, ({"page without a title": 1},)
    ),
}

# --- ARC, CDXJ and Parquet -----------------------------------------------------------------------

ARC_PAGES = [arc_record(HOST + word, ARC_HTTP + page(word)) for word in ("one", "two")]
ARC_LOST = {"damaged ARC record, the rest is lost": 1}
NO_CDXJ = {"line is no CDXJ": 1}


def arc(*records: bytes) -> bytes:
    return ARC_HEAD + b"".join(records)


def place(file: str, offset: str, page: str = "") -> bytes:
    """A line of an index."""
    return f'x 20240501000000 {{"url": "{HOST}{page}", "filename": "{file}", "offset": {offset}, "length": 9}}'.encode()


def indexed(*lines: bytes) -> Mapping[str, bytes]:
    """An index with a line for the first record of an archive beside it, and other lines."""
    facts = {"url": HOST + "one", "filename": "archive.warc.gz", "offset": 0, "length": len(gz(ONE))}
    first = f"example,a)/one 20240501000000 {json.dumps(facts)}\n".encode()
    return {"a.cdxj": first + b"\n".join(lines), "archive.warc.gz": gz(ONE)}


def parquet(columns: Mapping[str, list[object]], damage: int = 0, compression: str = "gzip") -> bytes:
    """A Parquet file; `damage` bytes of its data are zero."""
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target, compression=compression, use_dictionary=False)
    data = bytearray(target.getvalue())
    data[40 : 40 + damage] = bytes(damage)
    return bytes(data)


CRAWLS = {
    "arc-empty": Malformed("a.arc", lambda: b""),
    "arc-cut-in-a-record": Malformed("a.arc", lambda: arc(*ARC_PAGES)[:-60], ALL[:1], (TRUNCATED,)),
    "arc-garbage-after-a-record": Malformed("a.arc", lambda: arc(ARC_PAGES[0], b"garbage\n" * 9), ALL[:1], (ARC_LOST,)),
    "arc-damaged-member": Malformed(
        "a.arc.gz",
        lambda: gzip.compress(arc(ARC_PAGES[0]), mtime=0) + b"\x1f\x8b\x08damage",
        ALL[:1],
        (ARC_LOST,),
    ),
    "arc-of-html": Malformed("a.arc", lambda: page() * 100, (), ({"no http or https URL": 1}, ARC_LOST)),
    "cdxj-other-lines": Malformed("a.cdxj", lambda: indexed(b"garbage", b"!meta {}", b""), ALL[:1], (NO_CDXJ,)),
    "cdxj-nested": Malformed("a.cdxj", lambda: indexed(b"x 20240501000000 " + b"[" * 60_000), ALL[:1], (NO_CDXJ,)),
    "cdxj-huge-numbers": Malformed("a.cdxj", lambda: indexed(place("a", "1e999")), ALL[:1], (NO_CDXJ,)),
    "cdxj-place-beyond-the-end": Malformed(
        "a.cdxj",
        lambda: indexed(place("archive.warc.gz", "99999999")),
        ALL[:1],
        ({"no record at the place that the index names": 1},),
    ),
    "cdxj-places-beyond-any-disk": Malformed(
        "a.cdxj",
        lambda: indexed(place("archive.warc.gz", str(2**63 - 1)), place("archive.warc.gz", str(2**70), "two")),
        ALL[:1],
        ({"no record at the place that the index names": 2},),
    ),
    "cdxj-way-out": Malformed(
        "a.cdxj",
        lambda: indexed(place("../../../etc/passwd", "0")),
        ALL[:1],
        ({"archive that is not beside its index": 1},),
    ),
    "cdxj-long-name": Malformed(
        "a.cdxj",
        lambda: indexed(place(f"{'a' * 300}.warc.gz", "0")),
        ALL[:1],
        ({"archive that is not beside its index": 1},),
    ),
    "parquet-not-utf-8": Malformed(
        "a.parquet",
        lambda: parquet({"url": [ALL[0]], "html": ["ä one"]}, compression="none").replace("ä".encode(), b"\xff\xff"),
        ALL[:1],
    ),
    "parquet-names-not-utf-8": Malformed(
        "a.parquet",
        lambda: parquet({"url": [ALL[0]], "html": ["one"], "ä": ["two"]}).replace("ä".encode(), b"\xff\xff"),
        refused="is no Parquet file",
    ),
    "parquet-of-html": Malformed("a.parquet", lambda: page() * 100, refused="is no Parquet file"),
    "parquet-cut": Malformed(
        "a.parquet", lambda: parquet({"url": [ALL[0]], "html": ["one"]})[:-30], refused="is no Parquet file"
    ),
    "parquet-without-pages": Malformed("a.parquet", lambda: parquet({"id": [7]}), refused="has no column url"),
    "parquet-damaged-data": Malformed(
        "a.parquet",
        lambda: parquet({"url": [ALL[0]], "html": ["words " * 999]}, damage=40),
        (),
        ({"damaged Parquet data, the rest is lost": 1},),
    ),
    "parquet-of-other-types": Malformed(
        "a.parquet",
        lambda: parquet({"url": [ALL[0], None], "html": [[["x"]], None], "title": [7, 8], "captured": ["soon", ""]}),
        (),
        ({"line without url, or without html and text": 2},),
    ),
}

# --- ZIM files -----------------------------------------------------------------------------------

ZIM_PAGES = ("http://a.localhost/One", "http://a.localhost/Two")


def zim(old: bytes = b"", new: bytes = b"", end: int | None = None) -> bytes:
    """A ZIM file of two pages, with other bytes in place of some, up to a place."""
    with TemporaryDirectory() as folder:
        pages = (Page(name, f"Title of {name}", f"<p>{name}") for name in ("One", "Two"))
        return write_zim(Path(folder) / "a.zim", pages).read_bytes().replace(old, new)[:end]


ZIMS = {
    "zim-empty": Malformed("a.zim", lambda: b"", refused="is no ZIM file that libzim can read"),
    "zim-of-html": Malformed("a.zim", lambda: page() * 100, refused="is no ZIM file that libzim can read"),
    "zim-cut": Malformed("a.zim", lambda: zim(end=500), refused="is no ZIM file that libzim can read"),
    "zim-of-another-version": Malformed(
        "a.zim", lambda: (data := zim())[:4] + b"\x63\x00" + data[6:], refused="is no ZIM file that libzim can read"
    ),
    "zim-part": Malformed("a.zimaa", lambda: zim(end=500), refused="parts of it are missing"),
    "zim-title-no-utf8": Malformed(
        "a.zim",
        lambda: zim(b"Title of One\0", b"Title \xb0f One\0"),
        ZIM_PAGES[1:],
        ({"damaged entry": 1, NOT_HTML: 5},),  # metadata and indexes
    ),
}

MALFORMED: dict[str, Malformed] = {**WARCS, **WACZS, **LINES, **PAGES, **NOTES, **WIKIS, **CRAWLS, **ZIMS}
