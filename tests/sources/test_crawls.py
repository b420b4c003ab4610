"""Other forms of crawls: ARC, feeds of Scrapy, Parquet, patterns and lists of files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pagekin
from cli.processes import in_this_process
from engines.serial_pool import use_serial_pool
from pagekin.errors import MisuseError, SourceError
from pagekin.model.capture import Capture, ReadingSettings
from pagekin.pipeline import build
from pagekin.sources.open import open_sources
from sources.walk import capture, captures, file, items, json_lines, kept, skipped
from sources.warcs import gz, page, response
from store.builders import urls_of

HOST = "http://a.example/"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def arc_record(url: str, block: bytes, length: int = 0) -> bytes:
    return f"{url} 127.0.0.1 20240501000000 text/html {length or len(block)}\n".encode() + block + b"\n"


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


@pytest.mark.parametrize("lost", [1, 10, 60, 100])
def test_an_arc_may_be_cut_in_a_record(lost: int, tmp_path: Path) -> None:
    """The last byte is the line feed after the record."""
    found = items(file(tmp_path / "a.arc", b"".join(ARC)[:-lost]))
    whole = lost == 1
    assert [url for url, _ in kept(found)] == [HOST + "one", HOST + "two"][: 1 + whole]
    assert sum(skipped(found).values()) == (not whole)


def spark_folder(folder: Path, *numbers: int) -> Path:
    """A folder as Spark writes it, with a page in each part."""
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    for k, number in enumerate(numbers):
        rows = {"url": [f"{HOST}{number}"], "html": [f"<p>robin {number} <a href=/{number - 1}>before</a>"]}
        pq.write_table(pa.table(rows), folder / f"part-{k:05}.parquet")
        (folder / f".part-{k:05}.parquet.crc").write_bytes(b"crc")
    return folder


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_folders_of_parquet_with_equal_names_of_parts_are_tables(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has a file that is no table; one has parts in folders of a partition."""
    use_serial_pool(monkeypatch)
    first, second = spark_folder(tmp_path / "a.parquet", 1, 2), tmp_path / "b.parquet"
    spark_folder(second / "year=2020", 3)
    (first / "notes.txt").write_text("no table")
    store = build([first, second], tmp_path / "my.kin", engine=engine, processes=1).store
    assert urls_of(store) == [HOST + "1", HOST + "2", HOST + "3"]
    assert list(store.manifest.skipped.values()) == [1]
    assert [(skip.source, skip.where) for skip in store.catalog.skips()] == [("a.parquet", "notes.txt")]
    parts = ["a.parquet/part-00000.parquet", "a.parquet/part-00001.parquet", "b.parquet/year=2020/part-00000.parquet"]
    assert [each.name for each in open_sources([first, second], [], ReadingSettings()).sources] == ["a.parquet", *parts]


def test_parquet_beside_html_is_no_table(tmp_path: Path) -> None:
    folder = spark_folder(tmp_path / "site", 1)
    (folder / "index.html").write_text("<p>a robin")
    found = items(folder)
    assert [url for url, _ in kept(found)] == ["http://site.localhost/index.html"]
    assert sum(skipped(found).values()) == 3


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
    with pytest.raises(SourceError, match=r"has no column url, or no text column \(html, body, content, text"):
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


# --- captures over time --------------------------------------------------------------------------

DATES = ("2019-01-01", "2020-06-01", "2023-01-01")
CHOICES = {"latest": 2, "first": 0, "nearest:2020-12-31": 1, "nearest:2019-06-01": 0}


def over_time(folder: Path) -> tuple[Path, Path]:
    """An archive with a page at three dates, and its index."""
    archive, index = b"", ""
    for date in DATES:
        record = gz(response(HOST, page(date), date=f"{date}T00:00:00Z"))
        place = {"url": HOST, "mime": "text/html", "status": "200", "filename": "a.warc.gz"}
        place |= {"offset": str(len(archive)), "length": str(len(record))}
        index += f"example,a)/ {date.replace('-', '')}000000 {json.dumps(place)}\n"
        archive += record
    index += 'example,a)/x 20200101000000 {"url": "http://a.example/x", "filename": "../../etc/passwd", "offset": 0}\n'
    index += 'example,a)/y 20200101000000 {"url": "http://a.example/y", "filename": "b", "offset": 0, "length": 9}\n'
    return file(folder / "archive/a.warc.gz", archive), file(folder / "indexes/a.cdxj", index.encode())


@pytest.mark.parametrize("choice", CHOICES)
def test_one_capture_of_a_page_is_chosen_by_its_date(choice: str, tmp_path: Path) -> None:
    archive, _ = over_time(tmp_path)
    store = build([archive], tmp_path / "a.kin", processes=1, settings=ReadingSettings(capture=choice)).store
    assert store.text(store.find(HOST)) == DATES[CHOICES[choice]]
    assert store.manifest.skipped == {"older capture" if choice == "latest" else "other capture": 2}


def test_the_captures_of_a_page_over_time_are_listed_with_it(tmp_path: Path) -> None:
    archive, _ = over_time(tmp_path)
    beside = [response(HOST + name, page(name), date=f"{DATES[0]}T00:00:00Z") for name in ("", "a", "a", "z")]
    file(tmp_path / "b.warc.gz", gz(*beside))
    build([archive, tmp_path / "b.warc.gz"], tmp_path / "a.kin", processes=1, settings=ReadingSettings(capture="first"))
    with pagekin.open(tmp_path / "a.kin") as collection:
        found = {each.url.removeprefix(HOST): collection.page(each.url).other_captures for each in collection}
    earliest, second, third = (f"{date}T00:00:00Z" for date in DATES)
    assert found == {
        "": [(third, "a.warc.gz"), (second, "a.warc.gz"), (earliest, "a.warc.gz")],
        "a": [(earliest, "b.warc.gz")],
        "z": [],
    }
    shown = in_this_process("show", "a.kin", HOST, folder=tmp_path).out
    assert f"captured {DATES[0]}" in shown and f"3 other captures, of {DATES[0]} to {DATES[2]}" in shown


@pytest.mark.parametrize("choice", CHOICES)
def test_an_index_names_the_captures_that_are_read(choice: str, tmp_path: Path) -> None:
    _, index = over_time(tmp_path)
    found = items(index, settings=ReadingSettings(capture=choice))
    assert kept(found) == [(HOST, page(DATES[CHOICES[choice]]))]
    assert skipped(found) == {
        "other capture": 2,
        "line is no CDXJ": 1,
        "archive that is not beside its index": 1,
    }


def test_a_cut_index_is_read_up_to_its_end(tmp_path: Path) -> None:
    _, index = over_time(tmp_path)
    lines = index.read_bytes().splitlines(keepends=True)[:2]
    packed = gzip.compress(lines[0]) + gzip.compress(lines[1])[:-20]
    found = items(file(tmp_path / "indexes/b.cdxj.gz", packed))
    assert kept(found) == [(HOST, page(DATES[0]))]
    assert skipped(found) == {"compressed data damaged, the rest is lost": 1}


def test_an_unknown_choice_is_misuse() -> None:
    for choice in ("newest", "nearest:", "nearest:soon"):
        with pytest.raises(MisuseError, match="it can be latest, first, or nearest:DATE"):
            ReadingSettings(capture=choice)


def test_an_index_with_wrong_places_is_told(tmp_path: Path) -> None:
    _, index = over_time(tmp_path)
    index.write_text(index.read_text().replace('"offset": "0"', '"offset": "7"'))
    found = items(index, settings=ReadingSettings(capture="first"))
    assert skipped(found)["no record at the place that the index names"] == 1
