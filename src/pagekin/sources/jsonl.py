"""JSON lines: one object a line with `url`, and `html` or `text`; also `title`, `language`, `captured`."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast

from pagekin.errors import SourceError
from pagekin.model.capture import Capture, Origin, Skip, SourceItem, Unchanged
from pagekin.model.settings import ReadingSettings
from pagekin.urls import canonical_url

_LINE_FACTOR = 4  # JSON may write one byte as six; a longer line than this holds no page that we would keep

# A row has a few values, and its bulk is in strings. A line of brackets would take thirty times its size as objects.
_MOST_STRUCTURE = 1 << 20  # bytes of a line outside of strings
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.S)


class JsonlSource:
    """Pages out of a file of JSON lines, plain or gzipped."""

    def __init__(self, path: Path, settings: ReadingSettings) -> None:
        self.path = path
        self.name = path.name
        self.size = path.stat().st_size
        self._longest = _LINE_FACTOR * settings.max_page_bytes
        self._longest_url = settings.max_url_bytes
        self._modified = path.stat().st_mtime_ns

    def facts(self) -> Iterator[tuple[str, int, int]]:
        """The file."""
        yield self.name, self.size, self._modified

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """A capture for every line that is one."""
        whole = Origin(self.name, 0, self.size, self._modified)
        if is_unchanged(whole):
            yield Unchanged(whole)
            return
        opener = gzip.open if self.path.suffix.lower() == ".gz" else open
        try:
            with cast(IO[bytes], opener(self.path, "rb")) as file:
                for number, offset, line in self._lines(file):
                    yield self._item(number, offset, line)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            yield Skip(self.name, "compressed data damaged, the rest is lost", str(error))
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror or error}") from error

    def _lines(self, file: IO[bytes]) -> Iterator[tuple[int, int, bytes | None]]:
        """(number, offset, line) for each line that is not blank; None in place of one that is too long."""
        number = offset = 0
        while line := file.readline(self._longest):
            number += 1
            begin = offset
            offset += len(line)
            complete = line.endswith(b"\n") or len(line) < self._longest
            if complete and line.strip():
                yield number, begin, line
            elif not complete:
                while not line.endswith(b"\n") and (line := file.readline(self._longest)):
                    offset += len(line)
                yield number, begin, None

    def _item(self, number: int, offset: int, line: bytes | None) -> SourceItem:
        where = f"line {number}"
        if line is None:
            return Skip(self.name, "line too long", where)
        if len(line) > _MOST_STRUCTURE and len(_STRINGS.sub(b"", line)) > _MOST_STRUCTURE:
            return Skip(self.name, "line holds more than a page", where)
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return Skip(self.name, "line is no JSON", where)
        if not isinstance(row, dict):
            return Skip(self.name, "line is no JSON object", where)
        html, text = row.get("html"), row.get("text")
        body = html if html is not None else text
        if not isinstance(row.get("url"), str) or not isinstance(body, str):
            return Skip(self.name, "line without url, or without html and text", where)
        url = canonical_url(row["url"])
        if url is None:
            return Skip(self.name, "no http or https URL", f"{where}: {_printable(row['url'])}")
        if len(url) > self._longest_url:
            return Skip(self.name, "URL too long", f"{where}: {_printable(url)}")
        return Capture(
            url=url,
            origin=Origin(self.name, offset, self.size, self._modified),
            captured=_captured(row),
            body=body.encode("utf-8", "replace"),
            charset="utf-8",
            language=_text(row, "language"),
            title=_text(row, "title"),
            plain=html is None,
        )


def _printable(text: str) -> str:
    """The beginning of a string, without the lone surrogates that JSON can smuggle in."""
    return text[:200].encode("utf-8", "replace").decode("utf-8")


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key, "")
    return value if isinstance(value, str) else ""


def _captured(row: dict[str, Any]) -> int:
    """`captured` as seconds since 1970, given so or as an ISO 8601 date."""
    value = row.get("captured", 0)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 40:
        return int(value)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return 0
    return max(0, int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()))
