"""WACZ: the archives inside a zip."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pagekin.errors import SourceError

_FOLDER = "archive/"
_SUFFIXES = (".warc", ".warc.gz")
_LOCAL_HEADER = 30  # bytes, then the name and the extra field, whose lengths stand in the last four
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


class _Slice(io.RawIOBase):
    """Part of a file as a file of its own."""

    def __init__(self, file: IO[bytes], start: int, size: int) -> None:
        self._file = file
        self._start = start
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(0, base + offset)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        self._file.seek(self._start + self._place)
        data = self._file.read(max(0, min(len(buffer), self._size - self._place)))
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)


def archives_in(path: Path) -> Iterator[tuple[str, IO[bytes], tuple[type[Exception], ...]]]:
    """(name, file, what reading it may raise if the zip is broken there) for each archive in a WACZ.

    An archive that is stored as it is, as the standard wants it, is read past the zip's checksum: one wrong byte in
    it costs one record, not all.
    """
    with path.open("rb") as file:
        try:
            zipped = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise SourceError(f"{path} is no WACZ: {error}; if its download broke off, fetch it again") from error
        members = [info for info in zipped.infolist() if _is_archive(info)]
        if not members:
            raise SourceError(f"{path} is no WACZ: there is no archive/*.warc or archive/*.warc.gz in it")
        if any(info.flag_bits & 1 for info in members):
            raise SourceError(
                f"{path} cannot be read: it is locked with a password; unpack it, and zip it again without one"
            )
        for info in sorted(members, key=lambda info: info.filename):
            yield info.filename, _open(file, zipped, info), _BROKEN


def _is_archive(info: zipfile.ZipInfo) -> bool:
    return info.filename.startswith(_FOLDER) and info.filename.lower().endswith(_SUFFIXES)


def _open(file: IO[bytes], zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    if info.compress_type == zipfile.ZIP_STORED:
        file.seek(info.header_offset)
        header = file.read(_LOCAL_HEADER)
        if len(header) == _LOCAL_HEADER:
            names = int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
            start = info.header_offset + _LOCAL_HEADER + names
            return io.BufferedReader(_Slice(file, start, info.file_size))
    try:
        return zipped.open(info)
    except _BROKEN:
        return _Unreadable()


class _Unreadable(io.BytesIO):
    """A member that cannot even be opened: whoever reads it is told so."""

    def read(self, size: int | None = -1) -> bytes:
        raise zipfile.BadZipFile("cannot be opened")
