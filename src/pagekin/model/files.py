"""Files that a user names: read within bounds, written completely or not at all."""

import csv
import errno
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from pagekin.errors import FailureError, MisuseError

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would compute
HTML_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml")
MARKDOWN_SUFFIXES = (".md", ".markdown", ".mdown", ".mkd")


def read_bounded(path: Path, most: int, what: str) -> bytes:
    """The bytes of a file that should hold `what`; raise MisuseError if there are more than `most`."""
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise MisuseError(f"{path} cannot be read: {error.strerror or error}; it should hold {what}") from error
    if len(data) > most:
        raise MisuseError(f"{path} does not hold {what}: it has more than {most:,} bytes")
    return data


@contextmanager
def open_unpacked(file: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, decompressed if its name ends in .gz; raise MisuseError if it cannot be read."""
    import gzip

    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as stream:
            yield cast(IO[bytes], stream)
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise MisuseError(f"{file} cannot be read: {reason}") from error


def sync_file(path: Path) -> None:
    """Wait until the bytes of a file are on the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk: those of new files, and what renaming and removing changed."""
    if sys.platform == "win32":  # a folder cannot be opened; NTFS keeps a journal of names
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that does not know it
            raise
    finally:
        os.close(descriptor)


@contextmanager
def replacing(target: Path, *, durable: bool = True) -> Iterator[Path]:
    """A temporary path that replaces `target` on success and is removed on failure.

    Unless `durable` is False, a power failure leaves the old or the new file, and after this the new one: the bytes are
    on the disk before the name, and the name before this ends.
    """
    temporary = target.with_name(target.name + ".new")
    try:
        yield temporary
        if durable:
            sync_file(temporary)
        temporary.replace(target)
        if durable:
            sync_folder(target.parent)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Like `replacing`; raise FailureError if the file cannot be written."""
    try:
        with replacing(target) as path:
            yield path
    except OSError as error:
        raise FailureError(f"{target} cannot be written: {error.strerror or error}") from error


def write_lines(target: Path, lines: Iterable[str]) -> int:
    """Write lines to a file, completely or not at all; return their number."""
    count = 0
    with written_whole(target) as path, path.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(line + "\n")
            count += 1
    return count


class _Line:
    """A file that returns what is written to it, as the writer of CSV then does."""

    def write(self, line: str) -> str:
        return line


_CSV = csv.writer(_Line(), lineterminator="")


def csv_line(values: Iterable[Any]) -> str:
    """A line of CSV, without its end; None is an empty field."""
    return str(_CSV.writerow(values))


def plain_cell(value: Any) -> Any:
    """A value that a spreadsheet does not take for a formula.

    >>> plain_cell("=1+1"), plain_cell("a=1")
    ("'=1+1", 'a=1')
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
