"""Bounds: no source takes more memory or time than its settings allow, whatever it holds."""

from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sources.bombs import brotli_bomb, gzip_bomb, record_bomb, zstd_bomb
from sources.measure import peak_megabytes
from sources.walk import file
from sources.warcs import HTML, gz, page, response
from sources.zips import wacz

pytestmark = pytest.mark.slow

GOOD = "http://a.example/good"
# Walks a source, and prints what it gave: URLs of captures and reasons of skips.
WALK = """
for item in open_sources([Path(path)], (), ReadingSettings()).items(lambda _: False):
    print(getattr(item, "reason", None) or (item.url, len(item.body)))
"""


def walk(path: Path) -> tuple[float, list[str]]:
    peak, said = peak_megabytes(
        "from pathlib import Path; import fastwarc.warc; from pagekin.model.capture import ReadingSettings; "
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
}


@pytest.mark.parametrize("case", SOURCES)
def test_source_that_unpacks_to_gigabytes_is_walked_in_little_memory(case: str, tmp_path: Path) -> None:
    name, make = SOURCES[case]
    peak, said = walk(file(tmp_path / name, make()))
    assert [each for each in said if "good" in each]
    assert len(said) == 2  # the good page, and one thing that was skipped
    # A line of JSON may be four times as long as a page, and is held as bytes and once more while it is put together.
    assert peak < (200 if case == "line" else 100)


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
