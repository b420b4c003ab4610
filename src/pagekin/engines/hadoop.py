"""Sources that only Hadoop's file systems can open, such as hdfs:// and s3a://, are copied to a folder first.

The driver lists files. Executors copy them, large ones in byte ranges, to a folder that the driver and all executors
see. A copy has the time of its source, so that a build that is run again copies only what is missing or has changed.
"""

import os
import re
import shlex
import socket
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple
from xml.etree import ElementTree

from pagekin.engines.java import JavaSettings, RemoteFile, copy_range, error_of
from pagekin.engines.local import WorkerPool
from pagekin.engines.spark import SparkPool
from pagekin.errors import MisuseError, SourceError, StoreError
from pagekin.model.files import open_unpacked

_URI = re.compile(r"(?!https?:|ftp:)[A-Za-z][A-Za-z0-9+.-]+:/", re.IGNORECASE)  # not the drive of a Windows path
_LISTED_AT_ONCE = 16
_LONGEST_LIST = 64 << 20  # bytes of a file that lists sources
_RANGE_BYTES = 64 << 20  # of a large file
_JOB_BYTES, _JOB_FILES = 16 << 20, 64  # of small files that share a job
_UNFINISHED = "_ranges"  # a folder; no scheme has this name


def is_uri(source: str | Path) -> bool:
    """Whether a source, or a list of sources, is not in a file system of this machine.

    >>> is_uri("hdfs://host/a.warc"), is_uri("@s3a://bucket/paths.gz"), is_uri("a.warc"), is_uri("https://a.example/")
    (True, True, False, False)
    """
    return _URI.match(str(source).removeprefix("@")) is not None and not Path(source).exists()


def needs_hadoop(source: str | Path) -> bool:
    """Whether a source is a URI, or a list that has one."""
    return is_uri(source) or any(map(is_uri, _lines_of(source)))


def fetch(pool: SparkPool, sources: Sequence[str | Path], folder: Path) -> list[str | Path]:
    """The sources, with copies in `folder` in place of those that are URIs. Lists are replaced by what they name."""
    lists = [str(source)[1:] for source in sources if is_uri(source) and str(source).startswith("@")]
    copies = _copied(pool, lists, folder)
    named = [each for source in sources for each in _named(source, copies)]
    copies = _copied(pool, [str(each) for each in named if is_uri(each)], folder)
    return [path for each in named for path in copies.get(str(each), [each])]


def _named(source: str | Path, lists: dict[str, list[Path]]) -> Iterator[str | Path]:
    """What a list names that is at a URI, or that names URIs; else the source itself."""
    name = str(source)
    if is_uri(source) and name.startswith("@"):
        beside = name[1:].rpartition("/")[0]
        lines = [line for copy in lists[name[1:]] for line in _lines_of(f"@{copy}")]
        yield from (line if is_uri(line) else f"{beside}/{line}" for line in lines)
    elif not is_uri(source) and needs_hadoop(source):
        yield from (line if is_uri(line) else Path(name[1:]).parent / line for line in _lines_of(source))
    else:
        yield source


def _lines_of(source: str | Path) -> list[str]:
    """The lines of a list of sources in this file system; none if it is something else."""
    path = Path(str(source)[1:])
    if not str(source).startswith("@") or Path(source).exists() or not path.is_file():
        return []
    with open_unpacked(path) as stream:
        lines = stream.read(_LONGEST_LIST).decode("utf-8", "surrogateescape").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


class _Listing(NamedTuple):
    """The files and folders that a URI or a pattern means, and all files in them."""

    found: list[str]
    folders: list[str]
    files: list[RemoteFile]


