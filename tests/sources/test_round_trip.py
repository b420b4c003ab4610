"""From sources to a store: what was written can be read there, whichever kind of source it was written to."""

from __future__ import annotations

import gzip
import json
import os
from itertools import permutations
from pathlib import Path

import pytest

from pagekin.model.capture import PageFlags, ReadingSettings
from pagekin.pipeline import build
from pagekin.store.manifest import damaged_files
from pagekin.store.store import Store
from sources.walk import file, json_lines
from sources.warcs import DAY, DAY_SECONDS, HTML, NEXT_DAY, gz, page, resource, response
from sources.zips import wacz
from tools.sample_web import write_folder, write_wacz

HOST = "http://a.example/"
BODY = (
    '<html lang="de"><title>Über Verwandte</title><meta name="robots" content="nofollow">'
    '<h1>Große Äpfel</h1><p>und <a href="../b">kleine</a> Birnen'
)


def store_of(
    target: Path, *sources: Path, bases: tuple[str, ...] = (), settings: ReadingSettings | None = None
) -> Store:
    store = build(sources, target / "built.kin", base_urls=bases, settings=settings, processes=1).store
    assert damaged_files(store.root, store.manifest) == []
    return store


def write(kind: str, folder: Path) -> Path:
    """The same page at the same URL and time, in a source of this kind."""
    url, body = HOST + "x/a.html", BODY.encode()
    row = {"url": url, "html": BODY, "captured": DAY_SECONDS}
    if kind in ("folder", "single page"):
        path = file(folder / "site/x/a.html", body)
        os.utime(path, (DAY_SECONDS, DAY_SECONDS))
        return path if kind == "single page" else folder / "site"
    if kind == "JSON lines":
        return json_lines(folder / "a.jsonl", row)
    if kind == "gzipped JSON lines":
        return file(folder / "a.jsonl.gz", gzip.compress(json.dumps(row).encode()))
    records = [resource(url, body)] if kind == "resource" else [response(url, body)]
    if kind == "WACZ":
        return file(folder / "a.wacz", wacz({"archive/a.warc.gz": gz(*records)}))
    return file(folder / "a.warc", b"".join(records)) if kind == "WARC" else file(folder / "a.warc.gz", gz(*records))


KINDS = ["folder", "single page", "JSON lines", "gzipped JSON lines", "WARC", "WARC.gz", "resource", "WACZ"]


@pytest.mark.parametrize("kind", KINDS)
def test_page_is_the_same_from_every_kind_of_source(kind: str, tmp_path: Path) -> None:
    bases = {"folder": (HOST,), "single page": (HOST + "x/",)}
    store = store_of(tmp_path, write(kind, tmp_path), bases=bases.get(kind, ()))
    pages = store.reading.pages
    assert (len(store), store.manifest.skipped) == (1, {})
    assert (pages.url[0], pages.title[0]) == (HOST + "x/a.html", "Über Verwandte")
    assert (pages.language[0], pages.charset[0]) == ("de", "utf-8")
    assert (int(pages.captured[0]), PageFlags(int(pages.flags[0]))) == (DAY_SECONDS, PageFlags.NOFOLLOW)
    assert int(pages.html_bytes[0]) == len(BODY.encode())
    assert store.text(0) == "Große Äpfel\nund kleine Birnen"
    assert store.hrefs(0) == ["../b"]
    assert list(store.reading.targets) == [HOST + "b"]


@pytest.mark.parametrize("charset", ["koi8-r", "windows-1251", "utf-16", "utf-16le", "iso-8859-5"])
def test_charset_of_the_transport_is_believed(charset: str, tmp_path: Path) -> None:
    body = "<title>Родня</title><p>Страницы и ссылки".encode(charset)
    path = file(tmp_path / "a.warc", response(HOST, body, ("Content-Type", f"text/html; charset={charset}")))
    store = store_of(tmp_path, path)
    assert (store.reading.pages.title[0], store.text(0)) == ("Родня", "Страницы и ссылки")


def test_language_of_the_transport_is_taken_where_the_page_names_none(tmp_path: Path) -> None:
    data = response(HOST, page(), HTML, ("Content-Language", "PT_br, en"))
    data += response(HOST + "b", b"<html lang=de><p>a", HTML, ("Content-Language", "pt"))
    store = store_of(tmp_path, file(tmp_path / "a.warc", data))
    assert list(store.reading.pages.language) == ["pt-br", "de"]


# --- which capture counts ------------------------------------------------------------------------


def test_newest_capture_wins_whatever_the_order_and_kind_of_sources(tmp_path: Path) -> None:
    days = {"older": DAY, "old": NEXT_DAY, "newest": "2024-05-03T12:00:00Z"}
    for k, order in enumerate(permutations(["old", "older", "newest"])):
        folder = tmp_path / str(k)
        paths = [
            file(folder / "a.warc.gz", gz(response(HOST, page(order[0]), date=days[order[0]]))),
            file(folder / "b.wacz", wacz({"archive/b.warc": response(HOST, page(order[1]), date=days[order[1]])})),
            json_lines(folder / "c.jsonl", {"url": HOST, "text": order[2], "captured": days[order[2]]}),
        ]
        store = store_of(folder, *paths)
        assert (store.text(0), len(store)) == ("newest", 1)
        assert store.manifest.skipped == {"older capture": 2}


def test_newest_capture_of_one_archive_wins(tmp_path: Path) -> None:
    for k, dates in enumerate(permutations([DAY, NEXT_DAY, "2024-05-03T12:00:00Z"])):
        data = gz(*(response(HOST, page(date), date=date) for date in dates))
        store = store_of(tmp_path / str(k), file(tmp_path / str(k) / "a.warc.gz", data))
        assert store.reading.pages.title[0] == "2024-05-03T12:00:00Z"
        assert store.manifest.skipped == {"older capture": 2}


