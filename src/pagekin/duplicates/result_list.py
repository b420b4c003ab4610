"""Near-duplicates in a result list: `pagekin.group(results)`."""

import codecs
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from pagekin.duplicates.chunks import canonical, canonical_stream, chunks_of, chunks_of_stream
from pagekin.duplicates.filters import MAX_CHUNKS, Chunks
from pagekin.duplicates.groups import DuplicateGroup, Grouper
from pagekin.duplicates.report import THRESHOLDS, DuplicateReport, build_report
from pagekin.duplicates.result_formats import Fields, Result, result_of, results_in
from pagekin.duplicates.settings import GroupSettings
from pagekin.duplicates.short_texts import sample_ngrams
from pagekin.errors import MisuseError
from pagekin.model.capture import Capture, Origin, ReadingSettings
from pagekin.model.files import HTML_SUFFIXES
from pagekin.model.jsons import json_field
from pagekin.reading.batch import read_captures
from pagekin.reading.bodies import to_utf8

_BATCH = 64  # results that are read at once
_SAMPLE_BYTES = 64 * 1024  # of a file, for its encoding
_PIECE_BYTES = 1 << 20
_MAX_SEARCHED = 16 << 20  # bytes of a file that is searched for the words of a query
_TOO_MANY = f"more than {MAX_CHUNKS:,} chunks"
_BINARY = "binary file"
_BASE_URL = "http://result.localhost/"
_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?…。！？])\s*")
_LONG_LINE = 1000  # characters; longer lines are split into sentences
_NEIGHBOURS = 1  # parts before and after each match


@dataclass(frozen=True)
class ResultEntry:
    """A result and its position in the list, without its text."""

    id: str | int | float
    position: int  # from 1
    rank: float
    url: str = ""
    title: str = ""
    uncompared: str = json_field(default="", omit="")  # the reason, if it could not be compared


@dataclass(frozen=True)
class GroupedResults:
    """A result list in groups of near-duplicates; a result without near-duplicates is a group by itself."""

    settings: GroupSettings
    results: int
    groups: list[DuplicateGroup[ResultEntry]]
    uncompared: dict[str, int]  # reason -> number of results
    repeated_ids: int  # results with the id of an earlier one
    without_words: int  # results without a word of the query, compared as a whole


