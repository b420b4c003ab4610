"""What a source gives: captures of pages, redirects, and notes on what was skipped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import TypeAlias


class PageFlags(IntFlag):
    """What a page asks of robots."""

    NONE = 0
    NOINDEX = 1
    NOFOLLOW = 2


@dataclass(frozen=True)
class Origin:
    """Where a capture came from: a file and, in an archive, the place of its record."""

    source: str
    offset: int
    size: int
    modified: int  # nanoseconds since 1970


@dataclass(frozen=True)
class Capture:
    """A page as it was at one moment. Its body is at hand (`body`) or still in a file (`path`)."""

    url: str
    origin: Origin
    captured: int = 0  # seconds since 1970; 0 where nobody noted it
    body: bytes | None = None
    path: str = ""
    charset: str = ""  # as the transport named it
    language: str = ""
    title: str = ""
    flags: PageFlags = PageFlags.NONE
    plain: bool = False  # text, not HTML
    borrowed: bool = False  # the body lies in another record, perhaps of another archive

    @property
    def weight(self) -> int:
        """About how many bytes reading it will take."""
        return len(self.body) if self.body is not None else self.origin.size


@dataclass(frozen=True, order=True)
class Rank:
    """What decides between captures of one URL: the greatest wins."""

    captured: int
    source: str
    offset: int


@dataclass(frozen=True)
class Redirect:
    """One URL that sends its visitors to another."""

    url: str
    target: str
    origin: Origin
    captured: int = 0


class SkipKind(StrEnum):
    """Whether reading the source again would skip the same."""

    FINAL = "final"
    DEPENDENT = "dependent"  # another source may supply what is missing


@dataclass(frozen=True)
class Skip:
    """Something that was not read, with the reason. `where` is one example."""

    source: str
    reason: str
    where: str
    count: int = 1
    kind: SkipKind = SkipKind.FINAL


@dataclass(frozen=True)
class Unchanged:
    """A source whose earlier reading still holds as a whole."""

    origin: Origin


SourceItem: TypeAlias = Capture | Redirect | Skip | Unchanged
