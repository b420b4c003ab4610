"""Sources of a server of WebHDFS are copied in ranges, once; test_spark.py kills an executor that does this."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engines.webhdfs import WebHdfs, serving
from pagekin.engines import hadoop, java
from pagekin.engines.hadoop import fetch
from pagekin.engines.java import JavaSettings, RemoteFile, copy_range, stop_java
from pagekin.engines.spark import SparkPool
from pagekin.errors import FailureError, SourceError, StoreError
from sources.warcs import response

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]
RANGE = 30_000
LARGE = [("large.warc", begin) for begin in (0, RANGE, 2 * RANGE)]
SMALL = [("list.txt", 0), ("the finch é%20.html", 0), ("wren.html", 0)]
NO_SETTINGS = JavaSettings({}, [], [])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WebHdfs]:
    """An archive of three ranges, a folder of small files, and a list of both."""
    data = tmp_path / "data"
    (data / "web" / "more").mkdir(parents=True)
    records = [response(f"http://host.example/{k}", f"<p>robin {k} of the garden".encode()) for k in range(200)]
    (data / "large.warc").write_bytes(b"".join(records))
    assert 2 * RANGE < (data / "large.warc").stat().st_size < 3 * RANGE
    (data / "web" / "wren.html").write_text("<p>a wren sings <a href='more/the%20finch.html'>to a finch</a>")
    (data / "web" / "more" / "the finch é%20.html").write_text("<p>a finch does not sing in winter")
    (data / "web" / "empty.html").touch()
    (data / "list.txt").write_text("large.warc\nweb\n")
    for path in data.rglob("*"):  # Hadoop has times in milliseconds
        os.utime(path, (1.7e9, 1.7e9))
    with serving(data) as each:
        yield each


@pytest.fixture
def pool(spark_session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkPool:
    monkeypatch.setattr(hadoop, "_RANGE_BYTES", RANGE)
    return SparkPool(1, session=spark_session)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def opened(server: WebHdfs) -> list[tuple[str, int]]:
    """What has been opened since the last call."""
    found = sorted((each.name, each.offset) for each in server.opened)
    server.opened.clear()
    return found


def test_a_copy_that_was_interrupted_is_continued(server: WebHdfs, pool: SparkPool, tmp_path: Path) -> None:
    """The last range of the archive is refused at first. Later a file changes and another is removed."""
    folder, data = tmp_path / "copies", server.folder
    uris = [server.uri("large.warc"), server.uri("w*")]

    server.before_bytes = lambda opened: 403 if opened.offset == 2 * RANGE else None
    sentence = f"{uris[0]} cannot be copied on .*: Permission denied: user=bird, inode=/large.warc$"
    with pytest.raises(SourceError, match=sentence):
        fetch(pool, uris, folder)
    assert set(opened(server)) == {*LARGE, *SMALL[1:]}
    server.before_bytes = lambda _: None
    large, web = (Path(each) for each in fetch(pool, uris, folder))
    assert opened(server) == LARGE[2:]
    assert (large.read_bytes(), contents(web)) == ((data / "large.warc").read_bytes(), contents(data / "web"))
    assert large.stat().st_mtime == (data / "large.warc").stat().st_mtime
    assert list((folder / "_ranges").iterdir()) == []
    (data / "web" / "wren.html").write_text("<p>another wren")
    (data / "web" / "empty.html").unlink()
    fetch(pool, uris, folder)
    assert opened(server) == [("wren.html", 0)]
    assert contents(web) == contents(data / "web")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda path: path.write_text("<p>") and None, r"has changed while it was copied; run the same command again"),
        (lambda path: path.unlink(missing_ok=True), r"cannot be seen on .*, where it is copied; it was removed in the"),
    ],
    ids=["shrinks", "vanishes"],
)
def test_a_source_that_changes_is_named(
    server: WebHdfs, pool: SparkPool, tmp_path: Path, change: Callable[[Path], None], sentence: str
) -> None:
    path = server.folder / "web" / "wren.html"
    server.before_bytes = lambda _: change(path)
    with pytest.raises(SourceError, match=f"^{re.escape(server.uri('web/wren.html'))} {sentence}"):
        fetch(pool, [server.uri("web/wren.html")], tmp_path / "copies")
    assert [each for each in contents(tmp_path / "copies") if "wren" in each] == []


def test_settings_of_the_session_reach_executors(spark_session: SparkSession) -> None:
    """But not the defaults, which executors have."""
    configuration: Any = spark_session._jsc.hadoopConfiguration()
    configuration.set("fs.s3a.secret.key", "a secret <&>")
    try:
        settings = hadoop._Driver(spark_session).java_settings()
    finally:
        configuration.unset("fs.s3a.secret.key")
    assert settings.hadoop["fs.s3a.secret.key"] == "a secret <&>"
    assert configuration.get("fs.webhdfs.impl") or configuration.get("fs.s3a.impl")
    assert "fs.s3a.impl" not in settings.hadoop
    assert any(option.startswith("--add-opens=") for option in settings.options)


def test_a_range_is_copied_twice_by_one_java_process_that_ends_when_idle(
    server: WebHdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = server.folder / "large.warc", tmp_path / "target"
    size = source.stat().st_size
    file = RemoteFile(server.uri("large.warc"), size, int(1.7e12))
    for begin in (2 * RANGE, 0, 0, RANGE, 2 * RANGE):
        copy_range(NO_SETTINGS, file, begin, min(begin + RANGE, size), target)
        assert target.stat().st_size == size
    assert target.read_bytes() == source.read_bytes()
    process = java._running and java._running._process
    monkeypatch.setattr(java, "_IDLE", 0.05)
    copy_range(NO_SETTINGS, file, 0, 10, target)
    assert process and process.wait(timeout=60) is not None
    assert java._running is None


def test_an_attempt_that_fails_is_repeated(server: WebHdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_PAUSE", 0)
    server.before_bytes = lambda opened: 400 if len(server.opened) == 1 else None
    size = (server.folder / "large.warc").stat().st_size
    copy_range(NO_SETTINGS, RemoteFile(server.uri("large.warc"), size, int(1.7e12)), 0, size, tmp_path / "target")
    assert (tmp_path / "target").read_bytes() == (server.folder / "large.warc").read_bytes()
    assert opened(server) == [LARGE[0]] * 2
    server.before_bytes = lambda _: 400
    with pytest.raises(SourceError, match=r"large.warc cannot be copied on .*: "):
        copy_range(NO_SETTINGS, RemoteFile(server.uri("large.warc"), size, int(1.7e12)), 0, size, tmp_path / "target")
    with pytest.raises(FailureError, match=r"no/target cannot be written on .*: No such file or directory"):
        copy_range(NO_SETTINGS, RemoteFile(server.uri("list.txt"), 1, 1), 0, 1, tmp_path / "no" / "target")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (None, r"there is no `java` in JAVA_HOME or in the PATH on .*, where sources at URIs are copied; install"),
        ("#!/bin/sh\necho no room >&2; exit 1\n", r"/bin/java does not start on .*, where .* are copied: no room$"),
    ],
    ids=["missing", "broken"],
)
def test_executors_without_java_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str | None, sentence: str
) -> None:
    stop_java()
    (tmp_path / "bin").mkdir()
    if command is not None:
        (tmp_path / "bin" / "java").write_text(command)
        (tmp_path / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(FailureError, match=sentence):
        copy_range(NO_SETTINGS, RemoteFile("hdfs://host/a.warc", 1, 1), 0, 1, tmp_path / "a.warc")
    release_ended_processes()


def release_ended_processes() -> None:
    """Close the pipes of processes that nothing refers to any more, while this module ignores warnings of them."""
    gc.collect()
    known = vars(subprocess)
    for _ in range(500):
        known["_cleanup"]()
        if not known["_active"]:
            return
        time.sleep(0.02)


def test_an_output_that_executors_do_not_see_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"fetched cannot be seen on .*; name an output on a file system"):
        hadoop._copy(NO_SETTINGS, tmp_path / "fetched", [])
