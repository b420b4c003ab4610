"""A folder of HTML, or a single page: each file is a page whose URL is made from its path."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from pagekin.model.capture import Capture, Origin, Skip, SourceItem
from pagekin.urls import canonical_url, path_url


class _File(NamedTuple):
    """What is kept of each of perhaps a million files; all that the system tells of one takes three times as much."""

    path: str
    size: int
    modified: int
    regular: bool

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> _File:
        return cls(path, status.st_size, status.st_mtime_ns, stat.S_ISREG(status.st_mode))


class FolderSource:
    """Every page below a folder, in the order of their paths."""

    def __init__(self, path: Path, base: str, suffixes: tuple[str, ...]) -> None:
        self.path = path
        self.base = base
        self.suffixes = suffixes
        self.name = path.resolve().name
        self._unread: list[tuple[str, str]] = []
        self._files = list(_walk(path, self._unread))
        self.size = sum(file.size for file in self._files if self._is_page(file.path))

    def _is_page(self, path: str) -> bool:
        return path.lower().endswith(self.suffixes)

    def facts(self) -> Iterator[tuple[str, int, int]]:
        """Base URL, then every page and the number of other files."""
        yield self.base, 0, 0
        pages = [file for file in self._files if self._is_page(file.path)]
        for file in pages:
            yield file.path.removeprefix(str(self.path)), file.size, file.modified
        yield self.name, len(self._files) - len(pages), 0

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """A capture for every page; other files are counted."""
        others, example = 0, ""
        for path, reason in self._unread:
            yield Skip(self.name, reason, _shown(_relative(path, self.path)))
        root = str(self.path)
        begin = len(root) + (not root.endswith(os.sep))
        for file in self._files:
            relative = _as_bytes(file.path[begin:])
            shown = _shown(relative)
            if not self._is_page(file.path):
                others += 1
                example = example or shown
                continue
            source = f"{self.name}/{shown}"
            if not file.regular:
                yield Skip(source, "not a regular file", shown)
                continue
            yield _capture(file, source, path_url(self.base, relative))
        if others:
            yield Skip(self.name, "not HTML", example, others)


class PageFile:
    """One page in one file."""

    def __init__(self, path: Path, base: str) -> None:
        self.path = path
        self.base = base
        self.name = path.name
        self.size = path.stat().st_size

    def facts(self) -> Iterator[tuple[str, int, int]]:
        """The URL and the file."""
        yield self.base + self.name, self.size, self.path.stat().st_mtime_ns

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """The page."""
        url = path_url(self.base, os.fsencode(self.path.name))
        yield _capture(_File.of(str(self.path), self.path.stat()), self.name, url)


def _capture(file: _File, source: str, url: str) -> Capture | Skip:
    canonical = canonical_url(url)
    if canonical is None:
        return Skip(source, "no URL can be made of its path", source)
    origin = Origin(source, 0, file.size, file.modified)
    return Capture(canonical, origin, captured=file.modified // 1_000_000_000, path=file.path)


def _relative(path: str, root: Path) -> bytes:
    """The path below the root as bytes with forward slashes, on every system."""
    return _as_bytes(os.path.relpath(path, root))


def _as_bytes(relative: str) -> bytes:
    return os.fsencode(relative.replace(os.sep, "/"))


def _shown(path: bytes) -> str:
    """A path to store and to show, in which bytes that are no UTF-8 are written as hexadecimal escapes."""
    return path.decode("utf-8", "backslashreplace")


def _walk(root: Path, unread: list[tuple[str, str]]) -> Iterator[_File]:
    """All files below `root` in stable order; what cannot be looked at is noted in `unread` with the reason.

    Links to folders are not followed: they may go in circles.
    """
    folders = [str(root)]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            unread.append((folder, f"unreadable folder ({error.strerror})"))
            continue
        for entry in found:
            try:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.endswith(".kin"):
                        folders.append(entry.path)
                elif entry.is_dir():
                    unread.append((entry.path, "link to a folder"))
                else:
                    yield _File.of(entry.path, entry.stat())
            except OSError:
                unread.append((entry.path, "link to nothing"))
