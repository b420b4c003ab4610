"""Small collections for tests: pages as JSON lines or in an archive, and what a store made of them."""

from __future__ import annotations

import gzip
import json
import warnings
from base64 import b32encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha1
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from pagekin.pipeline import Built, build
from pagekin.store.manifest import damaged_files
from pagekin.store.store import Store

with warnings.catch_warnings():  # fastwarc 1.1 warns of its own legacy classes while it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    import fastwarc.warc  # noqa: F401

Row = dict[str, Any]


def page(url: str, html: str, captured: int = 0, **facts: Any) -> Row:
    """A page as a row of JSON lines."""
    return {"url": url, "html": html, "captured": captured, **facts}


def refresh(target: str) -> str:
    """The HTML of a page that only sends its visitors on."""
    return f'<meta http-equiv="refresh" content="0; url={target}">'


def canonical(target: str, text: str) -> str:
    """The HTML of a page that says it is a copy of another."""
    return f'<link rel="canonical" href="{target}"><p>{text}'


def write_jsonl(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@dataclass(frozen=True)
class Record:
    """One record of an archive; a `location` makes it a redirect, `again` a revisit."""

    url: str
    date: str
    body: str = ""
    location: str = ""
    robots: str = ""
    again: bool = False


def write_warc(path: Path, records: Sequence[Record]) -> Path:
    """An archive, one gzip member a record if its name ends so."""
    members = [_warc_record(record) for record in records]
    path.write_bytes(b"".join(gzip.compress(m, mtime=0) if path.suffix == ".gz" else m for m in members))
    return path


def _warc_record(record: Record) -> bytes:
    body = record.body.encode()
    digest = "sha1:" + b32encode(sha1(body).digest()).decode()
    http = ["HTTP/1.1 " + ("301 Moved Permanently" if record.location else "200 OK")]
    http += ["Content-Type: text/html; charset=utf-8", f"Content-Length: {len(body)}"]
    http += [f"Location: {record.location}"] if record.location else []
    http += [f"X-Robots-Tag: {record.robots}"] if record.robots else []
    block = _lines(http) + (b"" if record.again else body)
    headers = ["WARC/1.1", "WARC-Type: " + ("revisit" if record.again else "response")]
    headers += [f"WARC-Record-ID: <urn:uuid:{uuid5(NAMESPACE_URL, record.url + record.date)}>"]
    headers += [f"WARC-Target-URI: {record.url}", f"WARC-Date: {record.date}", f"WARC-Payload-Digest: {digest}"]
    headers += ["Content-Type: application/http; msgtype=response", f"Content-Length: {len(block)}"]
    return _lines(headers) + block + b"\r\n\r\n"


def _lines(lines: Sequence[str]) -> bytes:
    return "".join(line + "\r\n" for line in [*lines, ""]).encode()


def store_of(folder: Path, *rows: Row, **options: Any) -> Store:
    """The store that a build makes of these pages, below `folder`."""
    return built_of(folder, *rows, **options).store


def built_of(folder: Path, *rows: Row, **options: Any) -> Built:
    return build([write_jsonl(folder / "pages.jsonl", rows)], folder / "test.kin", processes=1, **options)


def generated(count: int, hosts: int = 7, start: int = 0) -> list[Row]:
    """Many small pages that link to each other; each has a word of its own."""
    rows = []
    for k in range(start, start + count):
        html = (
            f"<html lang=en><title>Page {letters(k)}</title><h1>{letters(k)}</h1>"
            f"<p>Every page says this. {letters(k)} is number {k} and {letters(k % 13)} comes back!"
            f'<p><a href="page{k // 2}.html">half {letters(k // 2)}</a> <a href="/nowhere{k % 5}.html">nowhere</a>'
        )
        rows.append(page(f"http://host{k % hosts}.example/page{k}.html", html, 1_600_000_000 + k))
    return rows


def letters(number: int) -> str:
    """A number as a word.

    >>> letters(0), letters(27)
    ('qa', 'qbb')
    """
    word = ""
    while number or not word:
        number, rest = divmod(number, 26)
        word = chr(ord("a") + rest) + word
    return "q" + word


def files_of(store: Store | Path) -> dict[str, bytes]:
    """Every file of a store's generation and of its index, by name."""
    opened = Store.open(store) if isinstance(store, Path) else store
    folders = [opened.folder, opened.root / opened.manifest.index_folder]
    return {
        f"{folder.name.partition('-')[0]}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def assert_same_store(one: Store | Path, other: Store | Path) -> None:
    """The files are equal byte for byte, and the manifests but for the number of the generation."""
    first = Store.open(one) if isinstance(one, Path) else one
    second = Store.open(other) if isinstance(other, Path) else other
    ours, theirs = files_of(first), files_of(second)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []
    assert _without_generations(first) == _without_generations(second)


def _without_generations(store: Store) -> dict[str, object]:
    index = store.manifest.index
    assert index is not None
    return {**vars(store.manifest), "generation": 0, "index": {**index, "generation": 0}}


def assert_sound(root: Path) -> Store:
    """The store opens, and every file is as it was written."""
    store = Store.open(root)
    assert damaged_files(root, store.manifest) == []
    folders = [store.folder, root / store.manifest.index_folder]
    there = {path.relative_to(root).as_posix() for folder in folders for path in folder.rglob("*") if path.is_file()}
    assert there == set(store.manifest.all_files())
    return store


def urls_of(store: Store) -> list[str]:
    return list(store.reading.pages.url)


def aliases_of(store: Store) -> dict[str, tuple[str, str]]:
    """Every alias: where it leads to, and of which kind it is."""
    query = "SELECT a.url, n.url AS page, a.kind FROM aliases a JOIN nodes n ON n.node = a.node ORDER BY a.url"
    return {row["url"]: (row["page"], row["kind"]) for row in store.catalog.rows(query)}


def reached(store: Store, url: str) -> list[str]:
    """Where the links of a page lead, through all aliases."""
    return [node["url"] for node in store.links_to(store.find(url), 1000)]
