"""The result of reading pages, as columns. It does not depend on any strategy.

A batch of pages and the store of a whole collection have the same columns; a store has them in files. `IndexOf` and
`PlaceIn` say what the numbers of a column lead to. Numbers from a file are not to be trusted: a `CheckedReading`, and
`CheckedLinks`, lead nowhere else. Only `pagekin.store.checks` makes them of columns from a file.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, NewType, Self, get_type_hints

import numpy as np

from pagekin.model.arrays import Bytes, Int64s, Strings, UInt32s, UInt64s, spans
from pagekin.model.capture import Redirect, Skip

NO_TARGET = 0xFFFFFFFF  # of an anchor without a page as target: mailto:, javascript:, an invalid URL
DIGEST_BYTES = 16


@dataclass(frozen=True)
class IndexOf:
    """The numbers of a column are indices of a part of the reading, or `none`."""

    part: str
    none: int | None = None


@dataclass(frozen=True)
class PlaceIn:
    """The numbers of a column count from the start of a page: they are at most the size of a part of that page."""

    part: str  # a ragged part, or pages.text_bytes
    ascending: bool = False  # within each page


@dataclass(frozen=True)
class Width:
    """A column with several numbers in each row."""

    columns: int


class AnchorFlag:
    """Flags of anchors."""

    NOFOLLOW, AREA, FRAME, TOO_LONG = 2, 4, 8, 16
    TRAILING = 32  # it has no words, and the word before it is in its block
    SEQUENTIAL = 64  # rel="prev", "next" or "up"


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths: row k of any column is column[offsets[k]:offsets[k + 1]]."""

    offsets: Int64s

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, k: int) -> slice:
        return slice(int(self.offsets[k]), int(self.offsets[k + 1]))

    def lengths(self) -> Int64s:
        return np.diff(self.offsets)

    def places(self, rows: Int64s) -> tuple[Int64s, Int64s]:
        """For all entries of some rows: which of the rows, and the place in the columns. Row -1 has no entries."""
        begin = np.where(rows >= 0, self.offsets[rows], 0)
        counts = np.where(rows >= 0, self.offsets[rows + 1] - begin, 0)
        return np.repeat(np.arange(len(rows)), counts), spans(begin, counts)


@dataclass(frozen=True)
class Blobs(Ragged):
    """A compressed byte string per page."""

    data: Bytes


@dataclass(frozen=True)
class Tokens(Ragged):
    """The forms of the words of each page in document order. Their places are found by splitting the text again."""

    form: Annotated[UInt32s, IndexOf("forms")]


@dataclass(frozen=True)
class TitleTokens(Ragged):
    """The words of each page's title."""

    form: Annotated[UInt32s, IndexOf("forms")]


@dataclass(frozen=True)
class Sentences(Ragged):
    """The ends of sentences: the numbers, within the page, of the tokens after them."""

    token: Annotated[UInt32s, PlaceIn("tokens")]


@dataclass(frozen=True)
class Blocks(Ragged):
    """The blocks of each page: first token, first byte of text, kinds of the boundaries before it, hash of its text."""

    token: Annotated[UInt32s, PlaceIn("tokens", ascending=True)]
    place: Annotated[UInt32s, PlaceIn("pages.text_bytes", ascending=True)]
    kinds: Bytes
    hash: UInt64s


@dataclass(frozen=True)
class Anchors(Ragged):
    """The links of each page: tokens start to end, target (an index of `targets`), flags."""

    start: Annotated[UInt32s, PlaceIn("tokens")]
    end: Annotated[UInt32s, PlaceIn("tokens")]
    target: Annotated[UInt32s, IndexOf("targets", none=NO_TARGET)]
    flags: Bytes


@dataclass(frozen=True)
class Pages:
    """One row per page: what is known of it besides its words."""

    url: Strings
    title: Strings
    language: Strings
    charset: Strings
    canonical: Strings  # the canonical URL that the page declares, or ""
    refresh: Strings  # the URL of its refresh, or ""
    source: Annotated[UInt32s, IndexOf("sources")]
    offset: Int64s
    captured: Int64s
    flags: Bytes
    html_bytes: Int64s
    text_bytes: Int64s
    digest: Annotated[Bytes, Width(DIGEST_BYTES)]  # the start of the SHA-256 of what was captured
    links_dropped: UInt32s  # dropped because of the limits on a page
    urls_dropped: UInt32s
    words_dropped: UInt32s

    def __len__(self) -> int:
        return len(self.url)


@dataclass(frozen=True)
class Links(Ragged):
    """The in-links of each node: the page, and the number of the anchor on that page."""

    page: UInt32s
    anchor: UInt32s


@dataclass(frozen=True)
class Sources:
    """The files that were read, with their size and time then. `whole`: it was read completely."""

    name: Strings
    size: Int64s
    modified: Int64s
    whole: Bytes

    @classmethod
    def of(cls, identities: Iterable[tuple[str, int, int]], whole: Bytes) -> Self:
        names, sizes, times = list(zip(*identities, strict=True)) or ((), (), ())
        return cls(Strings.of(names), np.array(sizes, np.int64), np.array(times, np.int64), whole)

    def __len__(self) -> int:
        return len(self.name)

    def identities(self) -> list[tuple[str, int, int]]:
        """(name, size, time) of every file."""
        return list(zip(self.name, self.size.tolist(), self.modified.tolist(), strict=True))

    def numbers(self) -> dict[tuple[str, int, int], int]:
        """The number of every file by its identity."""
        return {key: number for number, key in enumerate(self.identities())}


@dataclass(frozen=True)
class Reading:
    """Pages, their words and links, and the vocabularies that the numbers refer to."""

    pages: Pages
    text: Blobs
    hrefs: Blobs
    tokens: Tokens
    titles: TitleTokens
    sentences: Sentences
    blocks: Blocks
    anchors: Anchors
    forms: Strings  # every spelling of every word
    targets: Strings  # every canonical URL that an anchor links to
    sources: Sources
    redirects: list[Redirect] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.pages)


CheckedReading = NewType("CheckedReading", Reading)
CheckedLinks = NewType("CheckedLinks", Links)

RAGGED_PARTS: dict[str, type[Ragged]] = {
    name: kind for name, kind in get_type_hints(Reading).items() if isinstance(kind, type) and issubclass(kind, Ragged)
}
