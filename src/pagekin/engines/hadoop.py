"""Sources that only Hadoop's file systems can open, such as hdfs:// and s3a://, are copied to a folder first.

The driver copies them, several at a time, in streams: neither the size of a file nor the memory of executors matters.
The folder is one that the driver and all executors see. A copy has the time of its source, so that a build that is run
again reads only what has changed.
"""

import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pagekin.errors import MisuseError, SourceError
from pagekin.model.files import open_unpacked, replacing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_URI = re.compile(r"(?!https?:|ftp:)[A-Za-z][A-Za-z0-9+.-]+:/", re.IGNORECASE)  # not the drive of a Windows path
_AT_ONCE = 4  # files
_LONGEST_LIST = 64 << 20  # bytes of a file that lists sources


class _RemoteFile(NamedTuple):
    uri: str
    size: int
    modified: int  # milliseconds


def is_uri(source: str | Path) -> bool:
    """Whether a source, or a list of sources, is not in a file system of this machine.

    >>> is_uri("hdfs://host/a.warc"), is_uri("@s3a://bucket/paths.gz"), is_uri("a.warc"), is_uri("https://a.example/")
    (True, True, False, False)
    """
    return _URI.match(str(source).removeprefix("@")) is not None and not Path(source).exists()


def needs_hadoop(source: str | Path) -> bool:
    """Whether a source is a URI, or a list that has one."""
    return is_uri(source) or any(map(is_uri, _lines_of(source)))


def fetch(session: "SparkSession | None", sources: Sequence[str | Path], folder: Path) -> list[str | Path]:
    """The sources, with copies in `folder` in place of those that are URIs. Lists are replaced by what they name."""
    hadoop = _Hadoop(session, folder)
    return [found for source in sources for found in hadoop.local(source)]


def _lines_of(source: str | Path) -> list[str]:
    """The lines of a list of sources in this file system; none if it is something else."""
    path = Path(str(source)[1:])
    if not str(source).startswith("@") or Path(source).exists() or not path.is_file():
        return []
    with open_unpacked(path) as stream:
        lines = stream.read(_LONGEST_LIST).decode("utf-8", "surrogateescape").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


class _Hadoop:
    """The file systems of a Spark session."""

    def __init__(self, session: Any, folder: Path) -> None:
        self._path = session._jvm.org.apache.hadoop.fs.Path
        self._settings = session._jsc.hadoopConfiguration()
        self._folder = folder

    def local(self, source: str | Path) -> Iterator[str | Path]:
        name = str(source)
        if is_uri(source) and not name.startswith("@"):
            yield from self._copies(name)
            return
        if not needs_hadoop(source):
            yield source
            return
        folder = name[1:].rpartition("/")[0]
        listing = f"@{self._copies(name[1:])[0]}" if is_uri(source) else source
        for line in _lines_of(listing):
            if is_uri(line) or is_uri(source):
                yield from self._copies(line if is_uri(line) else f"{folder}/{line}")
            else:
                yield Path(name[1:]).parent / line

    def _copies(self, uri: str) -> list[Path]:
        """Copy the files and folders that a URI or a pattern means."""
        with _reported(uri):
            system = self._path(uri).getFileSystem(self._settings)
            found = list(system.globStatus(self._path(uri)) or ())
            if not found:
                raise MisuseError(f"{uri} does not exist; check the path of the source")
            files = [file for status in found for file in self._files(system, status)]
            with ThreadPoolExecutor(_AT_ONCE) as threads:
                list(threads.map(lambda file: self._copy(system, file), files))
            return [self._place(status.getPath().toString()) for status in found]

    def _files(self, system: Any, status: Any) -> Iterator[_RemoteFile]:
        if status.isDirectory():
            self._place(status.getPath().toString()).mkdir(parents=True, exist_ok=True)
            listed = system.listFiles(status.getPath(), True)
            while listed.hasNext():
                yield _remote(listed.next())
        else:
            yield _remote(status)

    def _copy(self, system: Any, file: _RemoteFile) -> None:
        place = self._place(file.uri)
        if place.exists() and (place.stat().st_size, place.stat().st_mtime_ns) == (file.size, file.modified * 10**6):
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        with _reported(file.uri), replacing(place, durable=False) as path:
            target = self._path(path.absolute().as_uri())
            system.copyToLocalFile(False, self._path(file.uri), target, True)  # without a file of checksums
            os.utime(path, ns=(file.modified * 10**6, file.modified * 10**6))

    def _place(self, uri: str) -> Path:
        """Where the copy is: a folder for the scheme, one for the host, and the path."""
        scheme, _, rest = uri.partition(":")
        parts = [part for part in rest.split("/") if part not in ("", ".", "..")]
        return self._folder.joinpath(scheme, *parts)


def _remote(status: Any) -> _RemoteFile:
    return _RemoteFile(status.getPath().toString(), int(status.getLen()), int(status.getModificationTime()))


@contextmanager
def _reported(uri: str) -> Iterator[None]:
    """Turn an error of Hadoop into one sentence."""
    from py4j.protocol import Py4JJavaError

    try:
        yield
    except Py4JJavaError as error:
        cause = error.java_exception
        reason = (cause.getMessage() or cause.toString()).splitlines()[0]
        if "UnsupportedFileSystemException" in cause.toString() or "ClassNotFoundException" in cause.toString():
            scheme = uri.partition(":")[0]
            raise MisuseError(
                f"{uri} cannot be opened: Spark has no file system for {scheme} ({reason}); add its package with"
                " `spark-submit --packages`"
            ) from error
        raise SourceError(f"{uri} cannot be read: {reason}") from error