class Grouping:
    """Groups results as they are added; groups are available at any time."""

    def __init__(
        self, settings: GroupSettings | None = None, fields: Fields | None = None, query: str | None = None
    ) -> None:
        """With a query, results are compared by the fragments of their texts around its words."""
        self.settings = settings or GroupSettings()
        self.entries: list[ResultEntry] = []
        self.without_words = 0  # results without a word of the query, compared as a whole
        self._words = words_of(query or "")
        if query is not None and not self._words:
            raise MisuseError(f"there is no word in the query {query!r}; give at least one")
        self._fields = fields or Fields()
        self._grouper = Grouper(self.settings)

    def add(self, results: Iterable[Result | Mapping[str, Any]]) -> list[tuple[ResultEntry, ResultEntry]]:
        """Add results; the pairs of near-duplicates that they form with each other and earlier results."""
        first = len(self.entries) + 1
        rows = enumerate(results, first)
        some = [each if isinstance(each, Result) else result_of(each, k, self._fields) for k, each in rows]
        if folders := [each.path for each in some if each.path is not None and each.path.is_dir()]:
            raise MisuseError(f"{folders[0]} is a folder; name the files inside it")
        reasons, chunks, samples = self._sets(some)
        for position, (result, reason) in enumerate(zip(some, reasons, strict=True), first):
            rank = result.rank if result.rank is not None else position
            self.entries.append(ResultEntry(result.id, position, rank, result.url, result.title, reason))
        return [(self.entries[a], self.entries[b]) for a, b in self._grouper.add(chunks, samples).tolist()]

    def _sets(self, results: Sequence[Result]) -> tuple[list[str], Chunks, list[Chunks]]:
        """For each result the reason why it has no chunks, or ""; the chunks, and the samples of short texts."""
        named = self._fields.text != Fields().text
        missing = f"no field {' or '.join(self._fields.text + self._fields.html)}" if named else "no text"
        contents: list[bytes | Chunks | str] = [missing] * len(results)  # a text, chunks, or the reason
        from_html = html_texts(results)
        for k, result in enumerate(results):
            if k in from_html:
                contents[k] = from_html[k]
            elif result.text is not None:
                contents[k] = result.text.encode("utf-8", "replace")
            elif result.path is not None:
                contents[k] = _read_text_file(result.path, None if self._words else self.settings)
        texts = [canonical(self._fragment(each)) if isinstance(each, bytes) else b"" for each in contents]
        chunks = chunks_of(texts, self.settings)
        if any(isinstance(each, Chunks) for each in contents):
            rows = enumerate(contents)
            chunks = Chunks.concatenate([c if isinstance(c, Chunks) else chunks.rows(np.array([k])) for k, c in rows])
        reasons = []
        for each, count in zip(contents, chunks.lengths().tolist(), strict=True):
            reason = each if isinstance(each, str) else "empty text"
            reasons.append(_TOO_MANY if count > MAX_CHUNKS else "" if count else reason)
        return reasons, chunks, sample_ngrams(texts)

    def _fragment(self, text: bytes) -> bytes:
        if not self._words:
            return text
        found = fragment(text.decode("utf-8", "replace"), self._words)
        self.without_words += found is None
        return text if found is None else found.encode("utf-8", "replace")

    def _ranks(self) -> list[float]:
        return [entry.rank for entry in self.entries]

    def groups(self) -> list[DuplicateGroup[ResultEntry]]:
        """The groups of all results so far; a result without near-duplicates is a group of one."""
        return [each.map(self.entries.__getitem__) for each in self._grouper.groups(self._ranks())]

    def grouped(self) -> GroupedResults:
        """The groups so far, and counts of what was not compared."""
        counts = self.uncompared(), self.repeated_ids(), self.without_words
        return GroupedResults(self.settings, len(self.entries), self.groups(), *counts)

    def anchors(self) -> list[ResultEntry]:
        """The anchor of each result's group."""
        return [self.entries[k] for k in self._grouper.anchors(self._ranks()).tolist()]

    def report(self, name: str | None = None) -> DuplicateReport:
        """The share of near-duplicates as the list grows, and the result with this id, or most near-duplicates."""
        ids = [str(entry.id) for entry in self.entries]
        if name is not None and name not in ids:
            raise MisuseError(f"there is no result with the id {name!r}; name a result of the list by its id")
        page = None if name is None else ids.index(name)
        grouper = Grouper(replace(self.settings, threshold=THRESHOLDS[0], link="complete"))
        fingerprints = self._grouper.fingerprints
        pairs = grouper.add(fingerprints.chunks, [each.chunks for each in fingerprints.samples])
        order = "results, best first", np.argsort(self._ranks(), kind="stable")
        return build_report(fingerprints, pairs, fingerprints.similarities(pairs), order, ids.__getitem__, page)

    def uncompared(self) -> dict[str, int]:
        """The number of results that could not be compared, by reason."""
        return dict(sorted(Counter(entry.uncompared for entry in self.entries if entry.uncompared).items()))

    def repeated_ids(self) -> int:
        """The number of results with the id of an earlier one."""
        return len(self.entries) - len({(type(e.id), e.id) for e in self.entries})


def group(
    results: Iterable[Result | Mapping[str, Any]] | Mapping[str, Any],
    settings: GroupSettings | None = None,
    fields: Fields | None = None,
    query: str | None = None,
) -> Grouping:
    """Group the near-duplicates of a result list, or of the response of a search engine, under the best-ranked.

    >>> wren, robin = "The wren is small. " * 40, "The robin is red. " * 40
    >>> found = group([{"id": 1, "text": wren}, {"id": 2, "text": robin}, {"id": 3, "text": wren.upper()}])
    >>> [[each.anchor.id, *(m.page.id for m in each.members)] for each in found.groups()]
    [[1, 3], [2]]
    """
    grouping = Grouping(settings, fields, query)
    remaining = iter(results_in(results, fields) if isinstance(results, Mapping) else results)
    while batch := list(islice(remaining, _BATCH)):
        grouping.add(batch)
    return grouping


