"""Reads the source text of one host into a `Host` and its `Page`s (the format: hosts/README.md)."""

from __future__ import annotations

import codecs
import datetime
from collections import Counter
from dataclasses import dataclass
from typing import Literal, cast, get_args
from urllib.parse import urlsplit

from tools.sample_web.edits import Edit, read_edits
from tools.sample_web.prose import Block, read_blocks
from tools.sample_web.sections import Facts, Line, Place, Section, read_sections

StyleName = Literal["list", "table", "old", "xhtml", "html5", "raw"]
Declared = Literal["both", "header", "meta", "nowhere"]

_HOST_KEYS = ("name", "about", "nav", "style")
_PAGE_KEYS = ("title", "label", "lang", "charset", "declared", "date", "copy", "file")


@dataclass(frozen=True)
class Page:
    """One page: its text and metadata.

    A page has its own `blocks`, or is the `copy` of another page with some `edits`, or is a `file` of hand-written
    HTML under `raw/`. `declared` says where its `charset` is declared: in the HTTP header, in the HTML, in both, or
    nowhere.
    """

    url: str
    title: str
    date: datetime.date
    place: Place
    labels: tuple[str, ...] = ()
    lang: str = "en"
    charset: str = "utf-8"
    declared: Declared = "both"
    blocks: tuple[Block, ...] = ()
    copy: str = ""
    edits: tuple[Edit, ...] = ()
    file: str = ""

    @property
    def host(self) -> str:
        """The name of its host."""
        return urlsplit(self.url).netloc

    @property
    def path(self) -> str:
        """The path of its URL."""
        return urlsplit(self.url).path


@dataclass(frozen=True)
class Host:
    """One site: its name, its footer, its navigation bar as (path, words), its style and its pages."""

    name: str
    title: str
    about: str
    nav: tuple[tuple[str, str], ...]
    style: StyleName
    pages: tuple[Page, ...]


def read_host(file: str, text: str) -> Host:
    r"""Read a host from the text of its source file, which is named after it.

    >>> facts = "name: Owls\nabout: All of them.\nnav: / Home\nstyle: list\n"
    >>> read_host("owls.example.txt", facts + "\n=== /\ntitle: Owls\ndate: 2020-02-02\n").pages[0].url
    'http://owls.example/'
    """
    name = file.removesuffix(".txt")
    facts, sections = read_sections(file, text, _HOST_KEYS, _PAGE_KEYS)
    style = _choice(facts.one("style"), get_args(StyleName))
    pages = tuple(_page(name, section) for section in sections)
    _check_paths(facts, sections)
    return Host(
        name=name,
        title=facts.one("name").text,
        about=facts.one("about").text,
        nav=_nav(facts.one("nav", "" if style == "raw" else None)),
        style=cast(StyleName, style),
        pages=pages,
    )


def read_date(line: Line) -> datetime.date:
    try:
        return datetime.date.fromisoformat(line.text)
    except ValueError:
        raise line.place.error(f"{line.text!r} is not a date such as 2019-11-20") from None


def _page(host: str, section: Section) -> Page:
    if not section.name.startswith("/"):
        raise section.place.error(f"the path {section.name!r} must begin with a slash")
    facts, body = section.facts, section.body
    copy, file = facts.one("copy", "").text, facts.one("file", "").text
    if file and (copy or body):
        raise section.place.error("a page with file: has no copy: and no text")
    return Page(
        url=f"http://{host}{section.name}",
        title=facts.one("title", "" if copy else None).text,
        date=read_date(facts.one("date")),
        place=section.place,
        labels=tuple(_label(line) for line in facts.many("label")),
        lang=facts.one("lang", "en").text,
        charset=_charset(facts.one("charset", "utf-8")),
        declared=cast(Declared, _choice(facts.one("declared", "both"), get_args(Declared))),
        blocks=() if copy else read_blocks(body),
        copy=copy,
        edits=read_edits(body) if copy else (),
        file=file,
    )


def _check_paths(facts: Facts, sections: list[Section]) -> None:
    times = Counter(section.name for section in sections)
    for section in sections:
        if times[section.name] > 1:
            raise section.place.error(f"the page {section.name} is given twice")
    if "/" not in times:
        raise facts.place.error("the host has no page /")


def _nav(line: Line) -> tuple[tuple[str, str], ...]:
    entries = [entry.strip().partition(" ") for entry in line.text.split("|") if entry.strip()]
    for path, _, words in entries:
        if not path.startswith("/") or not words:
            raise line.place.error("an entry of the navigation bar is a path and words")
    return tuple((path, words) for path, _, words in entries)


def _label(line: Line) -> str:
    if len(line.text.split("/")) != 3 or not all(part.strip() for part in line.text.split("/")):
        raise line.place.error(f"the label {line.text!r} must have the form Top/Middle/Leaf")
    return line.text


def _charset(line: Line) -> str:
    try:
        codecs.lookup(line.text)
    except LookupError:
        raise line.place.error(f"{line.text!r} is not a known charset") from None
    return line.text


def _choice(line: Line, choices: tuple[str, ...]) -> str:
    if line.text not in choices:
        raise line.place.error(f"{line.text!r} must be one of {', '.join(choices)}")
    return line.text
