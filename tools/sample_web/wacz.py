"""Packs an archive as WACZ 1.1.1: a zip of the WARC, its index, its list of pages and their hashes.

The format: https://specs.webrecorder.net/wacz/1.1.1/
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from urllib.parse import urlsplit

from tools.sample_web.captures import SampleCapture
from tools.sample_web.warc import Entry, timestamp

_WARC = "archive/data.warc.gz"
_MAIN = "http://villagelibrary.example/"


def package(warc: bytes, entries: Iterable[Entry], pages: Mapping[str, tuple[str, SampleCapture]]) -> bytes:
    """Return the WACZ of an archive; `pages` maps the URL of every page to its title and newest capture."""
    files = {
        _WARC: warc,
        "indexes/index.cdxj": _index(entries),
        "pages/pages.jsonl": _page_list(pages),
    }
    manifest = _manifest(files, pages[_MAIN][1])
    files["datapackage.json"] = manifest
    files["datapackage-digest.json"] = _json({"path": "datapackage.json", "hash": _hash(manifest)})
    return _zip(files)


def search_key(url: str) -> str:
    """Return the sort key of a URL in an index: the host from right to left, then the path.

    >>> search_key("http://birdnotes.example/robin.html")
    'example,birdnotes)/robin.html'
    """
    parts = urlsplit(url.lower())
    return ",".join(reversed(parts.netloc.split("."))) + ")" + parts.path


def _index(entries: Iterable[Entry]) -> bytes:
    return "".join(
        sorted(_index_line(entry, entry.record.capture) for entry in entries if entry.record.capture)
    ).encode()


def _index_line(entry: Entry, capture: SampleCapture) -> str:
    fields = {
        "url": capture.url,
        "digest": entry.record.digest,
        "mime": "warc/revisit" if entry.record.kind == "revisit" else capture.header("Content-Type").partition(";")[0],
        "status": str(capture.status),
        "offset": str(entry.offset),
        "length": str(entry.length),
        "filename": _WARC.rpartition("/")[2],
    }
    return f"{search_key(capture.url)} {capture.captured:%Y%m%d%H%M%S} {json.dumps(fields)}\n"


def _page_list(pages: Mapping[str, tuple[str, SampleCapture]]) -> bytes:
    head = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
    rows = [
        {"id": sha256(url.encode()).hexdigest()[:10], "url": url, "ts": timestamp(capture.captured), "title": title}
        for url, (title, capture) in sorted(pages.items())
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [head, *rows]).encode()


def _manifest(files: Mapping[str, bytes], main: SampleCapture) -> bytes:
    resources = [
        {"name": path.rpartition("/")[2], "path": path, "hash": _hash(data), "bytes": len(data)}
        for path, data in files.items()
    ]
    return _json(
        {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "title": "The sample web",
            "description": "A small web for demos and tests.",
            "software": "pagekin",
            "created": "2024-12-31T00:00:00Z",
            "mainPageUrl": main.url,
            "mainPageDate": timestamp(main.captured),
            "resources": resources,
        }
    )


def _hash(data: bytes) -> str:
    return "sha256:" + sha256(data).hexdigest()


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def _zip(files: Mapping[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for path, data in files.items():
            info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o644 << 16
            # An archive is compressed already; stored as it is, its records can be read at their offsets.
            info.compress_type = zipfile.ZIP_STORED if path.endswith(".gz") else zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return target.getvalue()
