"""The byte ranges of a file have what the whole file has, wherever it is cut, or say that they do not."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from pagekin.model.capture import ReadingSettings, Skip, SourceItem
from pagekin.sources.archives import ArchiveSource
from pagekin.sources.jsonl import JsonlSource
from pagekin.sources.ranges import ByteRange, are_adjacent
from sources.warcs import gz, page, record, resource, response, revisit

SETTINGS = ReadingSettings()
Opener = Callable[[Path, ReadingSettings], ArchiveSource | JsonlSource]
_WORDS = "oak jay acorn gall"


def in_ranges(source: ArchiveSource | JsonlSource, cuts: list[int]) -> tuple[list[SourceItem], int, bool]:
    """The items and the number of revisits in all ranges between cuts; and whether the ranges are all of the file."""
    items: list[SourceItem] = []
    ends, revisits = [], 0
    for begin, end in zip([0, *cuts], [*cuts, source.size], strict=True):
        part = copy(source)
        part.part = ByteRange(begin, end)
        items += part.items(lambda _: False)
        revisits += len(part.revisits) if isinstance(part, ArchiveSource) else 0
        ends.append(part.ends)
    return items, revisits, are_adjacent(ends, source.size)


def check(path: Path, opener: Opener, cuts: list[int]) -> bool:
    """Compare ranges with the whole file; return whether they are all of it."""
    source = opener(path, SETTINGS)
    whole = list(source.items(lambda _: False))
    items, revisits, complete = in_ranges(source, cuts)
    if complete:
        assert items == whole
        assert revisits == (len(source.revisits) if isinstance(source, ArchiveSource) else 0)
    return complete


def records() -> list[bytes]:
    """Records of all kinds, one of which contains an archive, plain and compressed."""
    inner = response("http://inner.example/", page("inner"))
    return [
        record("warcinfo", "", b"software: none\r\n"),
        response("http://a.example/1", page(_WORDS)),
        record("request", "http://a.example/1", b"GET / HTTP/1.1\r\n\r\n"),
        resource("http://a.example/2", page("WARC/1.0 in a text")),
        revisit("http://a.example/3", page(_WORDS)),
        response("http://a.example/4", page(_WORDS) + b"<pre>" + inner + b"</pre>" + gzip.compress(inner)),
        response("ftp://a.example/5", page(_WORDS)),
        response("http://a.example/6", page(_WORDS)),
    ]


@pytest.mark.parametrize("name", ["all.warc", "all.warc.gz"])
def test_an_archive_can_be_cut_anywhere(tmp_path: Path, name: str) -> None:
    """Where a part begins inside the plain archive in a page, the parts are not adjacent, and are not used."""
    path = tmp_path / name
    path.write_bytes(gz(*records()) if name.endswith("gz") else b"".join(records()))
    size = path.stat().st_size
    assert ArchiveSource(path, SETTINGS).is_divisible
    used = [check(path, ArchiveSource, [cut]) for cut in range(1, size)]
    inner = [cut for cut, is_used in enumerate(used, 1) if not is_used]
    assert (name == "all.warc") == bool(inner)
    assert len(inner) < size / 3
    rng = Random(7)
    assert any(check(path, ArchiveSource, sorted(rng.sample(range(1, size), 4))) for _ in range(30))


@pytest.mark.parametrize("compressed", [False, True])
def test_ranges_of_a_damaged_archive_are_used_only_if_they_have_the_same(tmp_path: Path, compressed: bool) -> None:
    rng, path = Random(3), tmp_path / ("all.warc.gz" if compressed else "all.warc")
    data = gz(*records()) if compressed else b"".join(records())
    used = []
    for _ in range(400):
        damaged = bytearray(data)
        place = rng.randrange(20, len(damaged) - 20)
        change = rng.randrange(3)
        if change == 0:
            damaged[place] ^= 1 << rng.randrange(8)
        elif change == 1:
            del damaged[place : place + rng.randrange(1, 60)]
        else:
            damaged[place:place] = rng.randbytes(rng.randrange(1, 40))
        path.write_bytes(damaged)
        used.append(check(path, ArchiveSource, sorted(rng.sample(range(1, len(damaged)), 3))))
    assert not all(used)


def lines() -> Iterator[bytes]:
    for k in range(6):
        yield json.dumps({"url": f"http://a.example/{k}", "text": f"{_WORDS} {k}"}).encode()
        yield [b"", b"no JSON", b'{"url": "ftp://a.example/"}', b"   ", b"x" * 90, b"\r"][k]


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
def test_json_lines_can_be_cut_anywhere(tmp_path: Path, end: bytes) -> None:
    """Skips have the numbers of their lines in the file."""
    path = tmp_path / "all.jsonl"
    path.write_bytes(b"\n".join(lines()) + end)
    size = path.stat().st_size
    assert all(check(path, JsonlSource, [cut]) for cut in range(1, size))
    rng = Random(5)
    assert all(check(path, JsonlSource, sorted(rng.sample(range(1, size), 5))) for _ in range(50))
    whole = list(JsonlSource(path, SETTINGS).items(lambda _: False))
    assert next(item.where for item in whole if isinstance(item, Skip)) == "line 4"


def test_lines_that_are_too_long_are_skipped_as_in_the_whole_file(tmp_path: Path) -> None:
    path, small = tmp_path / "all.jsonl", replace(SETTINGS, max_page_bytes=20)
    path.write_bytes(b"\n".join([b"a" * 300, b'{"url": "http://a.example/", "text": "a"}', b"b" * 200, b"c" * 80]))
    source = JsonlSource(path, small)
    whole = list(source.items(lambda _: False))
    for cut in range(1, source.size):
        assert in_ranges(source, [cut]) == (whole, 0, True)


def test_other_files_are_not_divided(tmp_path: Path) -> None:
    one = gzip.compress(b"".join(records()))  # all records in one member
    (tmp_path / "one.warc.gz").write_bytes(one)
    (tmp_path / "noise.warc.gz").write_bytes(bytes(1000))
    (tmp_path / "lines.jsonl.gz").write_bytes(gzip.compress(b"\n".join(lines())))
    sources = [ArchiveSource(tmp_path / name, SETTINGS) for name in ("one.warc.gz", "noise.warc.gz")]
    for source in (*sources, JsonlSource(tmp_path / "lines.jsonl.gz", SETTINGS)):
        assert list(source.in_parts(10)) == [source]


def test_parts_are_as_large_as_wanted(tmp_path: Path) -> None:
    (tmp_path / "all.jsonl").write_bytes(b"\n".join(lines()))
    source = JsonlSource(tmp_path / "all.jsonl", SETTINGS)
    assert list(source.in_parts(source.size)) == [source]
    parts = [part.part for part in source.in_parts(100)]
    assert all(part is not None and part.end - part.begin <= 100 for part in parts)
    assert len(parts) == -(-source.size // 100)
