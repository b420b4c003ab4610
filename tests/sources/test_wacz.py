"""WACZ: the records of all archives inside, as if they lay beside each other."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from pagekin.errors import SourceError
from sources.walk import captures, file, items, kept, skipped
from sources.warcs import NEXT_DAY, gz, page, response, revisit
from sources.zips import wacz

HOST = "http://a.example/"
RECORDS = {word: response(HOST + word, page(word)) for word in ("one", "two", "three", "four")}
PAGES = [(HOST + word, page(word)) for word in RECORDS]
WAYS = pytest.mark.parametrize("way", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])


@WAYS
def test_all_archives_inside_are_read(way: int, tmp_path: Path) -> None:
    files = {
        "archive/a.warc.gz": gz(RECORDS["one"], RECORDS["two"]),
        "archive/b.warc": RECORDS["three"],
        "archive/deep/C.WARC.GZ": gz(RECORDS["four"]),
        "archive/notes.txt": b"no archive",
        "pages/pages.jsonl": b'{"url": "http://a.example/listed", "text": "not a page of its own"}\n',
        "other.warc.gz": gz(response(HOST + "outside")),
        "datapackage.json": b"{}",
    }
    assert kept(items(file(tmp_path / "a.wacz", wacz(files, way)))) == PAGES


def test_order_of_the_archives_inside_does_not_matter(tmp_path: Path) -> None:
    files = {f"archive/{word}.warc.gz": gz(each) for word, each in RECORDS.items()}
    backwards = dict(reversed(files.items()))
    found = [items(file(tmp_path / name / "a.wacz", wacz(each))) for name, each in (("f", files), ("b", backwards))]
    assert kept(found[0]) == kept(found[1])


def test_wacz_gives_what_its_archive_gives(tmp_path: Path) -> None:
    data = gz(*RECORDS.values(), response(HOST, b"", ("Location", "/one"), status="301 Moved"))
    beside = captures_and_redirects(file(tmp_path / "a.warc.gz", data))
    assert captures_and_redirects(file(tmp_path / "a.wacz", wacz({"archive/a.warc.gz": data}))) == beside


def captures_and_redirects(path: Path) -> list[dict[str, object]]:
    return [{key: value for key, value in vars(item).items() if key != "origin"} for item in items(path)]


def test_source_of_a_capture_is_the_wacz(tmp_path: Path) -> None:
    path = file(tmp_path / "a.wacz", wacz({"archive/a.warc.gz": gz(*RECORDS.values())}))
    assert {each.origin.source for each in captures(path)} == {"a.wacz"}


def test_revisit_finds_its_record_in_another_archive_inside(tmp_path: Path) -> None:
    files = {
        "archive/a.warc.gz": gz(revisit(HOST + "copy", page("one"), date=NEXT_DAY)),
        "archive/b.warc.gz": gz(RECORDS["one"]),
    }
    assert dict(kept(items(file(tmp_path / "a.wacz", wacz(files))))) == {
        HOST + "one": page("one"),
        HOST + "copy": page("one"),
    }


@WAYS
def test_archive_cut_short_inside_costs_only_its_last_record(way: int, tmp_path: Path) -> None:
    files = {"archive/a.warc.gz": gz(*RECORDS.values())[:-30], "archive/b.warc.gz": gz(response(HOST + "five"))}
    found = items(file(tmp_path / "a.wacz", wacz(files, way)))
    assert [url for url, _ in kept(found)] == [HOST + "one", HOST + "two", HOST + "three", HOST + "five"]
    assert skipped(found) == {"truncated record": 1}


def test_damaged_record_inside_costs_only_itself(tmp_path: Path) -> None:
    """The zip has a checksum over the whole archive, which then is wrong, too."""
    data = bytearray(wacz({"archive/a.warc.gz": gz(*RECORDS.values()), "archive/b.warc": response(HOST + "five")}))
    second = gz(RECORDS["two"])
    data[data.index(second) + len(second) // 2] ^= 0xFF
    found = items(file(tmp_path / "a.wacz", bytes(data)))
    assert [url for url, _ in kept(found)] == [HOST + "one", HOST + "three", HOST + "four", HOST + "five"]
    assert skipped(found) == {"damaged compression": 1}


def test_archive_inside_that_cannot_be_unpacked_costs_only_itself(tmp_path: Path) -> None:
    data = bytearray(wacz({"archive/a.warc.gz": gz(RECORDS["one"]), "archive/b.warc": RECORDS["two"]}, 8))
    start = len("archive/a.warc.gz") + 30  # a local header has 30 bytes and the name
    data[start : start + 40] = b"\xff" * 40  # no kind of deflated block begins so
    found = items(file(tmp_path / "a.wacz", bytes(data)))
    assert [url for url, _ in kept(found)] == [HOST + "two"]
    assert sum(skipped(found).values()) == 1


@pytest.mark.parametrize("data", [b"", b"no zip at all", wacz({"archive/a.warc": RECORDS["one"]})[:-40]])
def test_what_is_no_wacz_is_told_in_a_sentence(data: bytes, tmp_path: Path) -> None:
    path = file(tmp_path / "a.wacz", data)
    with pytest.raises(SourceError, match=r"a\.wacz is no WACZ: .*; if its download broke off, fetch it again$"):
        items(path)


def test_zip_without_archives_is_told_in_a_sentence(tmp_path: Path) -> None:
    path = file(tmp_path / "a.wacz", wacz({"photos/cat.warc.gz": gz(RECORDS["one"])}))
    with pytest.raises(SourceError, match=r"a\.wacz"):
        items(path)
