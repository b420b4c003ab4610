"""JSON lines: one object per line with `url`, `html` or `text`, and optionally `title`, `language`, `captured`."""

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast

from pagekin.errors import SourceError
from pagekin.model.capture import Capture, Origin, PageFormat, ReadingSettings, Skip, SourceItem, Unchanged
from pagekin.urls import canonical_url

_LINE_FACTOR = 4  # JSON may write one byte as six; a longer line than this holds no page within the limit

# A row has a few values, most of it strings. A line of brackets would take thirty times its size as Python objects.
_MAX_STRUCTURE = 1 << 20  # bytes of a line outside of strings
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.S)


class JsonlSource:
    """The pages of a file of JSON lines, plain or gzipped."""

    def __init__(self, path: Path, settings: ReadingSettings) -> None:
        self.path = path
        self.name = path.name
        self.size = path.stat().st_size
        self._max_line = _LINE_FACTOR * settings.max_page_bytes
        self._max_url = settings.max_url_bytes
        self._whole = Origin(self.name, 0, self.size, path.stat().st_mtime_ns)

    def facts(self) -> Iterator[tuple[str, int, int]]:
        yield self.name, self.size, self._whole.modified

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        if is_unchanged(self._whole):
            yield Unchanged(self._whole)
            return
        opener = gzip.open if self.path.suffix.lower() == ".gz" else open
        try:
            with cast(IO[bytes], opener(self.path, "rb")) as file:
                for number, offset, line in self._lines(file):
                    item = self._item(offset, line)
                    yield Skip(self.name, item[0], f"line {number}{item[1]}") if isinstance(item, tuple) else item
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            yield Skip(self.name, "compressed data damaged, the rest is lost", str(error))
        except OSError as error:
            raise SourceError(f"{self.path} cannot be read: {error.strerror or error}") from error

    def _lines(self, file: IO[bytes]) -> Iterator[tuple[int, int, bytes | None]]:
        """(number, offset, line) of each line that is not blank; the line is None if it is too long."""
        number = offset = 0
        while line := file.readline(self._max_line):
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
        html, text = row.get("html"), row.get("text")
        body = html if html is not None else text
        if not isinstance(row.get("url"), str) or not isinstance(body, str):
            return "line without url, or without html and text", ""
        url = canonical_url(row["url"])
        if url is None:
            return "no http or https URL", f": {_printable(row['url'])}"
        if len(url) > self._max_url:
            return "URL too long", f": {_printable(url)}"
        language, title = (row[key] if isinstance(row.get(key), str) else "" for key in ("language", "title"))
        origin = Origin(self.name, offset, self.size, self._whole.modified)
        facts = (url, origin, captured_time(row.get("captured", 0)), body.encode("utf-8", "replace"))
        kind = PageFormat.HTML if html is not None else PageFormat.TEXT
        return Capture(*facts, charset="utf-8", language=language, title=title, format=kind)


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
