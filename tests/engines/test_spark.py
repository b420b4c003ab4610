"""A build on Spark gives the bytes of a local build, whatever fails on the way."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pagekin
from engines import killing
from engines.serial_pool import SerialPool, use_serial_pool
from engines.webhdfs import Opened, WebHdfs, serving
from pagekin import sample_web
from pagekin.engines import spark
from pagekin.engines.spark import SparkPool
from pagekin.errors import FailureError, MisuseError, PagekinError, SourceError
from pagekin.model.capture import ReadingSettings
from pagekin.model.strategy import PRESETS
from pagekin.pipeline import build, keep_answers
from pagekin.sources.ranges import ByteRange, DivisibleFile
from pagekin.store import stage_files
from pagekin.store.collect import Spool
from pagekin.store.splits import Split, read_splits
from pagekin.store.store import Store
from sources.warcs import response

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAST = PRESETS["fast"]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def session(spark_session: SparkSession) -> SparkSession:
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # executors do not see the tests
    return spark_session


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The sample web as an archive, a folder, Parquet, and a list: a damaged archive, one of noise, JSON lines."""
    folder = tmp_path_factory.mktemp("sources")
    archive = sample_web.copy_to(folder)
    damaged = bytearray(gzip.decompress(archive.read_bytes())[:300_000])
    damaged[100_000:100_020] = b"x" * 20
    (folder / "damaged.warc").write_bytes(damaged)
    (folder / "noise.warc.gz").write_bytes(bytes(range(256)) * 40)
    write_pages(folder / "birds")
    (folder / "birds" / "notes.txt").write_text("no page")
    lines = [{"url": f"http://lines.example/{k}", "text": f"robin number {k} of the garden"} for k in range(40)]
    (folder / "lines.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines) + "no JSON\n")
    table = {"url": ["http://rows.example/1", "http://rows.example/2"], "text": ["a wren of the garden", "a finch"]}
    pq.write_table(pa.table(table), folder / "rows.parquet")
    (folder / "list.txt").write_text("damaged.warc\nnoise.warc.gz\nlines.jsonl\n")
    for path in folder.rglob("*"):  # Hadoop has times in milliseconds
        os.utime(path, ns=(path.stat().st_mtime_ns // 10**6 * 10**6,) * 2)
    return [archive, folder / "birds", folder / "rows.parquet", Path(f"@{folder / 'list.txt'}")]


@pytest.fixture(scope="module")
def local(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("local") / "all.kin"
    pagekin.build(sources, output, processes=1)
    return output


@pytest.fixture(scope="module")
def fast(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same by a strategy with fewer stages, for laws of what comes before them."""
    output = tmp_path_factory.mktemp("fast") / "all.kin"
    build(sources, output, processes=1, strategy=FAST)
    return output


def write_pages(folder: Path) -> None:
    folder.mkdir()
    for name, other in (("robin", "wren"), ("wren", "finch"), ("finch", "robin")):
        page = f"<title>The {name}</title><p>A {name} sings in winter, <a href={other}.html>the {other}</a> does not."
        (folder / f"{name}.html").write_text(page)


def files_of(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def splits_in(store: Path) -> dict[str, int]:
    """The time of every file that the jobs of splits have written."""
    files = (path for pattern in ("*.batch", "*.json") for path in (store / "unfinished").glob(pattern))
    return {path.name: path.stat().st_mtime_ns for path in files}


def double(number: int) -> int:
    return 2 * number


def refuse_three(number: int) -> int:
    if number == 3:
        raise SourceError("three cannot be read")
    return number


def divide_by_zero(number: int) -> float:
    return number / 0


def fail_once(place: tuple[str, int]) -> int:
    """Fail at the first attempt."""
    marker = Path(place[0], str(place[1]))
    if not marker.exists():
        marker.touch()
        raise OSError(5, "Input/output error")
    return place[1]


def imported_of_kernels(_: int) -> list[str]:
    return [name for name in ("pagekin.kernels.machine", "numba") if name in sys.modules]


def letters(word: str) -> list[tuple[int, str]]:
    """The letters of a word, by their place in the alphabet modulo 3."""
    return [((ord(letter) - ord("a")) % 3, letter) for letter in word]


def in_order(key: int, found: Iterable[str]) -> tuple[int, str]:
    return key, "".join(sorted(found))


def test_values_travel_to_their_keys(session: SparkSession) -> None:
    """By hand: a, d, g are 0 modulo 3, b, e, h are 1; nothing is 2."""
    found = SparkPool(1, session=session).shuffle(letters, ["bad", "egg", "head"], in_order)
    assert found == [(0, "aaddgg"), (1, "beeh")]


def test_results_come_in_the_order_of_the_jobs(session: SparkSession) -> None:
    assert SparkPool(1, session=session).run(double, range(7)) == [0, 2, 4, 6, 8, 10, 12]
    assert SparkPool(1, session=session).run(double, []) == []


def test_a_job_that_fails_is_attempted_again(session: SparkSession, tmp_path: Path) -> None:
    assert SparkPool(1, session=session).run(fail_once, [(str(tmp_path), k) for k in range(3)]) == [0, 1, 2]


def test_errors_of_jobs_keep_their_sentences(session: SparkSession) -> None:
    with pytest.raises(SourceError, match=r"^three cannot be read$"):
        SparkPool(1, session=session).run(refuse_three, range(5))
    with pytest.raises(FailureError, match=r"^Spark gave up: .*ZeroDivisionError.*run the same command again$"):
        SparkPool(1, session=session).run(divide_by_zero, [1])


def test_spark_builds_the_bytes_of_the_local_engine(
    session: SparkSession, sources: list[Path], local: Path, tmp_path: Path
) -> None:
    """With the machine code of the kernels: no process of an executor has imported numba."""
    built = pagekin.build(sources, tmp_path / "all.kin", engine="spark").built
    assert files_of(tmp_path / "all.kin") == files_of(local)
    assert built is not None
    assert built.skipped["line is no JSON"] == 1
    skips = Store.open(tmp_path / "all.kin").catalog.skips()
    assert {"damaged.warc", "noise.warc.gz"} <= {skip.source for skip in skips}
    imported = SparkPool(1, session=session).run(imported_of_kernels, range(20))
    assert ["pagekin.kernels.machine"] in imported
    assert not any("numba" in names for names in imported)


def test_large_files_are_read_in_ranges(
    session: SparkSession, sources: list[Path], fast: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The damaged archive is read as a whole in the end."""
    finished: list[tuple[Split, Path]] = []
    monkeypatch.setattr("pagekin.store.splits.RANGE_BYTES", 30_000)

    def read_and_note(*given: Any) -> list[tuple[Split, Path]]:
        finished.extend(read_splits(*given))
        return finished

    monkeypatch.setattr("pagekin.pipeline.reading.read_splits", read_and_note)
    build(sources, tmp_path / "all.kin", engine="spark", strategy=FAST)
    assert files_of(tmp_path / "all.kin") == files_of(fast)
    jobs: dict[str, list[ByteRange | None]] = {}
    for split, _ in finished:
        if isinstance(split.source, DivisibleFile):
            jobs.setdefault(split.source.path.name, []).append(split.source.part)
    size = sources[0].stat().st_size
    assert len(jobs[sources[0].name]) == -(-size // 30_000) > 1
    assert jobs["damaged.warc"] == [None]


def test_one_corrupt_archive_among_a_thousand_is_named(session: SparkSession, tmp_path: Path) -> None:
    """Each archive has one page. The corrupt one has a length that is no number."""
    (tmp_path / "crawl").mkdir()
    names = [f"crawl/{number:04}.warc" for number in range(1000)]
    for number, name in enumerate(names):
        record = response(f"http://host-{number % 7}.example/{number}", f"<p>robin {number} of the garden".encode())
        length = b"Content-Length: "
        (tmp_path / name).write_bytes(record.replace(length, length + b"x") if number == 500 else record)
    (tmp_path / "list.txt").write_text("\n".join(names))
    strategy, found = FAST, {}
    for engine in ("local", "spark"):
        given: dict[str, Any] = {"engine": engine, "strategy": strategy}
        found[engine] = build([f"@{tmp_path / 'list.txt'}"], tmp_path / f"{engine}.kin", **given)
    assert files_of(tmp_path / "spark.kin") == files_of(tmp_path / "local.kin")
    assert len(found["spark"].store) == 999
    assert [skip.source for skip in found["spark"].store.catalog.skips()] == ["0500.warc"]


def test_many_links_to_a_page_from_a_page_and_a_word_on_every_page(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million links lead to one page; one page has 100,000 links, to 2,000 pages; "oak" is in every text.

    On executors there are a tenth of the links, except in a campaign.
    """
    assert_built_alike(tmp_path / "executors", pages=2000 if IN_CAMPAIGN else 200)
    use_serial_pool(monkeypatch)
    assert_built_alike(tmp_path / "serial", pages=2000)


def assert_built_alike(folder: Path, pages: int) -> None:
    """Both engines write the same files of pages with 500 links each to one page."""
    folder.mkdir()
    rows = [{"url": "http://hub.example/", "html": "<title>ash</title><p>oak"}]
    link = "<a href=http://hub.example/>elm fir</a> "
    rows += [{"url": f"http://page.example/{k}", "html": f"<p>oak {k} {link * 500}"} for k in range(pages)]
    many = "".join(f"<a href=http://page.example/{k % 2000}>yew {k % 50}</a> " for k in range(100_000))
    rows.append({"url": "http://many.example/", "html": f"<p>oak {many}"})
    (folder / "web.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for engine in ("local", "spark"):
        settings = ReadingSettings(max_links=100_000)
        build([folder / "web.jsonl"], folder / f"{engine}.kin", engine=engine, settings=settings)
    assert files_of(folder / "spark.kin") == files_of(folder / "local.kin")
    links = Store.open(folder / "spark.kin").links
    assert (int(np.diff(links.offsets).max()), len(links.page)) == (pages * 500, pages * 500 + 100_000)


def uri_of(path: Path) -> str:
    return f"file://{path.absolute()}"  # not as_uri, which would escape a pattern


def test_sources_of_other_file_systems_are_copied_and_removed(
    session: SparkSession, sources: list[Path], tmp_path: Path
) -> None:
    """A URI of another scheme, a pattern, a folder, a list of URIs, and a list at a URI, as paths of this machine."""
    folder, inside = tmp_path / "sources", "viewfs://pagekin/data"
    shutil.copytree(sources[0].parent, folder)
    settings: Any = session._jsc.hadoopConfiguration()
    settings.set("fs.viewfs.mounttable.pagekin.link./data", folder.as_uri())
    archive, birds, rows = (folder / source.name for source in sources[:3])
    paths = [archive, birds, rows, folder / "damaged.warc", folder / "lines.jsonl"]
    build(paths, tmp_path / "paths.kin", processes=1, shards=2, strategy=FAST)
    (tmp_path / "uris.txt").write_text(f"# archives\n{uri_of(folder / 'damaged.warc')}\n")
    (folder / "remote.txt").write_text("lines.jsonl\n")
    uris: list[str | Path] = [
        uri_of(folder / f"{archive.name[:-4]}*"),
        f"{inside}/{birds.name}",
        rows,
        f"@{tmp_path / 'uris.txt'}",
        f"@{inside}/remote.txt",
    ]
    build(uris, tmp_path / "uris.kin", engine="spark", shards=2, strategy=FAST)
    assert files_of(tmp_path / "uris.kin") == files_of(tmp_path / "paths.kin")


@pytest.mark.parametrize(
    ("uri", "sentence"),
    [
        ("file:///no/such/archive.warc.gz", "file:///no/such/archive.warc.gz does not exist; check the path"),
        ("s3a://bucket/a.warc.gz", "s3a://bucket/a.warc.gz cannot be opened: Spark has no file system for s3a on"),
        ("nowhere://host/a.warc.gz", "nowhere://host/a.warc.gz cannot be opened: Spark has no file system for nowhere"),
    ],
)
def test_uris_that_cannot_be_read_are_named(session: SparkSession, tmp_path: Path, uri: str, sentence: str) -> None:
    with pytest.raises(MisuseError, match=re.escape(sentence)) as raised:
        pagekin.build([uri], tmp_path / "my.kin", engine="spark")
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "my.kin").exists()


def test_the_local_engine_says_who_opens_a_uri(tmp_path: Path) -> None:
    with pytest.raises(MisuseError, match="is in a file system that only Spark opens; add --engine spark"):
        pagekin.build(["hdfs://host/a.warc"], tmp_path / "my.kin")


def test_spark_writes_the_shards_and_answers_of_the_local_engine(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Executors read a store that is divided already."""
    write_pages(tmp_path / "web")
    monkeypatch.chdir(tmp_path)
    for engine in ("local", "spark"):
        options: dict[str, Any] = {"engine": engine, "shards": 3, "answers": 2}
        pagekin.build(["web"], tmp_path / f"{engine}.kin", base_urls=["http://a.example/"], **options)
    ours, theirs = files_of(tmp_path / "local.kin"), files_of(tmp_path / "spark.kin")
    assert sum("shard-0002" in name for name in ours) > 50
    assert sum("answers-2" in name for name in ours) == 3 * 5
    assert ours == theirs


def test_finished_splits_are_not_read_again_unless_they_are_damaged(
    session: SparkSession, sources: list[Path], fast: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "all.kin"

    def fail(*_: Any) -> None:
        raise SourceError("the driver was stopped")

    with monkeypatch.context() as patched:
        patched.setattr("pagekin.pipeline.reading.choose_pages", fail)
        with pytest.raises(SourceError):
            build(sources, output, engine="spark", strategy=FAST)
    first = splits_in(output)
    assert len([name for name in first if name.endswith(".json")]) == 6  # one a source
    damaged = min((output / "unfinished").glob("*.batch"))
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"?")
    first, key = splits_in(output), damaged.name.partition("-")[0]
    monkeypatch.setattr(Spool, "remove", lambda self: None)
    build(sources, output, engine="spark", strategy=FAST)
    second = splits_in(output)
    assert {name.partition("-")[0] for name in second.keys() - first.keys()} == {key}
    assert second.pop(f"{key}.json") > first.pop(f"{key}.json")
    assert {name: time for name, time in second.items() if name in first} == first
    built = {name: data for name, data in files_of(output).items() if not name.startswith("unfinished")}
    assert built == files_of(fast)


STAGES = set(
    "ignored counting citing tags languages kept terms names forms frequencies evidence keys signing rarity squares"
    " sampling projecting latent-ordering members inverting cited norms packing title-words titles chunks"
    " neighbours".split()
)


def test_finished_stages_do_not_run_again_unless_their_files_are_damaged(
    session: SparkSession, sources: list[Path], local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, shuffle, run = tmp_path / "all.kin", SparkPool.shuffle, SparkPool.run
    calls: list[str] = []

    def fail(*_: Any) -> None:
        raise SourceError("the driver was stopped")

    def note_shuffle(self: SparkPool, cut: Any, *arguments: Any) -> Any:
        stage = killing.stage_of(cut)
        calls.extend([stage] if stage.startswith("shuffle.") else [])
        return shuffle(self, cut, *arguments)

    def note_run(self: SparkPool, function: Any, jobs: Any) -> Any:
        if getattr(function, "func", None) is stage_files._written and function.args[1] in STAGES:
            calls.append(function.args[1])
        return run(self, function, jobs)

    def called() -> list[str]:
        found = sorted(calls)
        calls.clear()
        return found

    monkeypatch.setattr(SparkPool, "shuffle", note_shuffle)
    monkeypatch.setattr(SparkPool, "run", note_run)
    with monkeypatch.context() as patched:
        patched.setattr("pagekin.store.manifest.write_manifest", fail)
        with pytest.raises(SourceError):
            pagekin.build(sources, output, engine="spark")
    assert called() == sorted(STAGES | {"shuffle.cut_links", "shuffle.cut"})
    damaged = {"signing", "inverting", "chunks", "neighbours"}
    for name in damaged:
        file = min((output / "unfinished").glob(f"{name}-*.npz"))
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    pagekin.build(sources, output, engine="spark")
    assert called() == sorted(damaged)
    assert files_of(output) == files_of(local)


def test_a_source_that_vanishes_is_named(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = sample_web.copy_to(tmp_path)
    run = SparkPool.run

    def remove_and_run(self: SparkPool, function: Any, jobs: Any) -> Any:
        archive.unlink()
        return run(self, function, jobs)

    monkeypatch.setattr(SparkPool, "run", remove_and_run)
    with pytest.raises(SourceError, match=r"warc\.gz cannot be seen on .*; it was removed in the meantime, or"):
        pagekin.build([archive], tmp_path / "my.kin", engine="spark")


@pytest.mark.parametrize(
    ("options", "environment", "message"),
    [
        ({"engine": "hadoop"}, {}, "there is no engine 'hadoop'; name one of local, spark"),
        ({"master": "local[2]"}, {}, "--master names a Spark cluster; add --engine spark"),
        *(
            ({"engine": "spark", "master": master}, {}, f"--master {master!r} is no master of Spark; name local[N], ")
            for master in ("http://x", "local[abc", "local[0]", "local[2,x]", "local-cluster[2]", "yarn-client")
        ),
        (
            {"engine": "spark", "master": "yarn"},
            {},
            "neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set; set one of them",
        ),
        ({"engine": "spark", "master": "spark://127.0.0.1:1"}, {}, "no master of Spark answers at spark://127.0.0.1:1"),
        (
            {"engine": "spark", "master": "spark://:7077"},
            {},
            "no master of Spark answers at spark://:7077 (:7077: it names",
        ),
        ({"engine": "spark"}, {"JAVA_HOME": "/nowhere"}, "needs Java 17 or later, and there is no `java` in JAVA_HOME"),
        ({"engine": "spark"}, {"PATH": "/nowhere"}, "needs Java 17 or later, and there is no `java` in the PATH"),
    ],
)
def test_what_spark_needs_is_said_before_it_starts(
    options: dict[str, str],
    environment: dict[str, str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("JAVA_HOME", "HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    write_pages(tmp_path / "pages")
    with pytest.raises(PagekinError, match=re.escape(message)) as raised:
        pagekin.build([tmp_path / "pages"], tmp_path / "my.kin", **options)  # type: ignore[arg-type]
    assert raised.value.exit_code == (1 if "answers" in message else 2)


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("""echo 'openjdk version "11.0.25" 2024-10-15' >&2""", "is Java 11"),
        ("""echo 'java version "1.8.0_292"' >&2""", "is Java 8"),
        ("echo 'Error: could not find libjava.so' >&2; exit 2", r"does not run \(Error: could not find libjava.so\)"),
        ("exit 1", r"does not run \(it says nothing\)"),
        ("exec sleep 60", r"does not run \(.*timed out after 0.5 seconds\)"),
        ("""echo 'NOTE: Picked up JDK_JAVA_OPTIONS' >&2; echo 'openjdk version "17.0.9"' >&2""", None),
        ("""echo 'openjdk version "21" 2023-09-19' >&2""", None),
    ],
)
def test_java_that_spark_cannot_use_is_named(
    program: str, found: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text(f"#!/bin/sh\n{program}\n")
    (tmp_path / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(spark, "_SECONDS_TO_ANSWER", 0.5 if "sleep" in program else 60)
    if found is None:
        spark._need_java()
        return
    sentence = rf"^--engine spark needs Java 17 or later, and /.*/bin/java {found}; install one \(on Debian: apt-get"
    with pytest.raises(MisuseError, match=sentence), spark.spark_pool(None, 1):
        pass


def test_a_master_that_accepts_a_connection_and_stays_silent_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "_SECONDS_TO_ANSWER", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        master = f"spark://127.0.0.1:{server.getsockname()[1]}"
        sentence = rf"^no master of Spark answers at {master} \(127\.0\.0\.1:\d+: timed out\); start it, or name"
        with pytest.raises(FailureError, match=sentence), spark.spark_pool(master, 1):
            pass


@pytest.mark.parametrize("answer", [b"Stream '/files/pagekin' was not found.", b""])
def test_a_master_answers_if_it_sends_something_or_hangs_up(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The frame of a StreamRequest, by hand: its length, type 6, the length of a name, and the name."""
    monkeypatch.setattr(spark, "_SECONDS_TO_ANSWER", 20.0)
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                asked.append(connection.recv(100))
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        spark._check_master(f"spark://127.0.0.1:{server.getsockname()[1]}")
        thread.join()
    assert asked == [b"\0\0\0\0\0\0\0\x1b\x06\0\0\0\x0e/files/pagekin"]


def test_a_session_that_has_ended_is_named() -> None:
    from py4j.protocol import Py4JError

    error = "An error occurred while calling o41.range.\n: a.IllegalStateException: Cannot call methods on a stopped"
    with (
        pytest.raises(FailureError, match=r"^Spark gave up: its session has ended, .*run the same command again$"),
        spark._reporting_failures(),
    ):
        raise Py4JError(f"{error} SparkContext.\nThis stopped SparkContext was created at:\n\norg.a.B(C.java:1)")


def test_spark_does_not_change_a_store(sample_index: Path, tmp_path: Path) -> None:
    write_pages(tmp_path / "pages")
    with pytest.raises(MisuseError, match="exists, and --engine spark only builds new stores; name another output"):
        pagekin.build([tmp_path / "pages"], sample_index, engine="spark")


def test_answers_of_a_store_are_found_by_either_engine(session: SparkSession, local: Path, tmp_path: Path) -> None:
    for engine in ("local", "spark"):
        shutil.copytree(local, tmp_path / engine)
        keep_answers(tmp_path / engine, 3, engine=engine)
    assert files_of(tmp_path / "spark") == files_of(tmp_path / "local") != files_of(local)
    assert not (tmp_path / "spark" / "unfinished").exists()
    keep_answers(tmp_path / "spark", 0, engine="spark")
    assert files_of(tmp_path / "spark").keys() == files_of(local).keys()


# One of each kind: a split, both ends of a shuffle, a file in place, jobs over bags, and over an open index.
KILLED = {"splits.read_split", "executors.join_pages", "pieces.place", "shuffle.cut", "signing", "answers"}
EXECUTOR = "CoarseGrainedExecutorBackend"  # its class
IN_CAMPAIGN = os.environ.get("HYPOTHESIS_PROFILE") == "campaign"


@pytest.mark.skipif(sys.platform != "linux", reason="finds the executor of a job in /proc, which only Linux has")
@pytest.mark.parametrize("options", killing.OPTIONS if IN_CAMPAIGN else ["fast"])
def test_executors_that_are_killed_in_their_stages_do_not_change_the_result(
    sources: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    """`local-cluster` starts two executors, each a Java process of its own. They copy the sources from a server.

    In a campaign, one is killed in every stage that such a build has.
    """
    import pyspark

    pagekin.build(sources, tmp_path / "local.kin", processes=1, **killing.OPTIONS[options])
    stages = stages_of(sources, tmp_path / "noted.kin", options, monkeypatch) if IN_CAMPAIGN else KILLED
    (tmp_path / "spark").mkdir()  # executors work in a folder of it
    for name in ("bin", "jars"):
        (tmp_path / "spark" / name).symlink_to(Path(pyspark.__file__).parent / name)
    conf = "--conf spark.executor.memory=512m --conf spark.driver.memory=512m pyspark-shell"
    environment = {"SPARK_HOME": str(tmp_path / "spark"), "PYSPARK_SUBMIT_ARGS": conf}
    (tmp_path / "killed").mkdir()
    with serving(sources[0].parent) as server:
        server.before_bytes = partial(kill_at_second_range, tmp_path / "killed", sources[0].name)
        uris = [server.uri(each.name) for each in sources[:3]] + [f"@{server.uri('list.txt')}"]
        given = [str(tmp_path / "killed"), str(tmp_path / "all.kin"), options, " ".join(sorted(stages)), *uris]
        subprocess.run(
            [sys.executable, killing.__file__, *given], env=os.environ | environment, check=True, timeout=3600
        )
    killed = {path.name: path.read_text() for path in (tmp_path / "killed").iterdir()}
    assert killed.keys() == {"copy", *stages}
    assert all(EXECUTOR in command for command in killed.values())
    assert files_of(tmp_path / "all.kin") == files_of(tmp_path / "local.kin")
    assert_executors_have_copied(server, sources[0])


def stages_of(sources: list[Path], output: Path, options: str, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The stages that a build has."""
    run, shuffle, stages = SerialPool.run, SerialPool.shuffle, set[str]()

    def noted_run(self: SerialPool, function: Any, jobs: Any) -> Any:
        stages.update({killing.stage_of(function)} if len(jobs) else ())
        return run(self, function, jobs)

    def noted_shuffle(self: SerialPool, cut: Any, jobs: Any, join: Any) -> Any:
        stages.update({killing.stage_of(cut), killing.stage_of(join)} if len(jobs) else ())
        return shuffle(self, cut, jobs, join)

    with monkeypatch.context() as patch:
        use_serial_pool(patch)
        killing.divide(patch.setattr)
        patch.setattr(SerialPool, "run", noted_run)
        patch.setattr(SerialPool, "shuffle", noted_shuffle)
        pagekin.build(sources, output, engine="spark", **killing.OPTIONS[options])
    return stages


def kill_at_second_range(folder: Path, name: str, opened: Opened) -> None:
    """Kill the executor that first copies the second range of a file."""
    if (opened.name, opened.offset) == (name, 30_000) and not (folder / "copy").exists():
        process, command = next((process, command) for process, command in opened.processes if EXECUTOR in command)
        (folder / "copy").write_text(command)
        os.kill(process, signal.SIGKILL)


def assert_executors_have_copied(server: WebHdfs, large: Path) -> None:
    """All content went to Java processes of Python on executors, in ranges, and these processes have ended."""
    ranges = range(0, large.stat().st_size, 30_000)
    assert {each.offset for each in server.opened if each.name == large.name} == set(ranges)
    assert {each.offset for each in server.opened if each.name != large.name} >= {0}
    for each in server.opened:
        (java, command), (_, worker), *others = each.processes
        assert "py4j.GatewayServer" in command
        assert "pyspark.daemon" in worker
        assert EXECUTOR in " ".join(command for _, command in others)
        assert not Path(f"/proc/{java}/cmdline").exists() or not Path(f"/proc/{java}/cmdline").read_bytes()
