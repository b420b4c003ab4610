"""What a source yields: captures of pages, redirects, and notes on what was skipped."""

from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import TypeAlias


class PageFlags(IntFlag):
    """What a page requests of robots."""

    NONE = 0
    NOINDEX = 1
    NOFOLLOW = 2


@dataclass(frozen=True)
class Origin:
    """The origin of a capture: a file and, in an archive, the offset of its record."""

    source: str
    offset: int
    size: int
    modified: int  # nanoseconds since 1970


@dataclass(frozen=True)
class Capture:
    """A page at one moment. Its body is in memory (`body`) or in a file (`path`)."""

    url: str
    origin: Origin
    captured: int = 0  # seconds since 1970; 0 if unknown
    body: bytes | None = None
    path: str = ""
    charset: str = ""  # from the transport, such as an HTTP header
    language: str = ""
    title: str = ""
    flags: PageFlags = PageFlags.NONE
    plain: bool = False  # text, not HTML
    borrowed: bool = False  # the body is in another record, perhaps of another archive

    @property
    def weight(self) -> int:
        """Approximately the number of bytes to read."""
        return len(self.body) if self.body is not None else self.origin.size


@dataclass(frozen=True, order=True)
class Rank:
    """The order of captures of one URL: the greatest wins."""

    captured: int
    source: str
    offset: int


@dataclass(frozen=True)
class Redirect:
    """A URL that redirects to another."""

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
    """A source whose earlier reading is still valid."""

    origin: Origin


SourceItem: TypeAlias = Capture | Redirect | Skip | Unchanged
