"""The text of a page: blocks (paragraphs, lists, tables) of inline pieces (words, links, images)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tools.sample_web.sections import Line, Place, paragraphs

Kind = Literal["paragraph", "heading", "list", "table", "quote", "include"]

_MARKS: dict[str, Kind] = {"## ": "heading", "- ": "list", "| ": "table", "> ": "quote", "<<< ": "include"}
_IMAGE = r"!\[(?P<{0}alt>[^\[\]]*)\]\((?P<{0}src>[^()\s]+)\)"
_PIECE = re.compile(
    r"\[(?:" + _IMAGE.format("linked_") + r"|(?P<words>[^\[\]*]+))\]\((?P<href>[^()\s]+)\)"
    r"|" + _IMAGE.format("") + r"|\*(?P<emphasis>[^*\n]+)\*|(?P<break>\\\n)"
)
_FORBIDDEN = re.compile(r"[\[\]*`\\]|<[a-zA-Z/!]|^(?:#|={3}|[ \t])", re.MULTILINE)


@dataclass(frozen=True)
class Words:
    """Running text."""

    text: str


@dataclass(frozen=True)
class Emphasis:
    """Emphasised text."""

    text: str


@dataclass(frozen=True)
class Image:
    """An image with its alternative text."""

    alt: str
    src: str


@dataclass(frozen=True)
class Link:
    """A link around words or an image."""

    inside: Words | Image
    href: str


@dataclass(frozen=True)
class Break:
    """A hard line break."""


Piece = Words | Emphasis | Image | Link | Break
Cell = tuple[Piece, ...]


@dataclass(frozen=True)
class Block:
    """Rows of cells: a list has one cell per row, a table several; every other block is one cell.

    `source` is the text of the block; the edits of a copy apply to it.
    """

    kind: Kind
    rows: tuple[tuple[Cell, ...], ...]
    source: str


def read_blocks(lines: Sequence[Line]) -> tuple[Block, ...]:
    """Read the blocks of a page's text.

    >>> lines = [Line("See [the oak](/oak.html).", Place("trees.txt", 1))]
    >>> read_blocks(lines)[0].rows[0][0]
    (Words(text='See '), Link(inside=Words(text='the oak'), href='/oak.html'), Words(text='.'))
    """
    return tuple(_block(run) for run in paragraphs(lines))


def reread(source: str, place: Place) -> Block:
    """Read the block of an edited text."""
    return _block([Line(row, place) for row in source.splitlines()])


def _block(run: list[Line]) -> Block:
    mark = _mark(run[0])
    kind = _MARKS.get(mark, "paragraph")
    for line in run:
        if _mark(line) != mark:
            raise line.place.error(f"this line is not part of a {kind}; put an empty line before it")
    if kind in ("heading", "include") and len(run) > 1:
        raise run[1].place.error(f"a {kind} has one line; put an empty line after it")
    source = "\n".join(line.text for line in run)
    return Block(kind, tuple(_rows(kind, run, len(mark))), source)


def _mark(line: Line) -> str:
    return next((mark for mark in _MARKS if line.text.startswith(mark)), "")


def _rows(kind: Kind, run: list[Line], skip: int) -> Iterator[tuple[Cell, ...]]:
    if kind == "table":
        yield from _table(run)
    elif kind == "list":
        yield from ((_cell(line.text[skip:], line.place),) for line in run)
    elif kind != "include":
        yield (_cell("\n".join(line.text[skip:] for line in run), run[0].place),)


def _table(run: list[Line]) -> Iterator[tuple[Cell, ...]]:
    width = run[0].text.count("|")
    for line in run:
        if not line.text.endswith("|") or line.text.count("|") != width:
            raise line.place.error("the rows of a table end in | and have the same number of cells")
        yield tuple(_cell(text.strip(), line.place) for text in line.text[1:-1].split("|"))


def _cell(text: str, place: Place) -> Cell:
    return tuple(_pieces(text, place))


def _pieces(text: str, place: Place) -> Iterator[Piece]:
    end = 0
    for found in _PIECE.finditer(text):
        yield from _words(text, end, found.start(), place)
        yield _piece(found)
        end = found.end()
    yield from _words(text, end, len(text), place)


def _words(text: str, start: int, end: int, place: Place) -> Iterator[Words]:
    wrong = _FORBIDDEN.search(text, start, end)
    if wrong:
        line = place.line + text.count("\n", 0, wrong.start())
        raise Place(place.file, line).error(f"unexpected {wrong[0]!r} in the text")
    if start < end:
        yield Words(text[start:end])


def _piece(found: re.Match[str]) -> Piece:
    if found["href"] and found["words"]:
        return Link(Words(found["words"]), found["href"])
    if found["href"]:
        return Link(Image(found["linked_alt"], found["linked_src"]), found["href"])
    if found["src"]:
        return Image(found["alt"], found["src"])
    return Emphasis(found["emphasis"]) if found["emphasis"] else Break()
