"""What sources give, as lists."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pagekin.model.capture import Capture, ReadingSettings, Redirect, Skip, SourceItem
from pagekin.sources.open import open_sources


def items(*paths: Path, bases: tuple[str, ...] = (), settings: ReadingSettings | None = None) -> list[SourceItem]:
    """All that sources give to somebody who has read nothing before."""
    return list(open_sources(paths, bases, settings or ReadingSettings()).items(lambda _: False))


def captures(*paths: Path, bases: tuple[str, ...] = (), settings: ReadingSettings | None = None) -> list[Capture]:
    """The captures, where nothing else must come."""
    found = items(*paths, bases=bases, settings=settings)
    kept = [item for item in found if isinstance(item, Capture)]
    assert kept == found
    return kept


def capture(*paths: Path, bases: tuple[str, ...] = (), settings: ReadingSettings | None = None) -> Capture:
    """The one capture, where nothing else must come."""
    (only,) = captures(*paths, bases=bases, settings=settings)
    return only


def kept(found: list[SourceItem]) -> list[tuple[str, bytes | None]]:
    """(URL, body) of the captures among items."""
    return [(item.url, item.body) for item in found if isinstance(item, Capture)]


def redirects(found: list[SourceItem]) -> list[tuple[str, str]]:
    """(from, to) of the redirects among items."""
    return [(item.url, item.target) for item in found if isinstance(item, Redirect)]


def skipped(found: list[SourceItem]) -> dict[str, int]:
    """How often each reason occurs among items."""
    counts: dict[str, int] = {}
    for item in found:
        if isinstance(item, Skip):
            counts[item.reason] = counts.get(item.reason, 0) + item.count
    return counts


def file(path: Path, data: bytes) -> Path:
    """A file with these bytes; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def json_lines(path: Path, *rows: Any) -> Path:
    """A file of JSON lines."""
    return file(path, "".join(json.dumps(row) + "\n" for row in rows).encode())
