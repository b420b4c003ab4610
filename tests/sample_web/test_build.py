"""The sample web as a folder, a WARC and a WACZ: valid, equal, and the same bytes every time."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin
from zlib import ZLIB_RUNTIME_VERSION, crc32, decompress

import pytest
from warcio.archiveiterator import ArchiveIterator

from pagekin import sample_web
from tools.sample_web import captures, labels, newest, pages, write_folder, write_wacz, write_warc
from tools.sample_web.__main__ import SHIPPED

from .dom import captures_of

with warnings.catch_warnings():  # fastwarc 1.1 warns of its own legacy classes while it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator as FastIterator

ROOT = Path(__file__).parents[2]
ALL = "from pathlib import Path; from tools.sample_web import *; import sys; t = Path(sys.argv[1]); "
ALL += "write_folder(t / 'web'); write_warc(t / 'sample_web.warc.gz'); write_wacz(t / 'sample_web.wacz')"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("sample_web")
    write_folder(target / "web")
    write_warc(target / "sample_web.warc.gz")
    write_wacz(target / "sample_web.wacz")
    return target


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
    }


def records(path: Path) -> Iterator[Any]:
    with path.open("rb") as stream:
        yield from ArchiveIterator(stream, check_digests="raise")


@pytest.mark.slow
def test_two_runs_write_the_same_bytes(built: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    subprocess.run([sys.executable, "-c", ALL, str(tmp_path)], check=True, env=environment, cwd=ROOT)
    assert files_below(tmp_path) == files_below(built)


def test_the_builder_writes_the_shipped_bytes(built: Path) -> None:
    """After a change of the sources, `python -m tools.sample_web` writes the archive anew."""
    for name in (sample_web.ARCHIVE, sample_web.LABELS):
        assert (built / name).read_bytes() == (SHIPPED.parent / name).read_bytes(), (
            f"{name}, zlib {ZLIB_RUNTIME_VERSION}"
        )


def test_the_shipped_archive_and_labels_can_be_copied(built: Path, tmp_path: Path) -> None:
    assert sample_web.copy_to(tmp_path) == tmp_path / "sample_web.warc.gz"
    assert files_below(tmp_path) == {name: (built / name).read_bytes() for name in ("sample_web.warc.gz", "labels.tsv")}
    assert sample_web.labels() == labels()


@pytest.mark.slow
def test_the_sample_web_is_read_from_a_zipped_package(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pagekin.zip", "w") as package:
        package.writestr("pagekin/__init__.py", "")
        for name in ("__init__.py", sample_web.ARCHIVE, sample_web.LABELS):
            package.write(SHIPPED.parent / name, f"pagekin/sample_web/{name}")
    program = "from pathlib import Path; from pagekin import sample_web; "
    program += "print(sample_web.copy_to(Path()), sample_web.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "pagekin.zip")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["sample_web.warc.gz", f"{tmp_path}/pagekin.zip/pagekin/sample_web/__init__.py"]
    assert (tmp_path / "sample_web.warc.gz").read_bytes() == SHIPPED.read_bytes()


def test_labels_stand_beside_the_output(built: Path) -> None:
    rows = [tuple(row.split("\t")) for row in (built / "labels.tsv").read_text("utf-8").splitlines()]
    assert rows == labels()


def test_captures_hold_what_a_crawl_holds() -> None:
    statuses = Counter(capture.status for capture in captures())
    assert statuses[301] + statuses[302] == 5
    assert statuses[404] == 1
    times = Counter(capture.url for capture in captures())
    assert sum(count == 2 for count in times.values()) == 5
    assert all(times[page.url] for page in pages())
    older = [url for url, count in times.items() if count == 2 and len({c.body for c in captures_of(url)}) == 2]
    assert len(older) == 4


def test_redirects_make_a_chain_and_a_loop() -> None:
    answers = {capture.url: capture for capture in captures()}

    def follow(url: str) -> list[str]:
        way = [url]
        while location := answers[way[-1]].header("Location"):
            way.append(urljoin(way[-1], location))
            if way[-1] in way[:-1]:
                break
        return way

    assert follow("http://slowoven.example/leaven.html")[1:] == [
        "http://slowoven.example/mother.html",
        "http://slowoven.example/starter.html",
    ]
    loop = follow("http://oldweb.example/ring/next.html")
    assert len(loop) == 3
    assert loop[0] == loop[-1]


def test_the_image_is_a_png() -> None:
    (image,) = [capture for capture in captures() if capture.header("Content-Type") == "image/png"]
    assert image.body.startswith(b"\x89PNG\r\n\x1a\n")
    body, names = image.body[8:], []
    while body:
        size = int.from_bytes(body[:4], "big")
        assert crc32(body[4 : 8 + size]) == int.from_bytes(body[8 + size : 12 + size], "big")
        names.append((body[4:8], body[8 : 8 + size]))
        body = body[12 + size :]
    assert [name for name, _ in names] == [b"IHDR", b"IDAT", b"IEND"]
    assert len(decompress(names[1][1])) == 16 * 17


def test_the_folder_holds_the_newest_capture_of_every_page(built: Path) -> None:
    found = files_below(built / "web")
    by_url = {"http://" + re.sub(r"/index\.html$", "/", quote(name)): body for name, body in found.items()}
    expected = {capture.url: capture for capture in newest() if capture.status < 400}
    assert by_url.keys() == expected.keys()
    for url, capture in expected.items():
        if capture.status == 200:
            assert by_url[url] == capture.body


def test_the_folder_turns_a_redirect_into_a_refresh(built: Path) -> None:
    html = (built / "web/slowoven.example/leaven.html").read_text("ascii")
    assert '<meta http-equiv="refresh" content="0; url=/mother.html">' in html


def test_a_file_name_may_hold_a_percent_sign(built: Path) -> None:
    assert (built / "web/oldweb.example/A%28b%29.htm").is_file()
    assert "HREF=A%2528b%2529.htm" in (built / "web/oldweb.example/contents.html").read_text("ascii")
    assert "http://oldweb.example/A%2528b%2529.htm" in {
        record.rec_headers["WARC-Target-URI"] for record in records(built / "sample_web.warc.gz")
    }


def test_the_time_of_a_file_is_that_of_its_capture(built: Path) -> None:
    (capture,) = captures_of("http://birdnotes.example/robin.html")
    assert (built / "web/birdnotes.example/robin.html").stat().st_mtime == capture.captured.timestamp()


def test_warcio_reads_every_record_and_its_digests_hold(built: Path) -> None:
    kinds: Counter[str] = Counter()
    for record in records(built / "sample_web.warc.gz"):
        record.content_stream().read()
        kinds[record.rec_type] += 1
        assert record.digest_checker.passed is (None if record.rec_type == "revisit" else True)
    assert kinds == {"warcinfo": 1, "request": 1, "resource": 1, "revisit": 1, "response": len(captures()) - 2}


def test_fastwarc_reads_every_record_and_its_digests_hold(built: Path) -> None:
    seen = 0
    with (built / "sample_web.warc.gz").open("rb") as stream:
        for record in FastIterator(stream, parse_http=False):
            seen += 1
            assert record.verify_block_digest()
            if record.is_http and record.headers.get("WARC-Type") == "response":
                record.parse_http()
                assert record.verify_payload_digest()
    assert seen == len(captures()) + 2


def test_the_archive_gives_back_what_was_captured(built: Path) -> None:
    found = {}
    for record in records(built / "sample_web.warc.gz"):
        if record.rec_type in ("response", "resource"):
            headers = record.rec_headers
            found[headers["WARC-Target-URI"], headers["WARC-Date"]] = record.content_stream().read()
    for capture in captures():
        if capture != captures_of("http://villagelibrary.example/")[1]:
            assert found[capture.url, f"{capture.captured:%Y-%m-%dT%H:%M:%SZ}"] == capture.body


def test_some_bodies_are_sent_in_chunks_some_compressed_some_both(built: Path) -> None:
    ways = Counter(
        (record.http_headers["Transfer-Encoding"], record.http_headers["Content-Encoding"])
        for record in records(built / "sample_web.warc.gz")
        if record.rec_type == "response"
    )
    assert set(ways) == {(None, None), ("chunked", None), (None, "gzip"), ("chunked", "gzip")}


def test_the_revisit_names_the_record_that_it_repeats(built: Path) -> None:
    by_id = {
        record.rec_headers["WARC-Record-ID"]: record.rec_headers for record in records(built / "sample_web.warc.gz")
    }
    (revisit,) = [headers for headers in by_id.values() if headers["WARC-Type"] == "revisit"]
    first = by_id[revisit["WARC-Refers-To"]]
    assert revisit["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert revisit["WARC-Payload-Digest"] == first["WARC-Payload-Digest"]
    assert revisit["WARC-Refers-To-Target-URI"] == first["WARC-Target-URI"]
    assert revisit["WARC-Refers-To-Date"] == first["WARC-Date"] < revisit["WARC-Date"]


def test_record_ids_are_unique(built: Path) -> None:
    ids = [record.rec_headers["WARC-Record-ID"] for record in records(built / "sample_web.warc.gz")]
    assert len(set(ids)) == len(ids)


def test_the_hashes_of_the_wacz_hold(built: Path) -> None:
    with zipfile.ZipFile(built / "sample_web.wacz") as archive:
        assert archive.testzip() is None
        manifest = json.loads(archive.read("datapackage.json"))
        assert (manifest["profile"], manifest["wacz_version"]) == ("data-package", "1.1.1")
        digest = json.loads(archive.read("datapackage-digest.json"))
        listed = [*manifest["resources"], digest | {"bytes": len(archive.read(digest["path"]))}]
        for resource in listed:
            data = archive.read(resource["path"])
            assert resource["bytes"] == len(data)
            assert resource["hash"] == "sha256:" + hashlib.sha256(data).hexdigest()
        assert {item["path"] for item in listed} | {"datapackage-digest.json"} == set(archive.namelist())


def test_the_wacz_stores_the_same_warc_uncompressed(built: Path) -> None:
    with zipfile.ZipFile(built / "sample_web.wacz") as archive:
        assert archive.getinfo("archive/data.warc.gz").compress_type == zipfile.ZIP_STORED
        assert archive.read("archive/data.warc.gz") == (built / "sample_web.warc.gz").read_bytes()


def test_the_index_of_the_wacz_leads_to_the_records(built: Path) -> None:
    with zipfile.ZipFile(built / "sample_web.wacz") as archive:
        warc = archive.read("archive/data.warc.gz")
        rows = archive.read("indexes/index.cdxj").decode().splitlines()
    assert rows == sorted(rows)
    assert len(rows) == len(captures())
    for row in rows:
        fields = json.loads(row.split(" ", 2)[2])
        start, length = int(fields["offset"]), int(fields["length"])
        record = gzip.decompress(warc[start : start + length])
        assert f"WARC-Target-URI: {fields['url']}\r\n".encode() in record
        date = re.search(rb"WARC-Date: (\S+)Z", record)
        assert date and re.sub(rb"\D", b"", date[1]).decode() == row.split(" ")[1]


def test_the_wacz_lists_every_page_once(built: Path) -> None:
    with zipfile.ZipFile(built / "sample_web.wacz") as archive:
        head, *rows = map(json.loads, archive.read("pages/pages.jsonl").decode().splitlines())
    assert head["format"] == "json-pages-1.0"
    assert {(row["url"], row["title"]) for row in rows} == {(page.url, page.title) for page in pages()}
    assert len(rows) == len(pages())
