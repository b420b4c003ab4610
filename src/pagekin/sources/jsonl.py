"""JSON lines: one object per line with `url`, `html` or `text`, and optionally `title`, `language`, `captured`.

In place of `html`, `body` and `content` are read as well, as feeds of Scrapy call it.
"""

import gzip
import json
import math
import re
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import IO, Any, cast

from pagekin.errors import SourceError
from pagekin.model.capture import Capture, Origin, PageFormat, ReadingSettings, Skip, SourceItem
from pagekin.sources.ranges import DivisibleFile
from pagekin.sources.single_file import FileSource
from pagekin.urls import canonical_url

TEXTS = ("html", "body", "content", "text")  # the first that a row has is its page
OPTIONAL = ("title", "language", "captured", "timestamp")
_STEP = 1 << 20
_LINE_FACTOR = 4  # JSON may write one byte as six; a longer line than this holds no page within the limit

# A row has a few values, most of it strings. A line of brackets would take thirty times its size as Python objects.
_MAX_STRUCTURE = 1 << 20  # bytes of a line outside of strings
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.S)


class JsonlSource(FileSource, DivisibleFile):
    """The pages of a file of JSON lines, plain or gzipped."""

    def __init__(self, path: Path, settings: ReadingSettings) -> None:
        super().__init__(path, settings)
        self._max_line = _LINE_FACTOR * settings.max_page_bytes

    @property
    def is_divisible(self) -> bool:
        return self.path.suffix.lower() != ".gz"

    def read(self) -> Iterator[SourceItem]:
        opener = open if self.is_divisible else gzip.open
        try:
            with cast(IO[bytes], opener(self.path, "rb")) as file:
                first = self._first(file)
                lines_before = cache(partial(self._lines_before, first))  # only if a line is skipped
                for number, offset, line in self._lines(file, first):
                    item = self._item(offset, line)
                    if isinstance(item, tuple):
                        yield Skip(self.name, item[0], f"line {number + lines_before()}{item[1]}")
                    else:
                        yield item
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            yield Skip(self.name, "compressed data damaged, the rest is lost", str(error))
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror or error}") from error

    def _first(self, file: IO[bytes]) -> int:
        """Where the first line of the part begins, to which the file is moved."""
        if self.part is None or self.part.begin == 0:
            return 0
        file.seek(self.part.begin - 1)
        while (line := file.readline(_STEP)) and not line.endswith(b"\n"):
            pass
        return file.tell()

    def _lines_before(self, offset: int) -> int:
        with self.path.open("rb") as file:
            pieces = (file.read(min(_STEP, offset - place)) for place in range(0, offset, _STEP))
            return sum(piece.count(b"\n") for piece in pieces)

    def _lines(self, file: IO[bytes], first: int) -> Iterator[tuple[int, int, bytes | None]]:
        """(number, offset, line) of each line that is not blank; the line is None if it is too long.

        Lines are counted from the first one of the part.
        """
        number, offset = 0, first
        end = self.part.end if self.part else math.inf
        while offset < end and (line := file.readline(self._max_line)):
            number += 1
            begin = offset
            offset += len(line)
            complete = line.endswith(b"\n") or len(line) < self._max_line
            if complete and line.strip():
                yield number, begin, line
            elif not complete:
                while not line.endswith(b"\n") and (line := file.readline(self._max_line)):
                    offset += len(line)
                yield number, begin, None
        self.ends = first, offset

    def _item(self, offset: int, line: bytes | None) -> Capture | tuple[str, str]:
        """The capture of a line, or (the reason why there is none, a detail)."""
        if line is None:
            return "line too long", ""
        if len(line) > _MAX_STRUCTURE and len(_STRINGS.sub(b"", line)) > _MAX_STRUCTURE:
            return "line holds more than a page", ""
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return "line is no JSON", ""
        if not isinstance(row, dict):
            return "line is no JSON object", ""
        origin = Origin(self.name, offset, self.size, self.whole.modified)
        return row_capture(row, origin, self.settings)


def row_capture(row: Mapping[str, Any], origin: Origin, settings: ReadingSettings) -> Capture | tuple[str, str]:
    """The capture of a row with the facts of a page, or (the reason why there is none, a detail)."""
    name = next((name for name in TEXTS if row.get(name) is not None), "")
    body = row.get(name)
    if not isinstance(row.get("url"), str) or not isinstance(body, str | bytes):
        return "line without url, or without html and text", ""
    url = canonical_url(row["url"])
    if url is None:
        return "no http or https URL", f": {_printable(row['url'])}"
    if len(url) > settings.max_url_bytes:
        return "URL too long", f": {_printable(url)}"
    language, title = (row[key] if isinstance(row.get(key), str) else "" for key in ("language", "title"))
    captured = next((captured_time(row[key]) for key in ("captured", "timestamp") if row.get(key)), 0)
    data, charset = (body, "") if isinstance(body, bytes) else (body.encode("utf-8", "replace"), "utf-8")
    kind = PageFormat.TEXT if name == "text" else PageFormat.HTML
    return Capture(url, origin, captured, data, charset=charset, language=language, title=title, format=kind)


def _printable(text: str) -> str:
    """The beginning of a string, without the lone surrogates that JSON can contain."""
    return text[:200].encode("utf-8", "replace").decode("utf-8")


def captured_time(value: Any) -> int:
    """Seconds since 1970, from a number of seconds or an ISO 8601 date; 0 if it is neither."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 40:
        return int(value)
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return 0
    return max(0, int(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp()))
