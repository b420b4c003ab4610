"""What a crawler brought home from the village: pages at several times, redirects, a missing page, an image."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from zlib import compress, crc32

from pagekin.village.assemble import hosts
from pagekin.village.edits import edited, read_edits
from pagekin.village.render import content_type, render
from pagekin.village.sections import Line, Place, read_sections
from pagekin.village.text import Host, Page, read_date

_RECAPTURES, _ANSWERS = "recaptures.txt", "answers.tsv"
_IMAGE = "http://oldweb.example/img/compass.png"


@dataclass(frozen=True)
class VillageCapture:
    """What one URL answered at one moment; the body is free of any transfer or content encoding."""

    url: str
    captured: datetime
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header, or nothing.

        >>> _image().header("content-type")
        'image/png'
        """
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")

    @property
    def reason(self) -> str:
        """The words after the status."""
        return HTTPStatus(self.status).phrase


@cache
def captures() -> tuple[VillageCapture, ...]:
    """All captures in the order in which they were made."""
    found = [*_pages(), *_recaptures(), *_answers(), _image()]
    return tuple(sorted(found, key=lambda capture: (capture.captured, capture.url)))


def newest() -> tuple[VillageCapture, ...]:
    """The last capture of every URL, by URL."""
    last = {capture.url: capture for capture in captures()}
    return tuple(last[url] for url in sorted(last))


def _pages() -> Iterator[VillageCapture]:
    for host in hosts():
        yield from (_page(host, page, page.date) for page in host.pages)


def _page(host: Host, page: Page, day: date) -> VillageCapture:
    headers = (("Content-Type", content_type(host, page)),)
    return VillageCapture(page.url, _moment(day, page.url), 200, headers, render(host, page))


def _recaptures() -> Iterator[VillageCapture]:
    """Other captures of some pages: older ones with other words, and one that found nothing new."""
    known = {page.url: (host, page) for host in hosts() for page in host.pages}
    for section in read_sections(_RECAPTURES, _read(_RECAPTURES), (), ("date",))[1]:
        if section.name not in known:
            raise section.place.error(f"there is no page {section.name}")
        host, page = known[section.name]
        blocks = edited(page.blocks, read_edits(section.body))
        yield _page(host, replace(page, blocks=blocks), read_date(section.facts.one("date")))


def _answers() -> Iterator[VillageCapture]:
    """The answers that are no pages: url, status, date and, for a redirect, the place where to look instead."""
    for number, row in enumerate(_read(_ANSWERS).splitlines(), 1):
        place = Place(_ANSWERS, number)
        cells = row.split("\t")
        if len(cells) != 4 or not cells[1].isdigit():
            raise place.error("a row has four cells: url, status, date, location")
        url, status, day, location = cells
        headers = [("Content-Type", "text/html"), *([("Location", location)] if location else [])]
        body = _notice(HTTPStatus(int(status)), location)
        yield VillageCapture(url, _moment(read_date(Line(day, place)), url), int(status), tuple(headers), body)


def _notice(status: HTTPStatus, location: str) -> bytes:
    title = f"{status.value} {status.phrase}"
    words = f'The page is <a href="{location}">over there</a>.' if location else "No page of that name is kept here."
    return f"<html><head><title>{title}</title></head>\n<body><h1>{title}</h1>\n<p>{words}</p></body></html>\n".encode()


def _image() -> VillageCapture:
    headers = (("Content-Type", "image/png"),)
    return VillageCapture(_IMAGE, _moment(date(2016, 2, 29), _IMAGE), 200, headers, _compass())


def _compass(size: int = 16) -> bytes:
    """A grey-scale PNG of a cross and two diagonals."""
    rows = [bytes([0, *(0 if _on_rose(x, y, size) else 255 for x in range(size))]) for y in range(size)]
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    # Level 0, so that the bytes are the same whatever zlib compresses them.
    chunks = [(b"IHDR", header), (b"IDAT", compress(b"".join(rows), 0)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _on_rose(x: int, y: int, size: int) -> bool:
    return size // 2 in (x, y) or x == y or x + y == size


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc32(name + data))


def _moment(day: date, url: str) -> datetime:
    """A time of that day, the same for a URL on every day."""
    return datetime.combine(day, time(), UTC) + timedelta(seconds=crc32(url.encode()) % 86_400)


def _read(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")
