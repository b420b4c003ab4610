"""What pages say: the result of reading, as columns. It holds no decision of any strategy.

A reading of a few pages (one batch of a build) and the store of a whole collection have the same columns;
a store is a reading that covers everything and lies in files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from pagekin.model.arrays import Bytes, Int64s, UInt32s, UInt64s
from pagekin.model.capture import Redirect, Skip
from pagekin.model.strings import Strings

NO_TARGET = 0xFFFFFFFF  # an anchor that leads nowhere: mailto:, javascript:, a broken URL


class BlockKind:
    """Boundaries that stand between a block and the one before; a block may carry several."""

    PARAGRAPH, CELL, ITEM, BREAK, HEADING, LIST_END, TABLE_END = 1, 2, 4, 8, 16, 32, 64
    NAMES = ("paragraph", "cell", "item", "break", "heading", "list end", "table end")


class AnchorFlag:
    """What is special about an anchor."""

    NOFOLLOW, AREA, FRAME, TOO_LONG = 2, 4, 8, 16
    TRAILING = 32  # it has no words, and the word before it stands in its block


@dataclass(frozen=True)
class Ragged:
    """Rows of differing length: row k of any column is column[offsets[k]:offsets[k+1]]."""

    offsets: Int64s

    def row(self, k: int) -> slice:
        """Where row k lies in the columns."""
        return slice(int(self.offsets[k]), int(self.offsets[k + 1]))

    def lengths(self) -> Int64s:
        """The length of every row."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class Blobs(Ragged):
    """A compressed byte string per page."""

    data: Bytes


@dataclass(frozen=True)
class Tokens(Ragged):
    """The words of each page in document order: which form, and at which byte of the visible text."""

    form: UInt32s
    place: UInt32s


@dataclass(frozen=True)
class TitleTokens(Ragged):
    """The words of each page's title."""

    form: UInt32s


@dataclass(frozen=True)
class Sentences(Ragged):
    """A sentence ends before the token of this number (counted within the page)."""

    token: UInt32s


@dataclass(frozen=True)
class Blocks(Ragged):
    """The blocks of each page: first token, first byte of text, boundaries before it, hash of its text."""

    token: UInt32s
    place: UInt32s
    kinds: Bytes
    hash: UInt64s


@dataclass(frozen=True)
class Anchors(Ragged):
    """The links of each page: tokens start to end, target (a number in `targets`), flags."""

    start: UInt32s
    end: UInt32s
    target: UInt32s
    flags: Bytes


@dataclass(frozen=True)
class Pages:
    """One row a page: what is known of it besides its words."""

    url: Strings
    title: Strings
    language: Strings
    charset: Strings
    canonical: Strings  # the URL that the page says is its own, or ""
    refresh: Strings  # the URL that it sends its visitors to, or ""
    source: UInt32s  # a number in `sources`
    offset: Int64s
    captured: Int64s
    flags: Bytes
    html_bytes: Int64s
    text_bytes: Int64s
    digest: Bytes  # 16 bytes a page: SHA-256 of what was captured, cut
    links_dropped: UInt32s  # what the bounds on a page cost it
    urls_dropped: UInt32s
    words_dropped: UInt32s

    def __len__(self) -> int:
        return len(self.url)


@dataclass(frozen=True)
class Links(Ragged):
    """The in-links of each node: on which page, and which of that page's anchors."""

    page: UInt32s
    anchor: UInt32s


@dataclass(frozen=True)
class Sources:
    """The files that were read, as they were. `whole`: all that was in it is here, so it need not be read again."""

    name: Strings
    size: Int64s
    modified: Int64s
    whole: Bytes

    def __len__(self) -> int:
        return len(self.name)

    def identities(self) -> list[tuple[str, int, int]]:
        """(name, size, time) of every file."""
        return list(zip(self.name, self.size.tolist(), self.modified.tolist(), strict=True))


@dataclass(frozen=True)
class Reading:
    """Pages, what they say, and the vocabularies that their numbers refer to."""

    pages: Pages
    text: Blobs
    hrefs: Blobs
    tokens: Tokens
    titles: TitleTokens
    sentences: Sentences
    blocks: Blocks
    anchors: Anchors
    forms: Strings  # every spelling of every word
    targets: Strings  # every canonical URL that an anchor leads to
    sources: Sources
    redirects: list[Redirect] = field(default_factory=list)
    skips: list[Skip] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.pages)


RAGGED_PARTS: dict[str, type[Ragged]] = {
    "text": Blobs,
    "hrefs": Blobs,
    "tokens": Tokens,
    "titles": TitleTokens,
    "sentences": Sentences,
    "blocks": Blocks,
    "anchors": Anchors,
}


def columns_of(part: Ragged) -> Iterator[tuple[str, NDArray[np.generic]]]:
    """The columns of a ragged part, without its offsets."""
    for each in fields(part):
        if each.name != "offsets":
            yield each.name, getattr(part, each.name)
