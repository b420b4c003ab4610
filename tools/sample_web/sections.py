"""Parses a source file into facts and sections. Every line keeps its place, for error messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from pagekin.errors import SourceError

_MARK = "=== "
README = "tools/sample_web/hosts/README.md"


@dataclass(frozen=True)
class Place:
    """A line of a source file."""

    file: str
    line: int

    def error(self, what: str) -> SourceError:
        """Return an error that names this line.

        >>> str(Place("birdnotes.example.txt", 7).error("a date is missing")).partition("; ")[0]
        'birdnotes.example.txt, line 7: a date is missing'
        """
        return SourceError(f"{self.file}, line {self.line}: {what}; the format is described in {README}")


@dataclass(frozen=True)
class Line:
    """One line of text and its place."""

    text: str
    place: Place


@dataclass(frozen=True)
class Facts:
    """The `key: value` lines at the head of a file or a section."""

    place: Place
    values: dict[str, tuple[Line, ...]]

    def many(self, key: str) -> tuple[Line, ...]:
        """Return all values of a key that may be repeated."""
        return self.values.get(key, ())

    def one(self, key: str, default: str | None = None) -> Line:
        """Return the only value of a key; without a default the key is required."""
        found = self.many(key)
        if len(found) > 1:
            raise found[1].place.error(f"{key}: is given twice")
        if found:
            return found[0]
        if default is None:
            raise self.place.error(f"{key}: is missing")
        return Line(default, self.place)


@dataclass(frozen=True)
class Section:
    """The lines after `=== name`: facts, an empty line, and the body."""

    name: str
    place: Place
    facts: Facts
    body: tuple[Line, ...]


def read_sections(file: str, text: str, head: Sequence[str], keys: Sequence[str]) -> tuple[Facts, list[Section]]:
    """Read the facts before the first section, with keys from `head`, and the sections, with keys from `keys`."""
    lines = [Line(row.rstrip(), Place(file, number)) for number, row in enumerate(text.splitlines(), 1)]
    starts = [i for i, line in enumerate(lines) if line.text.startswith("===")]
    first, ends = (starts or [len(lines)])[0], [*starts[1:], len(lines)]
    facts, rest = _facts(lines[:first], Place(file, 1), head)
    if rest:
        raise rest[0].place.error("there is text before the first line that begins with ===")
    return facts, [_section(lines[i:end], keys) for i, end in zip(starts, ends, strict=False)]


def paragraphs(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the runs of lines between empty lines."""
    run: list[Line] = []
    for line in lines:
        if line.text:
            run.append(line)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _section(lines: Sequence[Line], keys: Sequence[str]) -> Section:
    start = lines[0]
    name = start.text.removeprefix(_MARK)
    if not start.text.startswith(_MARK) or not name or " " in name:
        raise start.place.error("a section begins with === and one address")
    facts, body = _facts(lines[1:], start.place, keys)
    return Section(name, start.place, facts, body)


def _facts(lines: Sequence[Line], place: Place, keys: Sequence[str]) -> tuple[Facts, tuple[Line, ...]]:
    values: dict[str, tuple[Line, ...]] = {}
    head = list(takewhile(lambda line: line.text, lines))
    for line in head:
        key, colon, value = line.text.partition(": ")
        if not colon or key not in keys or not value.strip():
            raise line.place.error(f"expected one of {', '.join(keys)}, then a colon and a value")
        values[key] = (*values.get(key, ()), Line(value.strip(), line.place))
    return Facts(place, values), tuple(dropwhile(lambda line: not line.text, lines[len(head) :]))
