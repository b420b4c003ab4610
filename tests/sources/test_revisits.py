"""Revisits: a record that says "as before" stands for the whole record that it repeats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagekin.model.capture import Capture, PageFlags, Redirect, SourceItem
from pagekin.pipeline import build
from pagekin.sources.archives import REVISIT_WITHOUT_RECORD
from pagekin.store.store import Store
from sources.walk import file, items, kept, redirects, skipped
from sources.warcs import (
    DAY,
    DAY_SECONDS,
    HTML,
    NEXT_DAY,
    NEXT_DAY_SECONDS,
    NOT_MODIFIED,
    Header,
    digest,
    gz,
    http,
    page,
    record,
    record_id,
    resource,
    response,
    revisit,
)

HOST = "http://a.example/"


def plain(*records: bytes) -> bytes:
    return b"".join(records)


PACKS = {"a.warc.gz": gz, "a.warc": plain}


@dataclass(frozen=True)
class Visit:
    """One answer that a crawler met; it is met a day after the one before."""

    url: str
    body: bytes
    headers: tuple[Header, ...] = (HTML,)
    status: str = "200 OK"


def crawl(visits: Iterable[Visit], deduplicated: bool) -> list[bytes]:
    """The records of a crawl, with revisits for bodies that have been met before, or without."""
    records, seen = [], set()
    for day, visit in enumerate(visits):
        date = f"{datetime(2024, 5, 1, 12, tzinfo=UTC) + timedelta(days=day):%Y-%m-%dT%H:%M:%SZ}"
        if deduplicated and visit.body in seen:
            records.append(revisit(visit.url, visit.body, *visit.headers, status=visit.status, date=date))
        else:
            records.append(response(visit.url, visit.body, *visit.headers, status=visit.status, date=date))
        seen.add(visit.body)
    return records


def facts(found: Iterable[SourceItem]) -> list[tuple[object, ...]]:
    """All that matters of items, whichever record it came from, in the order of URL and time."""
    rows: list[tuple[object, ...]] = []
    for item in found:
        if isinstance(item, Capture):
            rows.append((item.url, item.captured, item.body, item.charset, item.language, item.flags))
        elif isinstance(item, Redirect):
            rows.append((item.url, item.captured, item.target))
    return sorted(rows, key=lambda row: (str(row[0]), str(row[1])))


def newest(found: Iterable[SourceItem]) -> dict[object, tuple[object, ...]]:
    """The last of the facts of each URL."""
    return {row[0]: row for row in facts(found)}


CRAWLS = {
    "a page again": [Visit(HOST, page("a")), Visit(HOST, page("a"))],
    "a page under another URL": [Visit(HOST, page("a")), Visit(HOST + "copy", page("a"))],
    "under a third": [Visit(HOST, page("a")), Visit(HOST + "2", page("a")), Visit(HOST + "3", page("a"))],
    "changed and changed back": [Visit(HOST, page("a")), Visit(HOST, page("b")), Visit(HOST, page("a"))],
    "another charset and language": [
        Visit(HOST, page("a"), (("Content-Type", "text/html; charset=koi8-r"), ("Content-Language", "ru"))),
        Visit(HOST + "copy", page("a"), (("Content-Type", "text/html; charset=utf-8"), ("Content-Language", "en"))),
    ],
    "another wish of robots": [Visit(HOST, page("a")), Visit(HOST, page("a"), (HTML, ("X-Robots-Tag", "noindex")))],
    "a redirect again": [
        Visit(HOST + "old", b"moved", (("Location", "/new"),), "301 Moved"),
        Visit(HOST + "old", b"moved", (("Location", "/newer"),), "301 Moved"),
    ],
    "empty redirects from all over": [
        Visit(HOST + "one", b"", (("Location", "/1"),), "301 Moved"),
        Visit(HOST + "two", b"", (("Location", "/2"),), "302 Found"),
    ],
    "a page that is missing by now": [Visit(HOST, page("a")), Visit(HOST, page("a"), (HTML,), "404 Not Found")],
    "an image again": [
        Visit(HOST + "a.png", b"\x89PNG", (("Content-Type", "image/png"),)),
        Visit(HOST + "b.png", b"\x89PNG", (("Content-Type", "image/png"),)),
    ],
}


@pytest.mark.parametrize("name", PACKS)
@pytest.mark.parametrize("case", CRAWLS)
def test_deduplicated_crawl_gives_what_the_whole_crawl_gives(case: str, name: str, tmp_path: Path) -> None:
    whole = items(file(tmp_path / "whole" / name, PACKS[name](*crawl(CRAWLS[case], deduplicated=False))))
    saved = items(file(tmp_path / "saved" / name, PACKS[name](*crawl(CRAWLS[case], deduplicated=True))))
    assert facts(saved) == facts(whole)
    assert skipped(saved) == skipped(whole)


VISITS = st.lists(
    st.builds(Visit, st.sampled_from([HOST + c for c in "abc"]), st.sampled_from([page(c) for c in "xyz"]))
)


@settings(deadline=None, max_examples=50)
@given(VISITS, st.randoms(use_true_random=False), st.integers(1, 3))
def test_newest_capture_does_not_depend_on_deduplication_order_or_archive(
    tmp_path_factory: pytest.TempPathFactory, visits: list[Visit], chance: Random, archives: int
) -> None:
    folder = tmp_path_factory.mktemp("crawl")
    whole = items(file(folder / "whole.warc.gz", gz(*crawl(visits, deduplicated=False))))
    records = crawl(visits, deduplicated=True)
    chance.shuffle(records)
    parts = [file(folder / f"{k}.warc.gz", gz(*records[k::archives])) for k in range(archives)]
    assert newest(items(*parts)) == newest(whole)


def test_every_capture_is_counted_be_it_a_revisit_or_not(tmp_path: Path) -> None:
    visits = [Visit(HOST, page("a"))] * 4
    stores = [
        build(
            [file(tmp_path / str(kind) / "a.warc.gz", gz(*crawl(visits, kind)))], tmp_path / f"{kind}.kin", processes=1
        )
        for kind in (False, True)
    ]
    assert [built.store.manifest.skipped for built in stores] == [{"older capture": 3}] * 2


def test_record_may_stand_after_its_revisit(tmp_path: Path) -> None:
    found = items(file(tmp_path / "a.warc.gz", gz(revisit(HOST + "copy", page("a")), response(HOST, page("a")))))
    assert facts(found) == [
        (HOST, DAY_SECONDS, page("a"), "utf-8", "", PageFlags.NONE),
        (HOST + "copy", NEXT_DAY_SECONDS, page("a"), "utf-8", "", PageFlags.NONE),
    ]


def test_record_may_stand_in_another_archive(tmp_path: Path) -> None:
    first = file(tmp_path / "1.warc.gz", gz(revisit(HOST + "one", page("b")), response(HOST, page("a"))))
    second = file(tmp_path / "2.warc.gz", gz(revisit(HOST + "two", page("a")), response(HOST + "b", page("b"))))
    for order in permutations([first, second]):
        found = items(*order)
        assert dict(kept(found)) == {
            HOST: page("a"),
            HOST + "b": page("b"),
            HOST + "one": page("b"),
            HOST + "two": page("a"),
        }


def test_capture_of_a_revisit_comes_from_the_archive_of_the_revisit(tmp_path: Path) -> None:
    first = file(tmp_path / "1.warc.gz", gz(response(HOST, page("a"))))
    second = file(tmp_path / "2.warc.gz", gz(revisit(HOST + "two", page("a"))))
    origins = {
        item.url: (item.origin.source, item.borrowed) for item in items(first, second) if isinstance(item, Capture)
    }
    assert origins == {HOST: ("1.warc.gz", False), HOST + "two": ("2.warc.gz", True)}


@pytest.mark.parametrize("name", PACKS)
def test_revisit_without_its_record_is_counted(name: str, tmp_path: Path) -> None:
    found = items(file(tmp_path / name, PACKS[name](response(HOST, page("a")), revisit(HOST + "lost", page("b")))))
    assert kept(found) == [(HOST, page("a"))]
    assert skipped(found) == {REVISIT_WITHOUT_RECORD: 1}


@pytest.mark.parametrize("name", PACKS)
def test_revisit_that_names_no_body_does_not_take_that_of_a_stranger(name: str, tmp_path: Path) -> None:
    """An answer "304 Not Modified" has no body, and many records name no digest of theirs."""
    said = (("Content-Type", "application/http; msgtype=response"), ("WARC-Profile", NOT_MODIFIED))
    again = record("revisit", HOST + "lost", http(b"", status="304 Not Modified"), *said)
    found = items(file(tmp_path / name, PACKS[name](resource(HOST, page("a")), again)))
    assert kept(found) == [(HOST, page("a"))]
    assert sum(skipped(found).values()) == 1


@pytest.mark.parametrize(
    "reference",
    [
        [("WARC-Refers-To", record_id(HOST, DAY))],
        [("WARC-Refers-To-Target-URI", HOST), ("WARC-Refers-To-Date", DAY)],
    ],
    ids=["by its id", "by its URL and time"],
)
def test_answer_that_nothing_changed_stands_for_the_record_that_it_names(
    reference: list[Header], tmp_path: Path
) -> None:
    said = (("Content-Type", "application/http; msgtype=response"), ("WARC-Profile", NOT_MODIFIED), *reference)
    again = record("revisit", HOST, http(b"", status="304 Not Modified"), *said, date=NEXT_DAY)
    found = items(file(tmp_path / "a.warc.gz", gz(response(HOST, page("a")), again, response(HOST + "b", page("b")))))
    assert newest(found)[HOST][:3] == (HOST, NEXT_DAY_SECONDS, page("a"))


def test_revisit_of_a_damaged_record_is_counted(tmp_path: Path) -> None:
    member = bytearray(gz(response(HOST, page("a"))))
    member[len(member) // 2] ^= 0xFF
    data = bytes(member) + gz(revisit(HOST + "copy", page("a")), response(HOST + "b", page("b")))
    found = items(file(tmp_path / "a.warc.gz", data))
    assert kept(found) == [(HOST + "b", page("b"))]
    assert skipped(found) == {"damaged compression": 1, REVISIT_WITHOUT_RECORD: 1}


def test_revisit_without_headers_of_its_own_has_those_of_its_record(tmp_path: Path) -> None:
    first = response(HOST, page("a"), ("Content-Type", "text/html; charset=koi8-r"), ("X-Robots-Tag", "nofollow"))
    again = record("revisit", HOST + "copy", b"", ("WARC-Payload-Digest", digest(page("a"))), date=NEXT_DAY)
    found = items(file(tmp_path / "a.warc.gz", gz(first, again)))
    assert facts(found)[1] == (HOST + "copy", NEXT_DAY_SECONDS, page("a"), "koi8-r", "", PageFlags.NOFOLLOW)


def test_revisit_of_a_redirect_is_no_page(tmp_path: Path) -> None:
    again = revisit(HOST + "old", b"", ("Location", "/new"), status="301 Moved")
    found = items(file(tmp_path / "a.warc.gz", gz(response(HOST + "empty", b""), again)))
    assert [url for url, _ in kept(found)] == [HOST + "empty"]
    assert redirects(found) == [(HOST + "old", HOST + "new")]


# --- over several builds -------------------------------------------------------------------------


def texts(store: Store) -> dict[str, str]:
    return {url: store.text(row) for row, url in enumerate(store.reading.pages.url)}


def test_revisit_finds_its_record_when_the_archive_comes_later(tmp_path: Path) -> None:
    later = file(tmp_path / "2.warc.gz", gz(response(HOST + "b", page("b")), revisit(HOST + "copy", page("a"))))
    first = build([later], tmp_path / "a.kin", processes=1).store
    assert texts(first) == {HOST + "b": "b"}
    assert first.manifest.skipped == {REVISIT_WITHOUT_RECORD: 1}
    earlier = file(tmp_path / "1.warc.gz", gz(response(HOST + "a", page("a"))))
    second = build([earlier, later], tmp_path / "a.kin", processes=1).store
    assert texts(second) == {HOST + "a": "a", HOST + "b": "b", HOST + "copy": "a"}
    assert second.manifest.skipped == {}


def test_revisit_loses_its_record_when_the_archive_goes(tmp_path: Path) -> None:
    earlier = file(tmp_path / "1.warc.gz", gz(response(HOST + "a", page("a"))))
    later = file(tmp_path / "2.warc.gz", gz(response(HOST + "b", page("b")), revisit(HOST + "copy", page("a"))))
    assert len(build([earlier, later], tmp_path / "a.kin", processes=1).store) == 3
    again = build([later], tmp_path / "a.kin", processes=1, allow_shrink=True).store
    assert texts(again) == {HOST + "b": "b"}
    assert again.manifest.skipped == {REVISIT_WITHOUT_RECORD: 1}