def files(paths: Iterable[str | Path]) -> list[Result]:
    """Files as results with their paths as ids, best first; HTML by suffix, all others as text."""
    return [Result(str(path), path=Path(path)) for path in paths]


def html_texts(results: Sequence[Result]) -> dict[int, bytes | str]:
    """The visible text of each result that is HTML, or the reason why there is none."""
    captures = []
    for k, result in enumerate(results):
        is_page = result.path is not None and result.path.suffix.lower() in HTML_SUFFIXES
        if result.html is not None or is_page:
            body = None if result.html is None else result.html.encode("utf-8", "replace")
            charset, path = "" if result.html is None else "utf-8", str(result.path or "")
            url, origin = f"{_BASE_URL}{k}", Origin("results", 0, 0, 0)
            captures.append(Capture(url, origin, body=body, path=path, charset=charset))
    if not captures:
        return {}
    reading, decompressor = read_captures(captures, ReadingSettings()), zstandard.ZstdDecompressor()
    texts: dict[str, bytes | str] = {skip.where: skip.reason for skip in reading.skips}
    for row, url in enumerate(reading.pages.url):
        texts[url] = decompressor.decompress(reading.text.data[reading.text.row(row)].tobytes())
    return {int(url.removeprefix(_BASE_URL)): text for url, text in texts.items()}


def _read_text_file(path: Path, settings: GroupSettings | None) -> Chunks | bytes | str:
    """The text of a small file, the chunks of a large one, read in pieces, or the reason why there are none.

    Without settings it is the text of a large file, too.
    """
    try:
        pieces = _pieces(path)
        if settings is not None and path.stat().st_size > _SAMPLE_BYTES:
            chunks = chunks_of_stream(canonical_stream(pieces), settings)
            return _TOO_MANY if chunks is None else chunks
        text = b""
        for piece in pieces:
            text += piece
            if len(text) > _MAX_SEARCHED:
                return f"text over {_MAX_SEARCHED >> 20} MiB, too long to search for the query"
        return text
    except OSError as error:
        return _BINARY if error.strerror == _BINARY else f"unreadable file ({error.strerror or type(error).__name__})"


def _pieces(path: Path) -> Iterator[bytes]:
    """The text of a file in UTF-8, piece by piece; OSError if it is binary."""
    with path.open("rb") as file:
        sample = file.read(_SAMPLE_BYTES)
        charset = to_utf8(sample[: max(sample.rfind(b"\n"), sample.rfind(b" ")) + 1 or None])[1]
        if b"\0" in sample and not charset.startswith("utf-16"):
            raise OSError(0, _BINARY)
        decoder = codecs.getincrementaldecoder(charset)("replace")
        for piece in chain([sample], iter(lambda: file.read(_PIECE_BYTES), b"")):
            yield decoder.decode(piece).encode("utf-8", "replace")


def words_of(query: str) -> frozenset[str]:
    r"""The words of a query.

    >>> sorted(words_of('"Emacs manual" OR wren\'s'))
    ['emacs', 'manual', 'or', 's', 'wren']
    """
    return frozenset(word.casefold() for word in _WORD.findall(query))


def fragment(text: str, words: frozenset[str]) -> str | None:
    r"""The lines with one of the words and the lines next to them (sections 2.3 and 3.3 of the paper), or None.

    Long lines are split into sentences, which count as lines.

    >>> fragment("menu\nall birds\nThe Wren sings.\nIt is small.\nshop\nimprint", frozenset(["wren"]))
    'all birds\nThe Wren sings.\nIt is small.'
    """
    lines = ([line] if len(line) <= _LONG_LINE else _SENTENCE_END.split(line) for line in text.split("\n"))
    parts = [part for line in lines for part in line if part]
    matches = [k for k, part in enumerate(parts) if not words.isdisjoint(map(str.casefold, _WORD.findall(part)))]
    near = {j for k in matches for j in range(max(0, k - _NEIGHBOURS), min(len(parts), k + _NEIGHBOURS + 1))}
    return "\n".join(parts[k] for k in sorted(near)) if near else None
