"""Folders of HTML or Markdown and single pages: each file is a page, and its URL is made from its path.

A folder with more Markdown than HTML is a folder of notes. In others, such as built sites, Markdown is what pages were
made from. A folder with Parquet files and neither HTML nor Markdown is a table of pages, as Spark writes it.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import NamedTuple, Self

from pagekin.model.capture import NOT_HTML, Capture, Origin, Skip, SourceItem
from pagekin.model.files import HTML_SUFFIXES, MARKDOWN_SUFFIXES
from pagekin.sources.notes import NoteNames, note_capture, note_tags
from pagekin.urls import file_url

MARKDOWN_BESIDE_HTML = "Markdown in a folder that has as much HTML"
_SPARKS_OWN = re.compile(r"(^|/)[._]")  # a file or folder that Spark does not read
_NO_PAGES = frozenset((".git", ".hg", ".svn", ".obsidian", ".trash"))  # folders of programs


class _File(NamedTuple):
    """What is kept of each of perhaps a million files; an os.stat_result takes three times the memory."""

    path: str
    size: int
    modified: int
    regular: bool
    is_html: bool
    is_note: bool

    @classmethod
    def of(cls, path: str, status: os.stat_result) -> Self:
        facts = (status.st_size, status.st_mtime_ns, stat.S_ISREG(status.st_mode))
        name = path.lower()
        return cls(path, *facts, name.endswith(HTML_SUFFIXES), name.endswith(MARKDOWN_SUFFIXES))

    def capture(self, source: str, url: str | None) -> Capture | Skip:
        if url is None:
            return Skip(source, "no URL can be made of its path", source)
        origin = Origin(source, 0, self.size, self.modified)
        return Capture(url, origin, captured=self.modified // 1_000_000_000, path=self.path)


class FolderSource:
    """Every page below a folder, ordered by path."""

    def __init__(self, path: Path, base: str, follow_links: bool = False) -> None:
        self.path = path
        self.base = base
        self.name = path.resolve().name
        self._unread: list[tuple[str, str]] = []
        self._files = list(_walk(path, self._unread, follow_links))
        self._has_notes = sum(file.is_note for file in self._files) > sum(file.is_html for file in self._files)
        self.size = sum(file.size for file in self._files if self._is_page(file))

    def _is_page(self, file: _File) -> bool:
        return file.is_html or (self._has_notes and file.is_note)

    @property
    def has_pages(self) -> bool:
        return any(map(self._is_page, self._files))

    def take_parquet(self) -> list[tuple[Path, str]]:
        """Take the Parquet files out of a folder without pages: each path, and its name as a source.

        What Spark writes beside them, such as `_SUCCESS` and checksums, and does not read, is left out as well.
        """
        if self.has_pages:
            return []
        paths = [(file, _shown(relative)) for file, relative in self.relative_paths()]
        read = [(file, shown) for file, shown in paths if not _SPARKS_OWN.search(shown)]
        taken = [
            (Path(file.path), f"{self.name}/{shown}") for file, shown in read if shown.lower().endswith(".parquet")
        ]
        if taken:
            self._files = [file for file, shown in read if not shown.lower().endswith(".parquet")]
        return taken

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read or to count."""
        return not self._files and not self._unread

    def suffixes(self) -> Counter[str]:
        """The number of files by suffix."""
        return Counter(PurePath(file.path).suffix.lower() for file in self._files)

    def facts(self) -> Iterator[tuple[str, int, int]]:
        """The base URL, every page, and the number of other files."""
        yield self.base, 0, 0
        pages = list(filter(self._is_page, self._files))
        for file in pages:
            yield file.path.removeprefix(str(self.path)), file.size, file.modified
        yield self.name, len(self._files) - len(pages), 0

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        """A capture for every page, and one skip that counts the other files."""
        for path, reason in self._unread:
            yield Skip(self.name, reason, _shown(_as_bytes(os.path.relpath(path, self.path))))
        others: dict[str, list[str]] = {}
        names = NoteNames(self.name)
        for file, relative in self.relative_paths():
            shown = _shown(relative)
            if not self._is_page(file):
                others.setdefault(MARKDOWN_BESIDE_HTML if file.is_note else NOT_HTML, []).append(shown)
            elif not file.regular:
                yield Skip(f"{self.name}/{shown}", "not a regular file", shown)
            else:
                item = file.capture(f"{self.name}/{shown}", file_url(self.base, relative))
                yield note_capture(item, shown, names) if file.is_note and isinstance(item, Capture) else item
        yield from names.items()
        for reason, paths in others.items():
            yield Skip(self.name, reason, paths[0], len(paths))

    def relative_paths(self) -> Iterator[tuple[_File, bytes]]:
        """Every file, with its path in the folder."""
        root = str(self.path)
        begin = len(root) + (not root.endswith(os.sep))
        return ((file, _as_bytes(file.path[begin:])) for file in self._files)

    def tags(self, most: int) -> Iterator[tuple[str, str]]:
        """(path, tag) for every tag of every note; of a note, at most this number of bytes is read."""
        for file, relative in self.relative_paths():
            if file.is_note and file.regular:
                yield from ((_shown(relative), tag) for tag in note_tags(Path(file.path), most))


class PageFile:
    """A single page in a file."""

    def __init__(self, path: Path, base: str) -> None:
        self.path = path
        self.base = base
        self.name = path.name
        self._file = _File.of(str(path), path.stat())
        self.size = self._file.size

    def facts(self) -> Iterator[tuple[str, int, int]]:
        yield self.base + self.name, self.size, self._file.modified

    def items(self, is_unchanged: Callable[[Origin], bool]) -> Iterator[SourceItem]:
        item = self._file.capture(self.name, file_url(self.base, os.fsencode(self.name)))
        names = NoteNames(self.name)
        yield note_capture(item, self.name, names) if self._file.is_note and isinstance(item, Capture) else item
        yield from names.items()


def _as_bytes(relative: str) -> bytes:
    """A relative path as bytes with forward slashes, on every system."""
    return os.fsencode(relative.replace(os.sep, "/"))


def _shown(path: bytes) -> str:
    """A path as text; bytes that are not UTF-8 become hexadecimal escapes."""
    return path.decode("utf-8", "backslashreplace")


def _leads_out(entry: os.DirEntry[str], root: Path) -> bool:
    """Whether a file is a link to one that is not below `root`; raise OSError if it is a link to nothing."""
    return entry.is_symlink() and not Path(entry.path).resolve(strict=True).is_relative_to(root)


def _walk(root: Path, unread: list[tuple[str, str]], follow_links: bool) -> Iterator[_File]:
    """All files below `root` in a stable order; (path, reason) of what is not read is added to `unread`.

    Links to folders are not followed, since they may form a loop; links to files outside of `root` only if wanted,
    since a folder from elsewhere could name any file of this machine.
    """
    folders, inside = [str(root)], root.resolve()
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
                    if entry.name in _NO_PAGES:
                        unread.append((entry.path, "folder of a program, such as .git and .obsidian"))
                    elif not entry.name.endswith(".kin"):
                        folders.append(entry.path)
                elif entry.is_dir():
                    unread.append((entry.path, "link to a folder"))
                elif _leads_out(entry, inside) and not follow_links:
                    unread.append((entry.path, "link out of the source folder"))
                else:
                    yield _File.of(entry.path, entry.stat())
            except (OSError, RuntimeError):  # the latter for a loop of links
                unread.append((entry.path, "link to nothing"))
