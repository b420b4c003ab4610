"""The source text of one host -> `Host` and its `Page`s, as its author wrote them (see hosts/README.md)."""

from __future__ import annotations

import codecs
import datetime
from collections import Counter
from dataclasses import dataclass
from typing import Literal, cast, get_args
from urllib.parse import urlsplit

from pagekin.village.edits import Edit, read_edits
from pagekin.village.prose import Block, read_blocks
from pagekin.village.sections import Facts, Line, Place, Section, read_sections

StyleName = Literal["list", "table", "old", "xhtml", "html5", "raw"]
Declared = Literal["both", "header", "meta", "nowhere"]

_HOST_KEYS = ("name", "about", "nav", "style")
_PAGE_KEYS = ("title", "label", "lang", "charset", "declared", "date", "copy", "file")


@dataclass(frozen=True)
class Page:
    """One page: what it says, and what is known of it.

    A page either has its own `blocks`, or is the `copy` of another page with some `edits`, or is a `file` of
    hand-written HTML under `raw/`. `declared` says who tells the reader its `charset`: the HTTP header, the HTML,
    both of them, or nobody.
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
        """Its address on the host."""
        return urlsplit(self.url).path


@dataclass(frozen=True)
class Host:
    """One site: its name, the line in its footer, its navigation bar as (path, words), its style and its pages."""

    name: str
    title: str
    about: str
    nav: tuple[tuple[str, str], ...]
    style: StyleName
    pages: tuple[Page, ...]


def read_host(file: str, text: str) -> Host:
    r"""The host whose source is the text of a file named after it.

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
        raise line.place.error(f"{line.text!r} is no date like 2019-11-20") from None


def _page(host: str, section: Section) -> Page:
    if not section.name.startswith("/"):
        raise section.place.error(f"the address {section.name!r} should begin with a slash")
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
            raise section.place.error(f"the page {section.name} stands here twice")
    if "/" not in times:
        raise facts.place.error("the host has no page /")


def _nav(line: Line) -> tuple[tuple[str, str], ...]:
    entries = [entry.strip().partition(" ") for entry in line.text.split("|") if entry.strip()]
    for path, _, words in entries:
        if not path.startswith("/") or not words:
            raise line.place.error("an entry of the navigation bar is a path and some words")
    return tuple((path, words) for path, _, words in entries)


def _label(line: Line) -> str:
    if len(line.text.split("/")) != 3 or not all(part.strip() for part in line.text.split("/")):
        raise line.place.error(f"the label {line.text!r} should read Top/Middle/Leaf")
    return line.text


def _charset(line: Line) -> str:
    try:
        codecs.lookup(line.text)
    except LookupError:
        raise line.place.error(f"{line.text!r} is no known charset") from None
    return line.text


def _choice(line: Line, choices: tuple[str, ...]) -> str:
    if line.text not in choices:
        raise line.place.error(f"{line.text!r} should be one of {', '.join(choices)}")
    return line.text
