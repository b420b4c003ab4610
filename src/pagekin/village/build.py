"""Writes the village as a folder, a WARC or a WACZ, and beside it `labels.tsv`: the same bytes every time."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pagekin.village.assemble import labels, pages
from pagekin.village.captures import VillageCapture, captures, newest
from pagekin.village.wacz import package
from pagekin.village.warc import archive


def write_folder(target: Path) -> Path:
    """The newest capture of every URL as `wget -r` lays them out, one folder a host.

    An answer that is no page leaves no file, except that a redirect becomes a page that refreshes at once. The time
    of a file is that of its capture.
    """
    for capture in newest():
        body = _refresh(capture) if capture.header("Location") else capture.body
        if capture.status < 400:
            file = target / file_of(capture.url)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
            os.utime(file, (capture.captured.timestamp(),) * 2)
    write_labels(target.parent)
    return target


def write_warc(target: Path) -> Path:
    """All captures as one .warc.gz."""
    return _write(target, archive(captures())[0])


def write_wacz(target: Path) -> Path:
    """All captures as one .wacz."""
    titles = {page.url: page.title for page in pages()}
    shown = {capture.url: (titles[capture.url], capture) for capture in newest() if capture.url in titles}
    return _write(target, package(*archive(captures()), shown))


def write_labels(folder: Path) -> Path:
    """The hierarchy as `labels.tsv`: a url, a tab and Top/Middle/Leaf a line."""
    file = folder / "labels.tsv"
    file.write_bytes("".join(f"{url}\t{label}\n" for url, label in labels()).encode())
    return file


def file_of(url: str) -> Path:
    """The file that holds a URL, below the target folder.

    >>> file_of("http://oldweb.example/A%2528b%2529.htm").as_posix()
    'oldweb.example/A%28b%29.htm'
    """
    parts = urlsplit(url)
    path = unquote(parts.path)
    return Path(parts.netloc, (path + "index.html" if path.endswith("/") else path).lstrip("/"))


def _write(target: Path, data: bytes) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    write_labels(target.parent)
    return target


def _refresh(capture: VillageCapture) -> bytes:
    location = escape(capture.header("Location"))
    return f'<html><head><meta http-equiv="refresh" content="0; url={location}"></head></html>\n'.encode()
