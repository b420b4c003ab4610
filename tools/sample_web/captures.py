"""The captures of a crawl of the sample web: pages at several times, redirects, a missing page, an image."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from zlib import compress, crc32

from tools.sample_web.assemble import hosts
from tools.sample_web.edits import edited, read_edits
from tools.sample_web.render import content_type, render
from tools.sample_web.sections import Line, Place, read_sections
from tools.sample_web.text import Host, Page, read_date

_RECAPTURES, _RESPONSES = "recaptures.txt", "responses.tsv"
_IMAGE = "http://oldweb.example/img/compass.png"


@dataclass(frozen=True)
class SampleCapture:
    """The response of one URL at one time; the body has no transfer or content encoding."""

    url: str
    captured: datetime
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """Return the value of a header, or an empty string.

        >>> _image().header("content-type")
        'image/png'
        """
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @property
    def reason(self) -> str:
        """The reason phrase of the status."""
        return HTTPStatus(self.status).phrase


@cache
def captures() -> tuple[SampleCapture, ...]:
    """Return all captures in order of time."""
    found = [*_pages(), *_recaptures(), *_responses(), _image()]
    return tuple(sorted(found, key=lambda capture: (capture.captured, capture.url)))


def newest() -> tuple[SampleCapture, ...]:
    """Return the last capture of every URL, sorted by URL."""
    last = {capture.url: capture for capture in captures()}
    return tuple(last[url] for url in sorted(last))


def _pages() -> Iterator[SampleCapture]:
    for host in hosts():
        yield from (_page(host, page, page.date) for page in host.pages)


def _page(host: Host, page: Page, day: date) -> SampleCapture:
    headers = (("Content-Type", content_type(host, page)),)
    return SampleCapture(page.url, _moment(day, page.url), 200, headers, render(host, page))


def _recaptures() -> Iterator[SampleCapture]:
    """Yield other captures of some pages: older ones with different text, and one that is unchanged."""
    known = {page.url: (host, page) for host in hosts() for page in host.pages}
    for section in read_sections(_RECAPTURES, _read(_RECAPTURES), (), ("date",))[1]:
        if section.name not in known:
            raise section.place.error(f"there is no page {section.name}")
        host, page = known[section.name]
        blocks = edited(page.blocks, read_edits(section.body))
        yield _page(host, replace(page, blocks=blocks), read_date(section.facts.one("date")))


def _responses() -> Iterator[SampleCapture]:
    """Yield the responses without a page. A row has url, status, date and, for a redirect, the location."""
    for number, row in enumerate(_read(_RESPONSES).splitlines(), 1):
        place = Place(_RESPONSES, number)
        cells = row.split("\t")
        if len(cells) != 4 or not cells[1].isdigit():
            raise place.error("a row has four cells: url, status, date, location")
        url, status, day, location = cells
        headers = [("Content-Type", "text/html"), *([("Location", location)] if location else [])]
        body = _notice(HTTPStatus(int(status)), location)
        yield SampleCapture(url, _moment(read_date(Line(day, place)), url), int(status), tuple(headers), body)


def _notice(status: HTTPStatus, location: str) -> bytes:
    title = f"{status.value} {status.phrase}"
    words = f'The page is <a href="{location}">over there</a>.' if location else "No page of that name is kept here."
    return f"<html><head><title>{title}</title></head>\n<body><h1>{title}</h1>\n<p>{words}</p></body></html>\n".encode()


def _image() -> SampleCapture:
    headers = (("Content-Type", "image/png"),)
    return SampleCapture(_IMAGE, _moment(date(2016, 2, 29), _IMAGE), 200, headers, _compass())


def _compass(size: int = 16) -> bytes:
    """A grey-scale PNG of a cross and two diagonals."""
    rows = [bytes([0, *(0 if _on_rose(x, y, size) else 255 for x in range(size))]) for y in range(size)]
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    # Level 0: the bytes do not depend on the version of zlib.
    chunks = [(b"IHDR", header), (b"IDAT", compress(b"".join(rows), 0)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _on_rose(x: int, y: int, size: int) -> bool:
    return size // 2 in (x, y) or x == y or x + y == size


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc32(name + data))


def _moment(day: date, url: str) -> datetime:
    """Return a time on that day; the time of day depends only on the URL."""
    return datetime.combine(day, time(), UTC) + timedelta(seconds=crc32(url.encode()) % 86_400)


def _read(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")
