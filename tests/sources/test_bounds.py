"""Bounds: no source takes more memory or time than its settings allow, whatever it holds."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sources.bombs import brotli_bomb, gzip_bomb, record_bomb, zstd_bomb
from sources.measure import peak_megabytes
from sources.test_crawls import HEAD, HOST, HTTP, arc_record
from sources.walk import file
from sources.warcs import HTML, gz, page, response
from sources.wikis import END, dump, wiki_page
from sources.zims import Page, write_zim
from sources.zips import wacz

pytestmark = pytest.mark.slow

GOOD = "http://a.example/good"
# Walks a source, and prints what it gave: URLs of captures and reasons of skips.
WALK = """
for item in open_sources([Path(path)], (), ReadingSettings()).items(lambda _: False):
    for _ in range(getattr(item, "count", 1)):
        print(getattr(item, "reason", None) or (item.url, len(getattr(item, "body", b""))))
"""


def walk(path: Path) -> tuple[float, list[str]]:
    peak, said = peak_megabytes(
        "from pathlib import Path; import fastwarc.warc, libzim.reader, pyarrow.parquet, warcio.archiveiterator; "
        "from pagekin.model.capture import ReadingSettings; "
        "from pagekin.sources.open import open_sources",
        f"path = {str(path)!r}",
        WALK,
    )
    return peak, said.splitlines()


SOURCES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "page": ("a.warc.gz", lambda: record_bomb("http://a.example/bomb") + gz(response(GOOD))),
    "record header": ("a.warc.gz", lambda: gzip_bomb(b"WARC/1.1\r\nWARC-Type: ") + gz(response(GOOD))),
    "HTTP header": (
        "a.warc.gz",
        lambda: (
            gzip_bomb(
                b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n"
                b"Content-Type: application/http\r\nContent-Length: 1073741824\r\n\r\nHTTP/1.1 200 OK\r\nServer: "
            )
            + gz(response(GOOD))
        ),
    ),
    "no record at all": ("a.warc.gz", lambda: gzip_bomb() + gz(response(GOOD))),
    "line": (
        "a.jsonl.gz",
        lambda: gzip.compress(b'{"url": "http://a.example/good", "html": "a"}\n') + gzip_bomb(zeros=1 << 28),
    ),
    "values in a line": (
        "a.jsonl",
        lambda: b'{"url": "x", "y": [' + b"[]," * (20 << 20) + b'[]]}\n{"url": "http://a.example/good", "html": "a"}\n',
    ),
    "archive in a WACZ": (
        "a.wacz",
        lambda: wacz({"archive/a.warc": bytes(200 << 20), "archive/b.warc": response(GOOD)}, zipfile.ZIP_DEFLATED),
    ),
    "page of a wiki": (
        "a.xml.gz",
        lambda: (
            gzip_bomb(dump([wiki_page("Good", "good", 1)])[: -len(END)] + b"<page><title>Bomb</title><ns>0</ns><text>")
            + gzip.compress(b"</text></page>" + END.encode())
        ),
    ),
    "page of an ARC": (
        "a.arc.gz",
        lambda: b"".join(
            (
                gzip.compress(HEAD),
                gzip_bomb(arc_record(HOST + "bomb", HTTP, length=1 << 30)),
                gzip.compress(arc_record(GOOD, HTTP + page("good"))),
            )
        ),
    ),
}


@pytest.mark.parametrize("case", SOURCES)
def test_source_that_unpacks_to_gigabytes_is_walked_in_little_memory(case: str, tmp_path: Path) -> None:
    name, make = SOURCES[case]
    peak, said = walk(file(tmp_path / name, make()))
    assert [each for each in said if "good" in each.lower()]
    assert len(said) == 2  # the good page, and one thing that was skipped
    # A page of a wiki may be twice as long, since its XML is escaped.
    # A line of JSON may be four times as long as a page, and is held as bytes and once more while it is put together.
    assert peak < (200 if case in ("line", "values in a line", "page of a wiki", "page of an ARC") else 100)


def test_an_index_with_a_line_of_a_gigabyte_is_walked_in_little_memory(tmp_path: Path) -> None:
    bomb, good = record_bomb("http://a.example/bomb"), gz(response(GOOD))
    file(tmp_path / "a.warc.gz", bomb + good)
    facts = {"mime": "text/html", "filename": "a.warc.gz"}
    places = (("http://a.example/bomb", 0, len(bomb)), (GOOD, len(bomb), len(good)))
    one, other = (
        f"x 20200101000000 {json.dumps({**facts, 'url': url, 'offset': offset, 'length': length})}\n".encode()
        for url, offset, length in places
    )
    index = gzip_bomb(one, b"\n" + other)
    peak, said = walk(file(tmp_path / "a.cdxj.gz", index))
    assert sorted(said) == sorted([str((GOOD, len(page()))), "line is no CDXJ", "page too large"])
    assert peak < 100


def test_a_large_page_of_a_zim_is_not_unpacked(tmp_path: Path) -> None:
    pages = [Page("big", "Big", "<p>" + "x " * (50 << 20)), Page("good", "Good", "<p>good")]
    peak, said = walk(write_zim(tmp_path / "a.zim", iter(pages), cluster_size=2 << 20))
    assert str(("http://a.localhost/good", 7)) in said and "page too large" in said
    assert peak < 50


def test_a_value_of_many_rows_of_parquet_is_one_value(tmp_path: Path) -> None:
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 99 + [1], pa.int32()), ["x" * (20 << 20), "<p>good"])
    urls = [f"{HOST}{number}" for number in range(100)]
    pq.write_table(pa.table({"url": urls, "html": rows}), tmp_path / "a.parquet")
    peak, said = walk(tmp_path / "a.parquet")
    assert said == ["page too large"] * 99 + [str((f"{HOST}99", 7))]
    assert peak < 400  # 64 rows at a time would be 1,300


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd"])
def test_body_that_unpacks_to_gigabytes_is_never_more_than_a_page(encoding: str, tmp_path: Path) -> None:
    body = {"gzip": gzip_bomb, "br": brotli_bomb, "zstd": zstd_bomb}[encoding]()
    data = gz(response("http://a.example/bomb", body, HTML, ("Content-Encoding", encoding)), response(GOOD))
    peak, said = walk(file(tmp_path / "a.warc.gz", data))
    assert said == [str(("http://a.example/bomb", (16 << 20) + 1)), str((GOOD, len(page())))]
    assert peak < 100


def test_pages_are_not_all_in_memory_at_once(tmp_path: Path) -> None:
    member = gz(response(GOOD, b"<p>".ljust(1 << 20, b"x")))
    peak, said = walk(file(tmp_path / "a.warc.gz", member * 300))
    assert said == [str((GOOD, 1 << 20))] * 300
    assert peak < 30
