"""What a source yields (captures of pages, redirects, notes on what was skipped), and the settings of reading it."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import IntFlag, StrEnum
from functools import cached_property
from typing import Any, TypeAlias

from pagekin.errors import MisuseError
from pagekin.model.options import check_options, option
from pagekin.model.wiki import WikiSite

MiB = 1024 * 1024


class PageFlags(IntFlag):
    """What a page requests of robots."""

    NONE = 0
    NOINDEX = 1
    NOFOLLOW = 2


class PageFormat(StrEnum):
    """What the body of a capture is written in."""

    HTML = "html"
    TEXT = "text"
    MARKDOWN = "markdown"
    WIKITEXT = "wikitext"


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
    format: PageFormat = PageFormat.HTML
    wiki: WikiSite | None = None  # of wikitext
    borrowed: bool = False  # the body is in another record, perhaps of another archive

    @property
    def weight(self) -> int:
        """Approximately the number of bytes to read."""
        return len(self.body) if self.body is not None else self.origin.size


@dataclass(frozen=True, order=True)
class Rank:
    """When and where a capture was made; the order of captures that are equally preferred."""

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


NOT_HTML = "not HTML"  # the reason for files of a folder that are not pages


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


@dataclass(frozen=True)
class ReadingSettings:
    """Limits on what is read of a page, and which requests of a page are obeyed; stored with the result.

    >>> ReadingSettings(max_links=0)
    Traceback (most recent call last):
    pagekin.errors.MisuseError: max_links is 0; it must be at least 1
    """

    max_page_bytes: int = option(16 * MiB, "Skip larger pages.", minimum=1, cli=False)  # the command counts in MiB
    max_links: int = option(50_000, "Keep at most this number of links of a page.", minimum=1)
    max_url_bytes: int = option(4_096, "Ignore longer URLs; in bytes.", name="max_url_length", minimum=1)
    obey_noindex: bool = option(False, "Leave out pages that ask not to be indexed (robots noindex).")
    obey_nofollow: bool = option(False, "Ignore links that ask not to be followed (rel nofollow).")
    chop_host: bool = option(False, "Treat all pages of a host as one page.")
    follow_links: bool = option(False, "Follow symbolic links that lead out of a source folder.", http=False)
    capture: str = option(
        "latest",
        "Of several captures of a URL, take the latest, the first, or the nearest to a date: nearest:2020-06-30.",
        metavar="latest|first|nearest:DATE",
        http=False,
    )
    namespaces: tuple[int, ...] = option(
        (0,), "Read pages of these namespaces of a MediaWiki dump, by number; repeatable.", name="namespace", http=False
    )
    exclude: tuple[str, ...] = option(
        (),
        "Leave out pages whose URL matches this regular expression; repeatable.",
        regex=True,
        metavar="PATTERN",
        http=False,
    )

    def __post_init__(self) -> None:
        check_options(self)
        assert self._date is not None
        if self.max_page_bytes > 1024 * MiB:
            raise MisuseError(f"max_page_bytes is {self.max_page_bytes}; at most 1 GiB can be read of one page")

    @cached_property
    def _date(self) -> int:
        """The time that captures should be near to."""
        kind, _, date = self.capture.partition(":")
        try:
            if kind == "nearest":
                moment = datetime.fromisoformat(date)
                return int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp())
        except ValueError:
            pass
        if self.capture not in ("latest", "first"):
            raise MisuseError(f"capture is {self.capture!r}; it can be latest, first, or nearest:DATE, as 2020-06-30")
        return 0

    def prefer(self, captured: int) -> int:
        """How much a capture is preferred to others of its URL, by its time; 0 is an unknown time.

        >>> [max(1, 5, 9, key=ReadingSettings(capture=c).prefer) for c in ("latest", "first", "nearest:1970-01-01")]
        [9, 1, 1]
        """
        if self.capture == "latest":
            return captured
        return -abs(captured - self._date) if captured else -(1 << 62)

    def as_dict(self) -> dict[str, Any]:
        """The settings as stored in JSON, which has lists but no tuples."""
        return asdict(self) | {"namespaces": list(self.namespaces), "exclude": list(self.exclude)}


def preference(settings: ReadingSettings, rank: Rank) -> tuple[int, Rank]:
    """The order of captures of one URL under these settings: the greatest wins."""
    return settings.prefer(rank.captured), rank
