"""Titles without what the titles of a host have in common: the name of the site, behind, in front or in brackets."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

_SAMPLE = 1000  # titles of a host that are compared
_MIN_TITLES, _MIN_SHARE = 4, 0.8  # of the titles of a host, that must have a part in common
_ROUNDS = 3  # a title may be "sort - Reference - Example"
_LONGEST = 1000  # characters; longer titles stay as they are
_SEPARATOR = r"\s[-–—|·•»:/]\s"
_OPENING, _CLOSING, _INSIDE = r"[(\[（【]", r"[)\]）】]", r"[^()\[\]（）【】]"
_BRACKETS = (
    rf"{_OPENING}(?:{_INSIDE}|{_OPENING}{_INSIDE}{{0,100}}{_CLOSING}){{1,100}}{_CLOSING}"  # (Manual (version 2))
)
_ENDS = (re.compile(rf"{_SEPARATOR}(?:(?!{_SEPARATOR}).)+$"), re.compile(rf"\s*{_BRACKETS}$"))
_BEGINNINGS = (re.compile(rf"^.{{1,100}}?(?:{_SEPARATOR}|:\s)"), re.compile(rf"^{_BRACKETS}\s*"))


class CommonPart(NamedTuple):
    """A part that the titles of a host have in common."""

    text: str
    at_end: bool

    def removed_from(self, title: str) -> str:
        """The title without the part; unchanged if nothing else would be left."""
        short = title.removesuffix(self.text) if self.at_end else title.removeprefix(self.text)
        return short.strip() or title


def short_titles(pages: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The short titles of pages, which are given by host and title; pages of a host are adjacent.

    >>> titles = ["Oak (Trees 2)", "Elm (Trees 2)", "Ash (Trees 2)", "Trees 2", "Yew (Trees 2)"]
    >>> list(short_titles([("a.example", title) for title in titles]))
    ['Oak', 'Elm', 'Ash', 'Trees 2', 'Yew']
    """
    for _, of_host in groupby(pages, key=itemgetter(0)):
        titles = [title for _, title in of_host]
        parts = common_parts(titles)
        for title in titles:
            yield without_parts(title, parts) if parts else title


def common_parts(titles: Sequence[str]) -> list[CommonPart]:
    """The parts to remove from the titles of a host, one after the other."""
    some = [title for title in titles[:: -(-len(titles) // _SAMPLE) or 1] if 0 < len(title) <= _LONGEST]
    parts: list[CommonPart] = []
    for _ in range(_ROUNDS):
        counts = Counter(part for title in some for part in _parts(title))
        part, count = counts.most_common(1)[0] if counts else (None, 0)
        if part is None or count < max(_MIN_TITLES, _MIN_SHARE * len(some)):
            break
        parts.append(part)
        some = [part.removed_from(title) for title in some]
    return parts


def without_parts(title: str, parts: Iterable[CommonPart]) -> str:
    for part in parts if len(title) <= _LONGEST else ():
        title = part.removed_from(title)
    return title


def _parts(title: str) -> Iterator[CommonPart]:
    """The parts of a title that may be the name of its site."""
    for patterns, at_end in ((_ENDS, True), (_BEGINNINGS, False)):
        for pattern in patterns:
            if found := pattern.search(title):
                yield CommonPart(found[0], at_end)