def _copied(pool: SparkPool, uris: Sequence[str], folder: Path) -> dict[str, list[Path]]:
    """Copy the files and folders that URIs or patterns mean; return the copies for each URI."""
    if not uris:
        return {}
    driver = _Driver(pool.session)
    listings = list(WorkerPool(_LISTED_AT_ONCE).map(driver.listing, uris))
    (folder / _UNFINISHED).mkdir(parents=True, exist_ok=True)
    places = {file: _place(folder, file.uri) for listing in listings for file in listing.files}
    _make_folders((_place(folder, uri) for listing in listings for uri in listing.folders), set(places.values()))
    missing = {file: place for file, place in places.items() if not _is_copy(file, place)}
    pool.run(partial(_copy, driver.java_settings(), folder), list(_jobs(missing, folder)))
    for file, place in missing.items():
        if file.size > _RANGE_BYTES:
            _join_ranges(file, folder, place)
    return {uri: [_place(folder, each) for each in listing.found] for uri, listing in zip(uris, listings, strict=True)}


class _Driver:
    """The file systems of a Spark session."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._jvm = session._jvm
        self._path = self._jvm.org.apache.hadoop.fs.Path
        self._settings = session._jsc.hadoopConfiguration()

    def listing(self, uri: str) -> _Listing:
        from py4j.protocol import Py4JJavaError

        try:
            system = self._path(uri).getFileSystem(self._settings)
            statuses = list(system.globStatus(self._path(uri)) or ())
            if not statuses:
                raise MisuseError(f"{uri} does not exist; check the path of the source")
            folders = [status.getPath() for status in statuses if status.isDirectory()]
            files = [_remote_file(status) for status in statuses if not status.isDirectory()]
            files += [file for path in folders for file in self._files(system, path)]
        except Py4JJavaError as error:
            raise error_of(uri, error, "listed") from error
        return _Listing([each.getPath().toString() for each in statuses], [each.toString() for each in folders], files)

    def _files(self, system: Any, path: Any) -> Iterator[RemoteFile]:
        listed = system.listFiles(path, True)
        while listed.hasNext():
            yield _remote_file(listed.next())

    def java_settings(self) -> JavaSettings:
        """What executors need to open the same file systems."""
        spark = self._session.sparkContext
        place = "driver" if spark._jsc.isLocal() else "executor"
        given = [spark.getConf().get(f"spark.{place}.{name}JavaOptions", "") for name in ("default", "extra")]
        options = [each for each in shlex.split(" ".join(given)) if each.startswith(("-D", "--add-opens="))]
        extra = spark.getConf().get(f"spark.{place}.extraClassPath", "")
        own = self._jvm.java.lang.System.getProperty("java.class.path").split(os.pathsep)
        folders = [f"{Path(each).parent}/*" if each.endswith(".jar") else each for each in own]
        return JavaSettings(self._changed_settings(), list(dict.fromkeys(filter(None, [extra, *folders]))), options)

    def _changed_settings(self) -> dict[str, str]:
        """The settings of Hadoop that are not from the files of defaults in its jars."""
        text = self._jvm.java.io.StringWriter()
        self._settings.writeXml(text)
        changed = {}
        for each in ElementTree.fromstring(text.toString()).iter("property"):
            sources = each.findall("source")
            if not sources or not (sources[-1].text or "").endswith("-default.xml"):
                changed[each.findtext("name", "")] = each.findtext("value", "")
        return changed


def _remote_file(status: Any) -> RemoteFile:
    return RemoteFile(status.getPath().toString(), int(status.getLen()), int(status.getModificationTime()))


def _place(folder: Path, uri: str) -> Path:
    """Where the copy is: a folder for the scheme, one for the host, and the path."""
    scheme, _, rest = uri.partition(":")
    parts = [part for part in rest.split("/") if part not in ("", ".", "..")]
    return folder.joinpath(scheme, *parts)


def _make_folders(folders: Iterable[Path], expected: set[Path]) -> None:
    """Make the copies of folders; remove files of an earlier attempt that are no longer in their sources."""
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.rglob("*"):
            if path.is_file() and path not in expected:
                path.unlink()


def _is_copy(file: RemoteFile, place: Path) -> bool:
    """Whether the whole file has been copied."""
    try:
        facts = place.stat()
    except OSError:
        return False
    return (facts.st_size, facts.st_mtime_ns) == (file.size, file.modified * 10**6)


class _FileRange(NamedTuple):
    """A byte range of a file, and where the copy of the whole file will be."""

    file: RemoteFile
    place: Path
    begin: int
    end: int

    @property
    def is_whole(self) -> bool:
        return self.end - self.begin == self.file.size

    def marker(self, folder: Path) -> Path:
        """A file that exists if the range has been copied, and others of the file have not."""
        unfinished = _unfinished(folder, self.file)
        return unfinished.with_name(f"{unfinished.name}-{self.begin}-{self.end}")


def _unfinished(folder: Path, file: RemoteFile) -> Path:
    """Where the ranges of a file are collected."""
    key = blake2b(repr(tuple(file)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return folder / _UNFINISHED / key


def _ranges(file: RemoteFile, place: Path) -> list[_FileRange]:
    """The ranges of a large file. They begin at multiples of their size, so that no two write to the same block."""
    bounds = [*range(0, file.size, _RANGE_BYTES), file.size]
    return [_FileRange(file, place, begin, end) for begin, end in pairwise(bounds)]


def _jobs(missing: dict[RemoteFile, Path], folder: Path) -> Iterator[list[_FileRange]]:
    """What is missing, in jobs: a range of a large file, or several small files."""
    shared: list[_FileRange] = []
    for file, place in missing.items():
        if file.size > _RANGE_BYTES:
            yield from ([each] for each in _missing_ranges(file, place, folder))
            continue
        shared.append(_FileRange(file, place, 0, file.size))
        if len(shared) == _JOB_FILES or sum(each.end for each in shared) >= _JOB_BYTES:
            yield shared
            shared = []
    if shared:
        yield shared


def _missing_ranges(file: RemoteFile, place: Path, folder: Path) -> list[_FileRange]:
    """The ranges of a large file that an earlier build has not copied."""
    ranges = _ranges(file, place)
    if not _unfinished(folder, file).exists():
        for each in ranges:
            each.marker(folder).unlink(missing_ok=True)  # of an attempt that ended late
    return [each for each in ranges if not each.marker(folder).exists()]


def _copy(settings: JavaSettings, folder: Path, ranges: list[_FileRange]) -> None:
    """On an executor: copy ranges to the folder, at their places; a whole file gets its name when it is complete."""
    if not (folder / _UNFINISHED).is_dir():
        raise StoreError(
            f"{folder} cannot be seen on {socket.gethostname()}, where sources at URIs are copied; name an output on a"
            " file system that the driver and all executors share"
        )
    for each in ranges:
        target = _unfinished(folder, each.file)
        if not each.is_whole:
            copy_range(settings, each.file, each.begin, each.end, target)
            each.marker(folder).touch()
        elif not _is_copy(each.file, each.place):
            attempt = target.with_name(f"{target.name}-{token_hex(4)}")
            try:
                copy_range(settings, each.file, 0, each.end, attempt)
                _put_in_place(each.file, attempt, each.place)
            finally:
                attempt.unlink(missing_ok=True)


def _join_ranges(file: RemoteFile, folder: Path, place: Path) -> None:
    """Give the copy of a large file its name after all its ranges have been copied."""
    target = _unfinished(folder, file)
    if not target.exists() or target.stat().st_size != file.size:
        raise SourceError(f"{target}, the copy of {file.uri}, has not its size; run the same command again")
    for each in _ranges(file, place):
        each.marker(folder).unlink()
    _put_in_place(file, target, place)


def _put_in_place(file: RemoteFile, copy: Path, place: Path) -> None:
    os.utime(copy, ns=(file.modified * 10**6, file.modified * 10**6))
    place.parent.mkdir(parents=True, exist_ok=True)
    copy.replace(place)
