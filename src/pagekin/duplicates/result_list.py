"""Near-duplicates in a result list: `pagekin.group(results)`. HTML is read as everywhere else."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from pagekin.duplicates.canonical import canonical, canonical_pieces
from pagekin.duplicates.chunks import chunks_of, chunks_of_pieces
from pagekin.duplicates.filters import Overlap
from pagekin.duplicates.fragment import fragment, words_of
from pagekin.duplicates.grouper import Grouper
from pagekin.duplicates.report import DuplicateReport, report_of_list
from pagekin.duplicates.result_formats import Fields, Result, result_of, results_in
from pagekin.duplicates.sets import MOST_CHUNKS, Chunks
from pagekin.duplicates.settings import GroupSettings
from pagekin.errors import MisuseError
from pagekin.model.capture import Capture, Origin
from pagekin.model.files import HTML_SUFFIXES
from pagekin.model.settings import ReadingSettings
from pagekin.reading.batch import read_captures
from pagekin.reading.charset import to_utf8

_TOGETHER = 64  # results that are read at a time
_SAMPLE = 64 * 1024  # bytes of a file that tell what it is
_PIECE = 1 << 20
_MOST_SEARCHED = 16 << 20  # bytes of a file that the words of a query are looked for in
_TOO_MANY = f"more than {MOST_CHUNKS:,} chunks"
_BINARY = "binary file"
_NOWHERE = "http://result.localhost/"


@dataclass(frozen=True)
class ResultEntry:
    """A result in its list, without its text."""

    result: Result
    position: int  # in the list, from 1
    rank: float
    uncompared: str = ""  # why it could not be compared, if so


@dataclass(frozen=True)
class ResultMember:
    """A result that says the same as the anchor of its group; A is the result, B the anchor."""

    entry: ResultEntry
    overlap: Overlap


@dataclass(frozen=True)
class ResultGroup:
    """A result, the best-ranked, and its near-duplicates."""

    anchor: ResultEntry
    members: list[ResultMember]


class Grouping:
    """Results that are grouped as they come. What has come can be asked for at any time."""

    def __init__(
        self, settings: GroupSettings | None = None, fields: Fields | None = None, query: str | None = None
    ) -> None:
        """If there is a query, results are compared by the parts of their texts around its words."""
        self.settings = settings or GroupSettings()
        self.entries: list[ResultEntry] = []
        self.without_words = 0  # results in which no word of the query stands; they are compared as a whole
        self._words = words_of(query or "")
        if query is not None and not self._words:
            raise MisuseError(f"there is no word in the query {query!r}")
        self._fields = fields or Fields()
        self._grouper = Grouper(self.settings)

    def add(self, results: Iterable[Result | Mapping[str, Any]]) -> list[tuple[ResultEntry, ResultEntry]]:
        """Add some results; the pairs of near-duplicates that they make with others and each other."""
        place = len(self.entries) + 1
        some = [
            each if isinstance(each, Result) else result_of(each, place + k, self._fields)
            for k, each in enumerate(results)
        ]
        if too_deep := [each for each in some if each.path is not None and each.path.is_dir()]:
            raise MisuseError(f"{too_deep[0].path} is a folder; name the files in it")
        reasons, chunks = self._chunks(some)
        for k, (result, reason) in enumerate(zip(some, reasons, strict=True)):
            rank = result.rank if result.rank is not None else place + k
            self.entries.append(ResultEntry(replace(result, text=None, html=None), place + k, rank, reason))
        return [(self.entries[a], self.entries[b]) for a, b in self._grouper.add(chunks).tolist()]

    def _chunks(self, results: Sequence[Result]) -> tuple[list[str], Chunks]:
        """The chunks of results, and for each why it has none, or ""."""
        texts: dict[int, bytes | str] = _texts_of_html(results)
        streamed: dict[int, Chunks] = {}
        for k, result in enumerate(results):
            if result.text is not None:
                texts.setdefault(k, result.text.encode("utf-8", "replace"))
            elif result.path is not None and k not in texts:
                found = _text_of_file(result.path) if self._words else _chunks_of_file(result.path, self.settings)
                if isinstance(found, Chunks):
                    streamed[k] = found
                else:
                    texts[k] = found
        folded = [
            canonical(self._fragment(text)) if isinstance(text := texts.get(k), bytes) else b""
            for k in range(len(results))
        ]
        chunks = chunks_of(folded, self.settings)
        if streamed:
            rows = range(len(results))
            chunks = Chunks.joined([streamed[k] if k in streamed else chunks.rows(np.array([k])) for k in rows])
        reasons = []
        for k, count in enumerate(chunks.counts().tolist()):
            text = texts.get(k, "no text")
            why = text if isinstance(text, str) else "empty text"
            reasons.append(_TOO_MANY if count > MOST_CHUNKS else "" if count else why)
        return reasons, chunks

    def _fragment(self, text: bytes) -> bytes:
        """What is compared of a text."""
        if not self._words:
            return text
        found = fragment(text.decode("utf-8", "replace"), self._words)
        self.without_words += found is None
        return text if found is None else found.encode("utf-8", "replace")

    def groups(self) -> list[ResultGroup]:
        """All results so far in groups; one that is like no other is a group by itself."""
        found = self._grouper.groups([entry.rank for entry in self.entries])
        return [
            ResultGroup(
                self.entries[each.anchor], [ResultMember(self.entries[m.page], m.overlap) for m in each.members]
            )
            for each in found
        ]

    def anchors(self) -> list[ResultEntry]:
        """Of each result so far, the anchor of its group."""
        return [self.entries[k] for k in self._grouper.anchors([entry.rank for entry in self.entries]).tolist()]

    def report(self, name: str | None = None) -> DuplicateReport:
        """The share of near-duplicates as the list grows; the result of this id, or the one with most, against all."""
        ids = [str(entry.result.id) for entry in self.entries]
        if name is not None and name not in ids:
            raise MisuseError(f"there is no result with the id {name!r}")
        return report_of_list(self._grouper.chunks, self.settings, [entry.rank for entry in self.entries], ids, name)

    def uncompared(self) -> dict[str, int]:
        """Why results could not be compared, and how many."""
        return dict(sorted(Counter(entry.uncompared for entry in self.entries if entry.uncompared).items()))

    def repeated_ids(self) -> int:
        """How many results have an id that another one before them has."""
        return len(self.entries) - len({(type(e.result.id), e.result.id) for e in self.entries})


def group(
    results: Iterable[Result | Mapping[str, Any]] | Mapping[str, Any],
    settings: GroupSettings | None = None,
    fields: Fields | None = None,
    query: str | None = None,
) -> Grouping:
    """Group the near-duplicates of a result list, or of the response of a search engine, under the best-ranked.

    >>> wren, robin = "The wren is small. " * 40, "The robin is red. " * 40
    >>> found = group([{"id": 1, "text": wren}, {"id": 2, "text": robin}, {"id": 3, "text": wren.upper()}])
    >>> [[each.anchor.result.id, *(m.entry.result.id for m in each.members)] for each in found.groups()]
    [[1, 3], [2]]
    """
    grouping = Grouping(settings, fields, query)
    coming = iter(results_in(results, fields) if isinstance(results, Mapping) else results)
    while some := list(islice(coming, _TOGETHER)):
        grouping.add(some)
    return grouping


def files(paths: Iterable[str | Path]) -> list[Result]:
    """Files as results, each named by its path, the first the best; HTML by its suffix, all else text."""
    return [Result(str(path), path=Path(path)) for path in paths]


def _texts_of_html(results: Sequence[Result]) -> dict[int, bytes | str]:
    """The visible text of each result that is HTML, or why there is none."""
    captures = []
    for k, result in enumerate(results):
        is_page = result.path is not None and result.path.suffix.lower() in HTML_SUFFIXES
        if result.html is not None or is_page:
            body = None if result.html is None else result.html.encode("utf-8", "replace")
            charset = "" if result.html is None else "utf-8"
            origin = Origin("results", 0, 0, 0)
            captures.append(Capture(f"{_NOWHERE}{k}", origin, body=body, path=str(result.path or ""), charset=charset))
    if not captures:
        return {}
    reading = read_captures(captures, ReadingSettings())
    unpacked = zstandard.ZstdDecompressor()
    texts: dict[int, bytes | str] = {_number(skip.where): skip.reason for skip in reading.skips}
    for row, url in enumerate(reading.pages.url):
        texts[_number(url)] = unpacked.decompress(reading.text.data[reading.text.row(row)].tobytes())
    return texts


def _number(url: str) -> int:
    return int(url.removeprefix(_NOWHERE))


def _pieces_of_file(path: Path) -> Iterator[bytes]:
    """The text of a file in UTF-8, a piece at a time; refuses what is no text."""
    with path.open("rb") as file:
        sample = file.read(_SAMPLE)
        charset = to_utf8(sample[: max(sample.rfind(b"\n"), sample.rfind(b" ")) + 1 or None])[1]
        if b"\0" in sample and not charset.startswith("utf-16"):
            raise OSError(0, _BINARY)
        decoder = codecs.getincrementaldecoder(charset)("replace")
        for piece in chain([sample], iter(lambda: file.read(_PIECE), b"")):
            yield decoder.decode(piece).encode("utf-8", "replace")


def _chunks_of_file(path: Path, settings: GroupSettings) -> Chunks | str:
    """The chunks of a file of text, of which a piece at a time is in memory; or why there are none."""
    try:
        chunks = chunks_of_pieces(canonical_pieces(_pieces_of_file(path)), settings)
    except OSError as error:
        return _why(error)
    if chunks is None:
        return _TOO_MANY
    return chunks if chunks.counts()[0] else "empty text"


def _text_of_file(path: Path) -> bytes | str:
    """The text of a file, or why there is none."""
    try:
        pieces, size = [], 0
        for piece in _pieces_of_file(path):
            pieces.append(piece)
            size += len(piece)
            if size > _MOST_SEARCHED:
                return f"text over {_MOST_SEARCHED >> 20} MiB to look for the query in"
        return b"".join(pieces)
    except OSError as error:
        return _why(error)


def _why(error: OSError) -> str:
    return _BINARY if error.strerror == _BINARY else f"unreadable file ({error.strerror or type(error).__name__})"
