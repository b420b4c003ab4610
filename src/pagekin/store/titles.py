"""Titles without what the titles of a host have in common: the name of the site, behind, in front or in brackets."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple, TypeVar

from pagekin.model.arrays import Strings
from pagekin.store.merge import objects_of

Title = TypeVar("Title")  # or its number
_SAMPLE = 1000  # titles of a host that are compared
_MIN_TITLES, _MIN_SHARE = 4, 0.8  # of the titles of a host, that must have a part in common
_ROUNDS = 3  # a title may be "sort - Reference - Example"
_LONGEST = 1000  # characters; longer titles stay as they are
_SEPARATOR = r"\s[-–—|·•»:/]\s"
_OPEN, _CLOSE, _INSIDE = r"[(\[（【]", r"[)\]）】]", r"[^()\[\]（）【】]"
_BRACKETS = rf"{_OPEN}(?:{_INSIDE}|{_OPEN}{_INSIDE}{{0,100}}{_CLOSE}){{1,100}}{_CLOSE}"  # also "(Trees (version 2))"
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


def short_titles(hosts: Iterable[str], titles: Strings) -> Iterator[str]:
    """The short titles of pages, given the host of each; pages of a host are adjacent.

    Hosts are read ahead of titles: in memory are the titles that are compared, and a block of the others.

    >>> titles = Strings.of(["Oak (Trees 2)", "Elm (Trees 2)", "Ash (Trees 2)", "Trees 2", "Yew (Trees 2)"])
    >>> list(short_titles(["a.example"] * 5, titles))
    ['Oak', 'Elm', 'Ash', 'Trees 2', 'Yew']
    """
    every, end = objects_of(titles), 0
    for _, of_host in groupby(hosts):
        begin, end = end, end + sum(1 for _ in of_host)
        parts = common_parts(titles.take(_compared(range(begin, end))))
        for title in islice(every, end - begin):
            yield without_parts(title, parts) if parts else title


def common_parts(titles: Sequence[str]) -> list[CommonPart]:
    """The parts to remove from the titles of a host, one after the other."""
    some = [title for title in _compared(titles) if 0 < len(title) <= _LONGEST]
    parts: list[CommonPart] = []
    for _ in range(_ROUNDS):
        counts = Counter(part for title in some for part in _parts(title))
        part, count = counts.most_common(1)[0] if counts else (None, 0)
        if part is None or count < max(_MIN_TITLES, _MIN_SHARE * len(some)):
            break
        parts.append(part)
        some = [part.removed_from(title) for title in some]
    return parts


def _compared(titles: Sequence[Title]) -> Sequence[Title]:
    """At most _SAMPLE titles of a host."""
    return titles[:: -(-len(titles) // _SAMPLE) or 1]


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
