"""Writes the sample web as a folder, a WARC or a WACZ, with `labels.tsv` beside it; the bytes are always the same."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tools.sample_web.assemble import labels, pages
from tools.sample_web.captures import SampleCapture, captures, newest
from tools.sample_web.wacz import package
from tools.sample_web.warc import archive


def write_folder(target: Path, hosts: Collection[str] = ()) -> Path:
    """Write the newest capture of every URL in the layout of `wget -r`, one folder per host; or only of some hosts.

    A redirect becomes a page with an immediate refresh; other responses without a page have no file. The modification
    time of a file is the time of its capture.
    """
    for capture in _of_hosts(newest(), hosts):
        body = _refresh(capture) if capture.header("Location") else capture.body
        if capture.status < 400:
            file = target / file_of(capture.url)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body)
            os.utime(file, (capture.captured.timestamp(),) * 2)
    write_labels(target.parent)
    return target


def write_warc(target: Path, hosts: Collection[str] = ()) -> Path:
    """Write all captures as one .warc.gz, or only those of some hosts."""
    return _write(target, archive(_of_hosts(captures(), hosts))[0])


def write_wacz(target: Path) -> Path:
    """Write all captures as one .wacz."""
    titles = {page.url: page.title for page in pages()}
    shown = {capture.url: (titles[capture.url], capture) for capture in newest() if capture.url in titles}
    return _write(target, package(*archive(captures()), shown))


def write_labels(folder: Path) -> Path:
    """Write the hierarchy as `labels.tsv`: URL, tab, Top/Middle/Leaf."""
    file = folder / "labels.tsv"
    file.write_bytes("".join(f"{url}\t{label}\n" for url, label in labels()).encode())
    return file


def file_of(url: str) -> Path:
    """Return the file of a URL, relative to the target folder.

    >>> file_of("http://oldweb.example/A%2528b%2529.htm").as_posix()
    'oldweb.example/A%28b%29.htm'
    """
    parts = urlsplit(url)
    path = unquote(parts.path)
    return Path(parts.netloc, (path + "index.html" if path.endswith("/") else path).lstrip("/"))


def _of_hosts(found: Iterable[SampleCapture], hosts: Collection[str]) -> list[SampleCapture]:
    return [capture for capture in found if not hosts or urlsplit(capture.url).netloc in hosts]


def _write(target: Path, data: bytes) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    write_labels(target.parent)
    return target


def _refresh(capture: SampleCapture) -> bytes:
    location = escape(capture.header("Location"))
    return f'<html><head><meta http-equiv="refresh" content="0; url={location}"></head></html>\n'.encode()
