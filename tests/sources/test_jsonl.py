"""JSON lines: every line that is a page comes out, every other is counted."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.model.capture import Capture, ReadingSettings, Skip
from pagekin.pipeline import build
from sources.walk import capture, captures, file, items, json_lines, kept, skipped
from sources.warcs import DAY, DAY_SECONDS

URL = "http://a.example/"
NO_BODY = "line without url, or without html and text"

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
ROWS = st.fixed_dictionaries(
    {"url": st.integers(0, 999).map(lambda k: f"{URL}{k}"), "html": TEXT},
    optional={"title": TEXT, "language": TEXT, "captured": st.integers(0, 1 << 39), "other": TEXT},
)


@settings(deadline=None, max_examples=50)
@given(rows=st.lists(ROWS, max_size=5), ascii_only=st.booleans(), packed=st.booleans())
def test_what_was_written_comes_out(
    rows: list[dict[str, Any]], ascii_only: bool, packed: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows).encode()
    name = "a.jsonl.gz" if packed else "a.jsonl"
    found = captures(file(tmp_path_factory.mktemp("rows") / name, gzip.compress(data) if packed else data))
    assert [(c.url, c.body, c.title, c.language, c.captured, c.charset, c.format == "text") for c in found] == [
        (
            row["url"],
            row["html"].encode(),
            row.get("title", ""),
            row.get("language", ""),
            row.get("captured", 0),
            "utf-8",
            False,
        )
        for row in rows
    ]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "A.JSONL", "a.jsonl.gz", "A.JSONL.GZ", "a.jsonl.GZ"])
def test_kind_is_known_by_the_end_of_the_name(name: str, tmp_path: Path) -> None:
    data = b'{"url": "http://a.example/", "html": "<p>kin"}\n'
    packed = name.lower().endswith(".gz")
    assert capture(file(tmp_path / name, gzip.compress(data) if packed else data)).body == b"<p>kin"


def test_text_is_no_html(tmp_path: Path) -> None:
    found = capture(json_lines(tmp_path / "a.jsonl", {"url": URL, "text": "a < b\n\nc &amp; d", "title": "T"}))
    assert (found.body, found.format == "text", found.title) == (b"a < b\n\nc &amp; d", True, "T")
    store = build([tmp_path / "a.jsonl"], tmp_path / "a.kin", processes=1).store
    assert store.text(0) == "a < b\nc &amp; d"
    assert store.reading.pages.title[0] == "T"


def test_html_goes_before_text(tmp_path: Path) -> None:
    found = capture(json_lines(tmp_path / "a.jsonl", {"url": URL, "html": "<p>a", "text": "b"}))
    assert (found.body, found.format == "text") == (b"<p>a", False)


def test_null_is_as_if_not_there(tmp_path: Path) -> None:
    row = {"url": URL, "html": None, "text": "b", "title": None, "language": None, "captured": None}
    found = capture(json_lines(tmp_path / "a.jsonl", row))
    assert (found.body, found.format == "text", found.title, found.language, found.captured) == (b"b", True, "", "", 0)


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("captured", "seconds"),
    [
        (DAY_SECONDS, DAY_SECONDS),
        (DAY_SECONDS + 0.75, DAY_SECONDS),
        (DAY, DAY_SECONDS),
        ("2024-05-01T14:00:00+02:00", DAY_SECONDS),
        ("2024-05-01T12:00:00", DAY_SECONDS),  # without a zone it is universal time, on every machine
        ("2024-05-01", DAY_SECONDS - 12 * 3600),
        ("20240501T120000Z", DAY_SECONDS),
        ("the other day", 0),
        (-1, 0),
        (1e300, 0),
        (float("nan"), 0),
        (float("inf"), 0),
        (True, 0),
        ([], 0),
        ({"a": 1}, 0),
        ("1901-01-01", 0),
    ],
)
@pytest.mark.usefixtures("tokyo")
def test_time_is_in_seconds_or_unknown(captured: object, seconds: int, tmp_path: Path) -> None:
    assert (
        capture(json_lines(tmp_path / "a.jsonl", {"url": URL, "html": "a", "captured": captured})).captured == seconds
    )


BAD: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"<html>", "line is no JSON"),
    "half an object": (b'{"url": "http://a.example/", "html": "a', "line is no JSON"),
    "two objects": (b'{"url": "http://a.example/", "html": "a"} {}', "line is no JSON"),
    "no UTF-8": (b'{"url": "http://a.example/", "html": "\xff\xfe\xfd"}', "line is no JSON"),
    "a control character": (b'{"url": "http://a.example/", "html": "\x00"}', "line is no JSON"),
    "a number of too many digits": (
        b'{"url": "http://a.example/", "html": "a", "x": ' + b"9" * 5000 + b"}",
        "line is no JSON",
    ),
    "deep": (b"[" * 100_000 + b"]" * 100_000, "line is no JSON"),
    "a list": (b'["http://a.example/", "a"]', "line is no JSON object"),
    "a string": (b'"http://a.example/"', "line is no JSON object"),
    "null": (b"null", "line is no JSON object"),
    "no url": (b'{"html": "a"}', NO_BODY),
    "no body": (b'{"url": "http://a.example/"}', NO_BODY),
    "a number as url": (b'{"url": 1, "html": "a"}', NO_BODY),
    "a list as html": (b'{"url": "http://a.example/", "html": ["a"]}', NO_BODY),
    "another scheme": (b'{"url": "ftp://a.example/", "html": "a"}', "no http or https URL"),
    "no absolute url": (b'{"url": "/a", "html": "a"}', "no http or https URL"),
    "a broken host": (b'{"url": "http://a b/", "html": "a"}', "no http or https URL"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize("case", BAD)
def test_bad_line_costs_only_itself(case: str, packed: bool, tmp_path: Path) -> None:
    line, reason = BAD[case]
    rows = [json.dumps({"url": URL + word, "html": word}).encode() for word in ("before", "after")]
    data = b"\n".join([rows[0], line, rows[1], b""])
    path = file(tmp_path / ("a.jsonl.gz" if packed else "a.jsonl"), gzip.compress(data) if packed else data)
    before, skip, after = items(path)
    assert isinstance(before, Capture) and isinstance(after, Capture)
    assert (before.body, after.body) == (b"before", b"after")
    assert isinstance(skip, Skip)
    assert (skip.source, skip.reason, skip.count) == (path.name, reason, 1)
    assert skip.where.startswith("line 2")


def test_blank_lines_and_line_ends_do_not_matter(tmp_path: Path) -> None:
    row = b'{"url": "http://a.example/", "html": "a"}'
    data = b"\n\r\n  \n" + row + b"\r\n\n" + row + b"\n" + row
    assert [c.body for c in captures(file(tmp_path / "a.jsonl", data))] == [b"a"] * 3


def test_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"url": "http://a.example/", "html": "a"}\n'
    assert capture(file(tmp_path / "a.jsonl", data)).body == b"a"


def test_empty_file_gives_nothing(tmp_path: Path) -> None:
    assert items(file(tmp_path / "a.jsonl", b"")) == []
    assert items(file(tmp_path / "a.jsonl.gz", gzip.compress(b""))) == []


def test_line_that_is_too_long_costs_only_itself(tmp_path: Path) -> None:
    rows = [{"url": URL + str(size), "html": "x" * size} for size in (900, 100_000, 5_000, 10)]
    path = json_lines(tmp_path / "a.jsonl", *rows)
    found = items(path, settings=ReadingSettings(max_page_bytes=1000))
    assert [url for url, _ in kept(found)] == [URL + "900", URL + "10"]
    assert skipped(found) == {"line too long": 2}
    places = [item.origin.offset for item in found if isinstance(item, Capture)]
    assert places == [0, path.read_bytes().index(b'{"url": "http://a.example/10"')]


@pytest.mark.slow
def test_page_that_is_too_large_is_counted(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "a.jsonl", {"url": URL, "html": "x" * 1001}, {"url": URL + "b", "html": "x" * 1000})
    store = build([path], tmp_path / "a.kin", processes=1, settings=ReadingSettings(max_page_bytes=1000)).store
    assert list(store.reading.pages.url) == [URL + "b"]
    assert store.manifest.skipped == {"page too large": 1, "word too long": 1}


def test_gzip_cut_short_costs_only_the_rest(tmp_path: Path) -> None:
    rows = [{"url": f"{URL}{k}", "html": f"{k * k} words"} for k in range(1000)]
    data = gzip.compress(json_lines(tmp_path / "all.jsonl", *rows).read_bytes())
    found = items(file(tmp_path / "a.jsonl.gz", data[: len(data) // 2]))
    urls = [url for url, _ in kept(found)]
    assert 300 < len(urls) < 700  # about half of the lines
    assert urls == [row["url"] for row in rows[: len(urls)]]
    assert skipped(found) == {"compressed data damaged, the rest is lost": 1}


def test_what_is_not_gzip_is_counted(tmp_path: Path) -> None:
    found = items(file(tmp_path / "a.jsonl.gz", b'{"url": "http://a.example/", "html": "a"}\n'))
    assert skipped(found) == {"compressed data damaged, the rest is lost": 1}


def test_lone_surrogates_do_no_harm(tmp_path: Path) -> None:
    """JSON can write half a character, which no file can hold."""
    rows = [
        {"url": "\ud800", "html": "a"},
        {"url": URL + "\ud800", "html": "b \ud800", "title": "\udfff", "language": "\udfff"},
        {"url": URL, "text": "c \ud800", "title": "T \ud800"},
    ]
    store = build([json_lines(tmp_path / "a.jsonl", *rows)], tmp_path / "a.kin", processes=1).store
    assert len(store) == 2
    assert store.manifest.skipped == {"no http or https URL": 1}
