"""WARC: what a crawler wrote comes out, whichever way it was packed."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from pagekin.model.capture import Capture, PageFlags, ReadingSettings
from sources.walk import capture, captures, file, items, kept, redirects, skipped
from sources.warcs import (
    DAY,
    DAY_SECONDS,
    HTML,
    NEXT_DAY,
    NEXT_DAY_SECONDS,
    Header,
    chunked,
    gz,
    page,
    record,
    resource,
    response,
)

HOST = "http://a.example/"


def few_a_member(*records: bytes) -> bytes:
    return b"".join(gzip.compress(b"".join(records[i : i + 2]), mtime=0) for i in range(0, len(records), 2))


FORMS: dict[str, tuple[str, Callable[..., bytes]]] = {
    "one gzip member a record": ("a.warc.gz", gz),
    "one gzip member for all": ("a.warc.gz", lambda *records: gzip.compress(b"".join(records), mtime=0)),
    "a few records a gzip member": ("a.warc.gz", few_a_member),
    "uncompressed": ("a.warc", lambda *records: b"".join(records)),
    "uncompressed under a wrong name": ("a.warc.gz", lambda *records: b"".join(records)),
    "compressed under a wrong name": ("a.warc", gz),
    "a name in capitals": ("A.WARC.GZ", gz),
    "one zstd frame a record": ("a.warc.zst", lambda *records: b"".join(map(zstandard.compress, records))),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_was_written_comes_out(form: str, tmp_path: Path) -> None:
    name, pack = FORMS[form]
    russian = "<title>Родня</title><p>Страницы".encode("koi8-r")
    compressed = chunked(gzip.compress(page("three"), mtime=0))
    data = pack(
        record("warcinfo", HOST, b"software: a crawler\r\n", ("Content-Type", "application/warc-fields")),
        record("request", HOST + "one", b"GET /one HTTP/1.1\r\n\r\n", ("Content-Type", "application/http")),
        response(HOST + "one", page("one")),
        response(
            HOST + "two",
            russian,
            ("Content-Type", 'text/html; Charset="KOI8-R"'),
            ("Content-Language", "ru"),
            ("X-Robots-Tag", "noindex"),
            date=NEXT_DAY,
        ),
        record("metadata", HOST + "two", b"outlink: /one\r\n", ("Content-Type", "application/warc-fields")),
        response(HOST + "three", compressed, HTML, ("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")),
        resource(HOST + "four", page("four"), "text/html; charset=utf-8"),
    )
    path = file(tmp_path / name, data)
    found = captures(path)
    assert [(c.url, c.body, c.captured, c.charset, c.language, c.flags) for c in found] == [
        (HOST + "one", page("one"), DAY_SECONDS, "utf-8", "", PageFlags.NONE),
        (HOST + "two", russian, NEXT_DAY_SECONDS, "koi8-r", "ru", PageFlags.NOINDEX),
        (HOST + "three", page("three"), DAY_SECONDS, "utf-8", "", PageFlags.NONE),
        (HOST + "four", page("four"), DAY_SECONDS, "utf-8", "", PageFlags.NONE),
    ]
    origins = {(c.origin.source, c.origin.size, c.origin.modified) for c in found}
    assert origins == {(name, len(data), path.stat().st_mtime_ns)}
    assert not any(c.format == "text" or c.borrowed or c.title or c.path for c in found)


@pytest.mark.parametrize("form", ["one gzip member a record", "uncompressed"])
def test_offset_of_a_capture_is_the_place_of_its_record(form: str, tmp_path: Path) -> None:
    name, pack = FORMS[form]
    records = [response(HOST + word, page(word)) for word in ("one", "two", "three")]
    places = [len(pack(*records[:k])) for k in range(3)]
    assert [c.origin.offset for c in captures(file(tmp_path / name, pack(*records)))] == places


@pytest.mark.filterwarnings("ignore:Unclosed file:ResourceWarning")  # warcio leaves its buffers to the collector
@pytest.mark.parametrize("compressed", [True, False])
def test_archive_of_another_writer_comes_out(compressed: bool, tmp_path: Path) -> None:
    target = io.BytesIO()
    writer = WARCWriter(target, gzip=compressed)
    writer.write_record(writer.create_warcinfo_record("a.warc", {"software": "warcio"}))
    headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
    for kind, word in (("response", "one"), ("resource", "two"), ("response", "three")):
        row = {"WARC-Date": DAY}
        facts = {"http_headers": headers} if kind == "response" else {"warc_content_type": "text/html"}
        body = io.BytesIO(page(word))
        writer.write_record(writer.create_warc_record(HOST + word, kind, body, warc_headers_dict=row, **facts))
    path = file(tmp_path / "a.warc", target.getvalue())
    assert [(c.url, c.body, c.captured) for c in captures(path)] == [
        (HOST + word, page(word), DAY_SECONDS) for word in ("one", "two", "three")
    ]


def test_url_comes_out_in_its_one_spelling(tmp_path: Path) -> None:
    for written in (
        "HTTP://A.example:80/x?b=2&a=1#top",
        "<http://a.example/x?a=1&b=2>",
        "http://a.example/./x?b=2&a=1",
    ):
        assert capture(file(tmp_path / "a.warc", response(written))).url == HOST + "x?a=1&b=2"


def test_https_is_another_page(tmp_path: Path) -> None:
    data = response("http://a.example/x") + response("https://a.example/x")
    assert [c.url for c in captures(file(tmp_path / "a.warc", data))] == ["http://a.example/x", "https://a.example/x"]


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("2024-05-01T12:00:00Z", DAY_SECONDS),
        ("2024-05-01T12:00:00.987654Z", DAY_SECONDS),
        ("1970-01-01T00:00:01Z", 1),
        ("1969-12-31T23:59:59Z", 0),
        ("yesterday", 0),
        ("", 0),
        ("2024-13-45T99:99:99Z", 0),
    ],
)
def test_time_is_in_seconds_or_unknown(date: str, seconds: int, tmp_path: Path) -> None:
    assert capture(file(tmp_path / "a.warc.gz", gz(response(HOST, date=date)))).captured == seconds


def test_archive_without_records_gives_nothing(tmp_path: Path) -> None:
    for name in ("a.warc", "a.warc.gz"):
        assert items(file(tmp_path / name, b"")) == []


# --- which answers are pages ---------------------------------------------------------------------


@pytest.mark.parametrize("status", ["404 Not Found", "500 Internal Server Error", "403 Forbidden", "304 Not Modified"])
def test_answer_that_is_no_page_is_counted_under_its_status(status: str, tmp_path: Path) -> None:
    found = items(file(tmp_path / "a.warc", response(HOST, status=status)))
    assert skipped(found) == {f"HTTP status {status[:3]}": 1} and len(found) == 1


@pytest.mark.parametrize("status", ["200 OK", "200", "203 Non-Authoritative Information", "206 Partial Content"])
def test_every_kind_of_success_is_a_page(status: str, tmp_path: Path) -> None:
    assert capture(file(tmp_path / "a.warc", response(HOST, page("kin"), status=status))).body == page("kin")


@pytest.mark.parametrize("kind", ["text/html", "TEXT/HTML;charset=x", "application/xhtml+xml", " text/html ; a=b"])
def test_html_is_read(kind: str, tmp_path: Path) -> None:
    assert capture(file(tmp_path / "a.warc", response(HOST, page("kin"), ("Content-Type", kind)))).body == page("kin")


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "text/plain", "application/json", "text/css"])
def test_what_is_not_html_is_counted(kind: str, tmp_path: Path) -> None:
    data = response(HOST, page(), ("Content-Type", kind)) + resource(HOST + "x", page(), kind)
    found = items(file(tmp_path / "a.warc", data))
    assert skipped(found) == {"not HTML": 2} and len(found) == 2


def test_body_of_unknown_kind_is_judged_by_its_beginning(tmp_path: Path) -> None:
    data = response(HOST + "page", b" \n<!DOCTYPE HTML><p>a", ("Server", "old"))
    data += response(HOST + "packed", gzip.compress(b"<html><p>a"), ("Content-Encoding", "gzip"))
    data += response(HOST + "image", b"\x89PNG\r\n\x1a\n", ("Server", "old"))
    found = items(file(tmp_path / "a.warc", data))
    assert kept(found) == [(HOST + "page", b" \n<!DOCTYPE HTML><p>a"), (HOST + "packed", b"<html><p>a")]
    assert skipped(found) == {"not HTML": 1}


def test_answer_of_a_server_that_ends_lines_with_a_line_feed_is_read(tmp_path: Path) -> None:
    block = b"HTTP/1.0 200 OK\nContent-Type: text/html\n\n" + page("old")
    path = file(tmp_path / "a.warc", record("response", HOST, block, ("Content-Type", "application/http")))
    assert capture(path).body == page("old")


def test_record_of_another_scheme_is_counted(tmp_path: Path) -> None:
    data = record("response", "dns:a.example", b"a.example. 1 IN A 127.0.0.1", ("Content-Type", "text/dns"))
    data += resource("ftp://a.example/x") + resource("urn:uuid:1") + response(HOST)
    found = items(file(tmp_path / "a.warc", data))
    assert [url for url, _ in kept(found)] == [HOST]
    assert skipped(found) == {"no http or https URL": 3}


def test_page_beyond_the_limit_is_counted_and_the_next_is_read(tmp_path: Path) -> None:
    settings = ReadingSettings(max_page_bytes=1000)
    records = [response(HOST + str(size), b"<p>".ljust(size, b"x")) for size in (999, 1000, 1001, 100_000, 50)]
    for name, pack in FORMS.values():
        found = items(file(tmp_path / name, pack(*records)), settings=settings)
        assert [url for url, _ in kept(found)] == [HOST + "999", HOST + "1000", HOST + "50"]
        assert skipped(found) == {"page too large": 2}


def test_page_that_unpacks_beyond_the_limit_is_never_whole_in_memory(tmp_path: Path) -> None:
    data = response(HOST, gzip.compress(bytes(100_000)), HTML, ("Content-Encoding", "gzip"))
    found = captures(file(tmp_path / "a.warc", data), settings=ReadingSettings(max_page_bytes=1000))
    assert [len(c.body or b"") for c in found] == [1001]  # one more than may be, so that reading sees it


# --- redirects -----------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "303 See Other", "307 T", "308 P"])
@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("http://b.example/new", "http://b.example/new"),
        ("HTTPS://B.example:443/new#part", "https://b.example/new"),
        ("new", HOST + "folder/new"),
        ("/new?b&a", HOST + "new?a&b"),
        ("//b.example", "http://b.example/"),
    ],
)
def test_redirect_leads_where_a_browser_would_go(status: str, location: str, target: str, tmp_path: Path) -> None:
    data = response(HOST + "folder/old", b"moved", HTML, ("Location", location), status=status)
    assert redirects(items(file(tmp_path / "a.warc", data))) == [(HOST + "folder/old", target)]


def test_redirect_keeps_its_time(tmp_path: Path) -> None:
    (found,) = items(file(tmp_path / "a.warc", response(HOST, b"", ("Location", "/b"), status="301 M", date=NEXT_DAY)))
    assert not isinstance(found, Capture) and vars(found)["captured"] == NEXT_DAY_SECONDS


@pytest.mark.parametrize("location", ["mailto:a@b.example", "javascript:void(0)", "http://[broken/", "http://"])
def test_redirect_to_no_page_does_not_vanish(location: str, tmp_path: Path) -> None:
    found = items(file(tmp_path / "a.warc", response(HOST, b"", ("Location", location), status="301 Moved")))
    assert sum(skipped(found).values()) == 1


def test_redirect_without_a_place_is_counted(tmp_path: Path) -> None:
    found = items(file(tmp_path / "a.warc", response(HOST, b"", status="301 Moved Permanently")))
    assert skipped(found) == {"HTTP status 301": 1}


# --- what a page asks of robots ------------------------------------------------------------------

NOINDEX, NOFOLLOW, NONE = PageFlags.NOINDEX, PageFlags.NOFOLLOW, PageFlags.NONE
ROBOTS: dict[str, tuple[list[str], PageFlags]] = {
    "nothing": ([], NONE),
    "noindex": (["noindex"], NOINDEX),
    "nofollow": (["nofollow"], NOFOLLOW),
    "both": (["noindex, nofollow"], NOINDEX | NOFOLLOW),
    "none": (["none"], NOINDEX | NOFOLLOW),
    "capitals and no spaces": (["NoArchive,NOINDEX"], NOINDEX),
    "two headers": (["noarchive", "noindex"], NOINDEX),
    "two headers, the other way": (["nofollow", "noarchive"], NOFOLLOW),
    "all is allowed": (["all, index, follow"], NONE),
    "wishes for caches": (["noarchive, nosnippet, noimageindex, notranslate"], NONE),
    "a date": (["unavailable_after: 25 Jun 2010 15:00:00 PST"], NONE),
    "no preview of images is no wish about the page": (["max-image-preview:none"], NONE),
    "the same with a space": (["max-snippet: -1, max-image-preview: none"], NONE),
}


@pytest.mark.parametrize("case", ROBOTS)
def test_wishes_in_the_header_are_known(case: str, tmp_path: Path) -> None:
    values, flags = ROBOTS[case]
    tags: list[Header] = [("X-Robots-Tag", value) for value in values]
    assert capture(file(tmp_path / "a.warc", response(HOST, page(), HTML, *tags))).flags == flags


# --- records inside records ----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["one gzip member a record", "uncompressed"])
def test_page_that_shows_a_record_is_one_page(form: str, tmp_path: Path) -> None:
    name, pack = FORMS[form]
    shown = b"<pre>\r\n\r\n" + response("http://forged.example/") + b"</pre>"
    found = captures(file(tmp_path / name, pack(response(HOST + "how-to", shown), response(HOST + "next"))))
    assert [(c.url, c.body) for c in found] == [(HOST + "how-to", shown), (HOST + "next", page())]


def test_page_that_shows_a_record_is_one_page_beside_damage(tmp_path: Path) -> None:
    shown = b"<pre>\r\n\r\n" + response("http://forged.example/") + b"</pre>"
    data = response(HOST + "how-to", shown) + b"garbage\r\n" + response(HOST + "next")
    found = items(file(tmp_path / "a.warc", data))
    assert kept(found) == [(HOST + "how-to", shown), (HOST + "next", page())]
    assert skipped(found) == {"damaged record": 1}


def test_body_that_holds_blank_lines_is_one_body(tmp_path: Path) -> None:
    body = b"<p>a\r\n\r\n\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\nb\r\n\r\n"
    assert capture(file(tmp_path / "a.warc", response(HOST, body))).body == body


def test_http_header_in_other_letters_is_the_same_header(tmp_path: Path) -> None:
    body = gzip.compress(page("kin"))
    data = response(HOST, body, ("CONTENT-TYPE", "text/html"), ("content-encoding", "GZIP"), ("x-ROBOTS-tag", "none"))
    found = capture(file(tmp_path / "a.warc", data))
    assert (found.body, found.flags) == (page("kin"), NOINDEX | NOFOLLOW)


def test_record_header_in_other_letters_is_the_same_header(tmp_path: Path) -> None:
    head, blank, block = response(HOST, page("kin")).partition(b"\r\n\r\n")
    data = re.sub(rb"\r\n[^:]+", lambda name: name[0].lower(), head) + blank + block
    assert b"\r\nwarc-target-uri: " in data
    assert capture(file(tmp_path / "a.warc", data)).body == page("kin")


def test_empty_body_is_left_to_reading(tmp_path: Path) -> None:
    assert capture(file(tmp_path / "a.warc", response(HOST, b""))).body == b""
