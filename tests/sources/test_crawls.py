"""Other forms of crawls: ARC, feeds of Scrapy, Parquet, patterns and lists of files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pagekin.errors import MisuseError, SourceError
from pagekin.model.capture import Capture
from sources.walk import capture, captures, file, items, json_lines, kept, skipped
from sources.warcs import gz, page, response

HOST = "http://a.example/"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def arc_record(url: str, block: bytes) -> bytes:
    return f"{url} 127.0.0.1 20240501000000 text/html {len(block)}\n".encode() + block + b"\n"


VERSION = b"1 0 Somebody\nURL IP-address Archive-date Content-type Archive-length\n"
HEAD = f"filedesc://a.arc 127.0.0.1 20240501000000 text/plain {len(VERSION)}\n".encode() + VERSION + b"\n"
ARC = [HEAD, arc_record(HOST + "one", HTTP + page("one")), arc_record(HOST + "two", HTTP + page("two"))]


@pytest.mark.parametrize("packed", [False, True])
def test_an_arc_gives_what_was_written(packed: bool, tmp_path: Path) -> None:
    data = b"".join(map(gzip.compress, ARC)) if packed else b"".join(ARC)
    found = captures(file(tmp_path / ("a.arc.gz" if packed else "a.arc"), data))
    assert kept(list(found)) == [(HOST + "one", page("one")), (HOST + "two", page("two"))]
    assert found[0].captured == 1_714_521_600  # date -ud 2024-05-01 +%s


def test_a_damaged_arc_is_read_up_to_the_damage(tmp_path: Path) -> None:
    packed = [gzip.compress(each) for each in ARC]
    found = items(file(tmp_path / "a.arc.gz", packed[0] + packed[1] + b"\x1f\x8b\x08damage"))
    assert [url for url, _ in kept(found)] == [HOST + "one"]
    assert skipped(found) == {"damaged ARC record, the rest is lost": 1}


@pytest.mark.parametrize("field", ["html", "body", "content"])
def test_a_feed_of_scrapy_is_read_as_it_is(field: str, tmp_path: Path) -> None:
    found = capture(json_lines(tmp_path / "a.jl", {"url": HOST, field: "<p>a", "depth": 1, "timestamp": 7}))
    assert (found.url, found.body, found.format, found.captured) == (HOST, b"<p>a", "html", 7)


def test_parquet_gives_what_was_written(tmp_path: Path) -> None:
    rows = {
        "url": [HOST + "one", "mailto:x", HOST + "two"],
        "content": [b"<p>1", b"2", None],
        "title": ["T", None, None],
    }
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    found = items(tmp_path / "a.parquet")
    assert [(each.url, each.body, each.title) for each in found if isinstance(each, Capture)] == [
        (HOST + "one", b"<p>1", "T")
    ]
    assert skipped(found) == {"no http or https URL": 1, "line without url, or without html and text": 1}


def test_parquet_without_pages_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"url": [HOST], "page": ["x"]}), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="has no column url, or none of html, body, content, text"):
        items(tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="is no Parquet file"):
        items(file(tmp_path / "b.parquet", b"PAR1 no"))


def test_damaged_parquet_is_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"url": [HOST], "html": ["words " * 1000]}), tmp_path / "a.parquet", compression="gzip")
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    data[40:80] = bytes(40)
    assert set(skipped(items(file(tmp_path / "a.parquet", bytes(data))))) == {"damaged Parquet data, the rest is lost"}


def test_patterns_and_lists_name_several_files(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        file(tmp_path / f"deep/{name}.warc.gz", gz(response(HOST + name, page(name))))
    file(tmp_path / "list.gz", gzip.compress(b"# a comment\ndeep/one.warc.gz\n\ndeep/tw*.warc.gz\n"))
    assert {each.url for each in captures(tmp_path / "deep/*.warc.gz")} == {HOST + x for x in ("one", "two", "three")}
    assert {each.url for each in captures(Path(f"@{tmp_path}/list.gz"))} == {HOST + "one", HOST + "two"}
    with pytest.raises(MisuseError, match="no file matches"):
        items(tmp_path / "deep/*.wacz")
    with pytest.raises(MisuseError, match="does not exist"):
        items(Path(f"@{file(tmp_path / 'other', b'missing.warc')}"))