def test_page_gives_way_to_a_newer_redirect_and_not_to_an_older(tmp_path: Path) -> None:
    for name, date, kept in (("newer", NEXT_DAY, [HOST + "new"]), ("older", "2024-04-01T12:00:00Z", None)):
        data = gz(
            response(HOST + "old", page("old")),
            response(HOST + "old", b"", ("Location", "/new"), date=date, status="301 Moved"),
            response(HOST + "new", page("new")),
        )
        store = store_of(tmp_path / name, file(tmp_path / name / "a.warc.gz", data))
        assert list(store.reading.pages.url) == (kept or [HOST + "new", HOST + "old"])
        assert store.find(HOST + "old") == (0 if kept else 1)


def test_page_that_changes_is_read_again_and_the_others_are_not(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    for name in ("changes", "goes", "stays"):
        file(folder / f"{name}.html", page(name))
    build([folder], tmp_path / "built.kin", processes=1)
    file(folder / "changes.html", page("changed by now"))
    (folder / "goes.html").unlink()
    again = build([folder], tmp_path / "built.kin", processes=1)
    assert (again.read, again.reused) == (1, 1)
    assert [again.store.text(row) for row in range(len(again.store))] == ["changed by now", "stays"]


# --- what pages ask of robots --------------------------------------------------------------------


def robots(tmp_path: Path, settings: ReadingSettings) -> Store:
    link = b'<p>a link <a href="/target">to the target</a>'
    data = gz(
        response(HOST + "header", link, HTML, ("X-Robots-Tag", "noindex")),
        response(HOST + "meta", b"<meta name=ROBOTS content='NOINDEX, follow'>" + link),
        response(HOST + "header-nofollow", link, HTML, ("X-Robots-Tag", "nofollow")),
        response(HOST + "meta-nofollow", b"<meta name=robots content=nofollow>" + link),
        response(HOST + "rel", b'<p>a link <a rel="nofollow" href="/target">to the target</a>'),
        response(HOST + "target", page()),
        response(HOST + "willing", link),
    )
    return store_of(tmp_path, file(tmp_path / "a.warc.gz", data), settings=settings)


def test_wishes_are_known_and_by_default_not_obeyed(tmp_path: Path) -> None:
    store = robots(tmp_path, ReadingSettings())
    flags = {url: int(flag) for url, flag in zip(store.reading.pages.url, store.reading.pages.flags, strict=True)}
    assert flags == {
        HOST + "header": 1,
        HOST + "meta": 1,
        HOST + "header-nofollow": 2,
        HOST + "meta-nofollow": 2,
        HOST + "rel": 0,
        HOST + "target": 0,
        HOST + "willing": 0,
    }
    assert store.manifest.skipped == {}
    assert store.manifest.counts["links"] == 6


def test_noindex_can_be_obeyed(tmp_path: Path) -> None:
    store = robots(tmp_path, ReadingSettings(obey_noindex=True))
    assert len(store) == 5
    assert store.manifest.skipped == {"noindex": 2}
    assert not {HOST + "header", HOST + "meta"} & set(store.reading.pages.url)


def test_nofollow_can_be_obeyed(tmp_path: Path) -> None:
    store = robots(tmp_path, ReadingSettings(obey_nofollow=True))
    assert len(store) == 7
    assert store.manifest.counts["links"] == 3  # of `header`, `meta` and `willing`


def test_older_capture_does_not_take_the_place_of_one_that_may_not_be_indexed(tmp_path: Path) -> None:
    noindex = response(HOST, page(), HTML, ("X-Robots-Tag", "noindex"), date=NEXT_DAY)
    path = file(tmp_path / "a.warc.gz", gz(response(HOST, page()), noindex, response(HOST + "b", page())))
    store = store_of(tmp_path, path, settings=ReadingSettings(obey_noindex=True))
    assert list(store.reading.pages.url) == [HOST + "b"]


# --- the sample web ------------------------------------------------------------------------------


def facts(store: Store) -> list[tuple[object, ...]]:
    pages = store.reading.pages
    return [
        (pages.url[k], pages.title[k], pages.language[k], pages.charset[k], int(pages.captured[k]), store.text(k))
        for k in range(len(store))
    ]


def test_the_sample_web_is_the_same_as_warc_and_as_wacz(sample_index: Path, tmp_path: Path) -> None:
    warc = Store.open(sample_index)
    package = store_of(tmp_path / "2", write_wacz(tmp_path / "sample_web.wacz"))
    assert len(warc) > 100
    assert facts(warc) == facts(package)
    assert warc.manifest.skipped == package.manifest.skipped
    assert warc.manifest.counts == package.manifest.counts


def test_the_sample_web_is_the_same_as_folder_and_as_warc(sample_index: Path, tmp_path: Path) -> None:
    """But for what a folder cannot tell: charsets of the transport, and that `index.html` has another name."""
    warc = Store.open(sample_index)
    folder = store_of(tmp_path / "2", write_folder(tmp_path / "web"), bases=("http://",))

    def shown(store: Store) -> dict[str, tuple[str, int]]:
        pages = store.reading.pages
        return {
            pages.url[k].removesuffix("index.html"): (pages.digest[k].tobytes().hex(), int(pages.captured[k]))
            for k in range(len(store))
        }

    # A ring of redirects leaves no page; as files that refresh, its links are pages, if empty ones.
    ring = {"http://oldweb.example/ring/next.html", "http://oldweb.example/ring/random.html"}
    assert {url: fact for url, fact in shown(folder).items() if url not in ring} == shown(warc)
