"""Damage: what is broken is counted, and everything beside it is kept, wherever the damage lies."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest

from pagekin.model.capture import ReadingSettings
from sources.walk import file, items, kept, skipped
from sources.warcs import DAY, gz, page, record, response

HOST = "http://a.example/"
WORDS = ("one", "two", "three")
RECORDS = [response(HOST + word, page(word)) for word in WORDS]
PAGES = [(HOST + word, page(word)) for word in WORDS]
MEMBERS = [gz(each) for each in RECORDS]


def ends(parts: list[bytes]) -> list[int]:
    """Where each part ends, laid one behind the other."""
    return [sum(map(len, parts[: k + 1])) for k in range(len(parts))]


@pytest.mark.parametrize(("name", "parts"), [("a.warc.gz", MEMBERS), ("a.warc", RECORDS)])
def test_archive_may_be_cut_anywhere(name: str, parts: list[bytes], tmp_path: Path) -> None:
    data = b"".join(parts)
    path = tmp_path / name
    silent = []
    for cut in range(1, len(data)):
        found = items(file(path, data[:cut]))
        whole = sum(end <= cut for end in ends(parts))
        number = len(kept(found))
        assert kept(found) == PAGES[:number]
        assert number in (whole, whole + 1), cut  # a record may be whole that lacks but its last line breaks
        if number == whole and cut not in ends(parts) and sum(skipped(found).values()) != 1:
            silent.append(cut)
    assert silent == []


def test_archive_of_one_gzip_member_may_be_cut_anywhere(tmp_path: Path) -> None:
    data = gzip.compress(b"".join(RECORDS), mtime=0)
    path = tmp_path / "a.warc.gz"
    silent = []
    for cut in range(10, len(data)):
        there = len(zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data[:cut]))
        whole = sum(end <= there for end in ends(RECORDS))
        found = items(file(path, data[:cut]))
        number = len(kept(found))
        assert kept(found) == PAGES[:number]
        assert number in (whole, whole + 1), cut
        if number < len(PAGES) and sum(skipped(found).values()) != 1:
            silent.append(cut)
    assert silent == []


CUTS = {"record header": b"WARC-Record-ID: ", "HTTP header": b"HTTP/1.1 200 O", "page": b"<title>thr"}


@pytest.mark.parametrize("form", ["one member a record", "one member for all", "uncompressed"])
@pytest.mark.parametrize("part", CUTS)
def test_record_that_was_cut_is_counted_as_truncated(part: str, form: str, tmp_path: Path) -> None:
    last = RECORDS[2][: RECORDS[2].index(CUTS[part]) + len(CUTS[part])]
    # A flush, so that all that was written before the cut can be read.
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    if form == "uncompressed":
        data = b"".join(RECORDS[:2]) + last
    elif form == "one member a record":
        data = b"".join(MEMBERS[:2]) + packer.compress(last) + packer.flush(zlib.Z_SYNC_FLUSH)
    else:
        data = packer.compress(b"".join(RECORDS[:2]) + last) + packer.flush(zlib.Z_SYNC_FLUSH)
    found = items(file(tmp_path / "a.warc", data))
    assert kept(found) == PAGES[:2]
    assert skipped(found) == {"truncated record": 1}


def test_any_byte_of_a_compressed_archive_may_be_wrong(tmp_path: Path) -> None:
    data = b"".join(MEMBERS)
    path = tmp_path / "a.warc.gz"
    lost = []
    for place in range(len(data)):
        hit = sum(end <= place for end in ends(MEMBERS))
        found = items(file(path, data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]))
        others = [each for k, each in enumerate(PAGES) if k != hit]
        counted = sum(skipped(found).values())
        # Some bytes say nothing (the time of packing); most are guarded by a checksum.
        if not (kept(found) == PAGES and counted <= 1) and not (kept(found) == others and counted == 1):
            lost.append(place)
    assert lost == []


def test_any_byte_of_a_page_may_be_wrong(tmp_path: Path) -> None:
    data = b"".join(RECORDS)
    path = tmp_path / "a.warc"
    start = data.index(page("two"))
    for place in range(start, start + len(page("two"))):
        found = items(file(path, data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]))
        assert kept(found) == [PAGES[0], PAGES[2]]
        assert skipped(found) == {"record does not match its digest": 1}


GARBAGE = {
    "letters": b"garbage",
    "zeros": bytes(5000),
    "lines": b"WARC is no version\r\n\r\n" * 9,
    "half a beginning": b"WARC/1",
    "half a member": MEMBERS[0][:100],
    "the beginning of a member": b"\x1f\x8b\x08",
    "a megabyte": b"\xff\x00" * (1 << 19),
}


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize(("name", "parts"), [("a.warc.gz", MEMBERS), ("a.warc", RECORDS)])
def test_garbage_costs_no_record(name: str, parts: list[bytes], garbage: str, place: int, tmp_path: Path) -> None:
    data = b"".join([*parts[:place], GARBAGE[garbage], *parts[place:]])
    found = items(file(tmp_path / name, data))
    assert kept(found) == PAGES
    assert sum(skipped(found).values()) == 1


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_number_of_damaged_places_does_not_matter(name: str, tmp_path: Path) -> None:
    """What is between them is kept, be they many: a crawl of years may have more of them than a thousand."""
    urls = [f"{HOST}{k}" for k in range(1500)]
    good = [response(url) if name == "a.warc" else gz(response(url)) for url in urls]
    found = items(file(tmp_path / name, b"garbage\r\n".join(good)))
    assert [url for url, _ in kept(found)] == urls
    assert sum(skipped(found).values()) == len(urls) - 1


@pytest.mark.parametrize("kind", ["warcinfo", "request", "metadata"])
@pytest.mark.parametrize("length", [10**6, 10**15, 300])
def test_length_that_is_wrong_costs_no_other_record(kind: str, length: int, tmp_path: Path) -> None:
    broken = record(kind, HOST + "broken", b"some: fields\r\n", length=length)
    for name, data in (("a.warc", broken + b"".join(RECORDS)), ("a.warc.gz", gz(broken) + b"".join(MEMBERS))):
        found = items(file(tmp_path / name, data))
        assert kept(found) == PAGES
        assert sum(skipped(found).values()) == 1


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_length_beyond_the_end_costs_no_other_record(name: str, tmp_path: Path) -> None:
    """Not even where so much follows that the broken record looks like a page too large."""
    urls = [f"{HOST}{k}" for k in range(50)]
    records = [response(HOST + "broken", length=10**15), *map(response, urls)]
    data = b"".join(records) if name == "a.warc" else gz(*records)
    found = items(file(tmp_path / name, data), settings=ReadingSettings(max_page_bytes=1000))
    assert [url for url, _ in kept(found)] == urls
    assert sum(skipped(found).values()) == 1


def test_place_of_the_damage_is_told(tmp_path: Path) -> None:
    member = bytearray(MEMBERS[1])
    member[len(member) // 2] ^= 0xFF
    found = items(file(tmp_path / "a.warc.gz", MEMBERS[0] + bytes(member) + MEMBERS[2]))
    assert [vars(item)["where"] for item in found if "reason" in vars(item)] == [f"byte {len(MEMBERS[0])} of a.warc.gz"]


def test_same_url_twice_is_no_damage(tmp_path: Path) -> None:
    found = items(file(tmp_path / "a.warc", RECORDS[0] + response(PAGES[0][0], page("again"), date=DAY)))
    assert kept(found) == [PAGES[0], (PAGES[0][0], page("again"))]
