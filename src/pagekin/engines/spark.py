"""Run a function over many jobs on the executors of a Spark cluster.

Jobs and results are small values: they travel in Arrow batches, and all results are collected by the driver. What is
large travels between executors (`shuffle`), or lies in files that the driver and all executors see. A job of a lost
executor runs again on another one, so a function that writes a file must be able to write it twice.
"""

import os
import pickle
import re
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from pagekin.engines.java import java_path
from pagekin.engines.local import WorkerPool
from pagekin.errors import FailureError, MisuseError, PagekinError, need

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Job = TypeVar("Job")
Result = TypeVar("Result")
Value = TypeVar("Value")
_SECONDS_TO_ANSWER = 20.0  # of a master, or of `java -version`
_JAVA = 17
_LOCAL = re.compile(r"local(\[(\*|[1-9]\d*)( *, *\d+)?\]|-cluster\[ *\d+ *, *\d+ *, *\d+ *\])?")
_ENDED = "stopped SparkContext"  # in what Spark says where the session has ended
_TASKS = 8  # of a stage at most, for each processor: a task takes some time to start, however short its jobs are
_RESULT = "number long, result binary"
_SETTINGS = {"spark.sql.execution.arrow.maxRecordsPerBatch": "1"}  # a job may take minutes
_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


@dataclass(frozen=True)
class SparkPool(WorkerPool):
    """The executors of a Spark session; `map` still uses threads of the driver."""

    session: "SparkSession | None" = None

    def run(self, function: Callable[[Job], Result], jobs: Sequence[Job]) -> list[Result]:
        """The results of `function` on every job, in the order of the jobs.

        A PagekinError of the function is raised here as it is. Any other error makes Spark run the job again, up to its
        limit (`spark.task.maxFailures`).
        """
        if not jobs:
            return []
        with _reporting_failures():
            rows = self._numbers(jobs).mapInArrow(partial(_each, function, _packed(jobs)), _RESULT).collect()
        return _outcomes(rows)

    def shuffle(
        self,
        cut: Callable[[Job], Iterable[tuple[int, Value]]],
        jobs: Sequence[Job],
        join: Callable[[int, Iterable[Value]], Result],
    ) -> list[Result]:
        """`cut` gives values with keys; the results of `join` on the values of each key, in the order of the keys.

        The values travel between executors. They come in any order.
        """

        def joined(table: Any) -> Any:  # no partial: Spark looks at its signature
            return _join(join, table)

        with _reporting_failures():
            values = self._numbers(jobs).mapInArrow(partial(_cut, cut, _packed(jobs)), "number long, value binary")
            rows = values.groupBy("number").applyInArrow(joined, _RESULT).collect()
        return _outcomes(rows)

    def _numbers(self, jobs: Sequence[Any]) -> "DataFrame":
        """The numbers of the jobs, each in a partition of its own, or a few where there are very many jobs.

        The jobs are sent with the function: without a shuffle of jobs, there is one stage of Spark instead of three.
        """
        assert self.session is not None
        partitions = min(len(jobs), _TASKS * self.session.sparkContext.defaultParallelism)
        return self.session.range(0, len(jobs), 1, max(1, partitions))


def _packed(jobs: Sequence[Any]) -> list[bytes]:
    """Each job as bytes: a task only unpacks its own."""
    return [pickle.dumps(job) for job in jobs]


def _each(function: Callable[[Any], Any], jobs: list[bytes], batches: Iterable[Any]) -> Iterator[Any]:
    """On an executor: the result of each job."""
    import pyarrow as pa

    for batch in batches:
        results = [pickle.dumps(_attempt(function, pickle.loads(jobs[k]))) for k in batch["id"].to_pylist()]
        yield pa.RecordBatch.from_pydict({"number": batch["id"], "result": results})


def _cut(cut: Callable[[Any], Iterable[tuple[int, Any]]], jobs: list[bytes], batches: Iterable[Any]) -> Iterator[Any]:
    """On an executor: the values of each job, with their keys."""
    import pyarrow as pa

    for batch in batches:
        for k in batch["id"].to_pylist():
            for key, value in cut(pickle.loads(jobs[k])):
                yield pa.RecordBatch.from_pydict({"number": [key], "value": [pickle.dumps(value)]})


def _join(join: Callable[[int, Iterable[Any]], Any], table: Any) -> Any:
    """On an executor: the result of the values of a key."""
    import pyarrow as pa

    key = table["number"][0].as_py()
    values = (pickle.loads(each.as_py()) for each in table["value"])
    return pa.table({"number": [key], "result": [pickle.dumps(_attempt(partial(join, key), values))]})


def _outcomes(rows: list[Any]) -> list[Any]:
    """The results of all jobs in their order; raise the first PagekinError among them."""
    outcomes = [pickle.loads(result) for _, result in sorted((row.number, bytes(row.result)) for row in rows)]
    for outcome in outcomes:
        if isinstance(outcome, PagekinError):
            raise outcome
    return outcomes


def _attempt(function: Callable[[Job], Result], job: Job) -> Result | PagekinError:
    """The result, or the error that another attempt would meet again."""
    try:
        return function(job)
    except PagekinError as error:
        return error


@contextmanager
def _reporting_failures() -> Iterator[None]:
    """Turn an error of Spark into a FailureError with its last words."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        reason = _reason(error)
        if _ENDED in reason:
            reason = "its session has ended, as it does if its master is lost or does not answer"
        raise FailureError(
            f"Spark gave up: {reason}; the logs of its executors say more. Stages that are finished are kept:"
            " run the same command again"
        ) from error


@contextmanager
def _reporting_start(master: str | None) -> Iterator[None]:
    """Turn an error of a session that does not start into one that names the master."""
    from py4j.protocol import Py4JError

    try:
        yield
    except (RuntimeError, Py4JError, ConnectionError) as error:  # the first are also those of PySpark
        named = (
            f"on {master}" if master else "on the master of spark-submit or of PYSPARK_SUBMIT_ARGS, if they name one"
        )
        reason = _reason(error)
        kind = MisuseError if "Master URL" in reason else FailureError
        raise kind(
            f"Spark could not start a session {named}: {reason}; check the master, and the settings of Spark"
            " (spark-submit --conf, or PYSPARK_SUBMIT_ARGS)"
        ) from error


def _reason(error: Exception) -> str:
    r"""The cause of an error of Spark: the last line that names an exception, or else the first.

    >>> print(_reason(ValueError("An error occurred.\n: a.SparkException: no room\n\tat a.B(C.scala:1)")))
    a.SparkException: no room
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.lstrip().startswith("at ")]
    reason = next((line for line in reversed(lines) if "Error" in line or "Exception" in line), [*lines, ""][0])
    return reason.removeprefix("Caused by:").lstrip(": ")[:300] or type(error).__name__


@contextmanager
def spark_pool(master: str | None, workers: int) -> Iterator[SparkPool]:
    """The session of this process, which stays open; else a new one with this master, which is closed afterwards.

    Without a master, that of `spark-submit` or of PYSPARK_SUBMIT_ARGS counts, or else all processors of this machine.
    """
    need("pyspark", "pyarrow", "pandas", what="--engine spark", extra="spark")
    _need_java()
    _check_master(master)
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        yield SparkPool(workers, session=running)
        return
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("pagekin")
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ  # then spark-submit decides how much is reported
    settings = _SETTINGS if submitted else _SETTINGS | _QUIET | _log_settings()
    if folder := os.environ.get("NUMBA_CACHE_DIR"):  # a command has compiled what it needs into it
        settings = settings | {"spark.executorEnv.NUMBA_CACHE_DIR": folder}
    for name, value in settings.items():
        builder = builder.config(name, value)
    if master is not None:
        builder = builder.master(master)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pyspark, of pandas
        with _reporting_start(master):
            session = builder.getOrCreate()
            if session.sparkContext._jsc.sc().isStopped():
                raise RuntimeError("it has ended at once, as it does if the master does not answer")
        try:
            yield SparkPool(workers, session=session)
        finally:
            session.stop()


def _log_settings() -> dict[str, str]:
    """Let Spark report errors only, unless its own folder of settings says something else.

    Options of the user, such as another `-Dlog4j2.configurationFile`, come after the default options, and count.
    """
    from pyspark.find_spark_home import _find_spark_home

    folder = Path(os.environ.get("SPARK_CONF_DIR") or Path(_find_spark_home(), "conf"))
    if any(file.suffix != ".template" for file in folder.glob("log4j2.*")):
        return {}
    file = (Path(__file__).parent / "log4j2.properties").as_uri()
    return {"spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile={file}"}


def _need_java() -> None:
    """Raise MisuseError, which says what to install, unless there is a Java that Spark can use."""
    home, java = os.environ.get("JAVA_HOME"), java_path()
    if java is None:
        found = f"there is no `java` {f'in JAVA_HOME, {home}' if home else 'in the PATH'}"
    else:
        found = _fault_of(java)
    if found:
        raise MisuseError(
            f"--engine spark needs Java {_JAVA} or later, and {found}; install one"
            f" (on Debian: apt-get install openjdk-{_JAVA}-jre-headless), or set JAVA_HOME"
        )


@cache
def _fault_of(java: str) -> str:
    """Why Spark cannot use this command, or an empty string."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, timeout=_SECONDS_TO_ANSWER, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{java} does not run ({error})"
    said = (done.stderr + done.stdout).decode("utf-8", "replace")
    version = re.search(r'version "(?:1\.)?(\d+)', said)  # of Java 8, it is "1.8.0"
    if done.returncode or version is None:
        return f"{java} does not run ({[*said.splitlines(), 'it says nothing'][0]})"
    return f"{java} is Java {version[1]}" if int(version[1]) < _JAVA else ""


def _check_master(master: str | None) -> None:
    """Raise MisuseError if the master is malformed, FailureError if it is a standalone one that does not answer."""
    if master is None or _LOCAL.fullmatch(master) or master.startswith("k8s://"):
        return
    if master == "yarn":
        if not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
            raise MisuseError(
                "--master yarn needs the configuration of the cluster, and neither HADOOP_CONF_DIR nor YARN_CONF_DIR is"
                " set; set one of them to its folder"
            )
        return
    if not master.startswith("spark://"):
        raise MisuseError(
            f"--master {master!r} is no master of Spark; name local[N], spark://HOST:PORT, yarn or k8s://URL"
        )
    failures = []
    for each in master.removeprefix("spark://").split(","):
        try:
            address = urlsplit(f"//{each}")
            if not address.hostname:
                raise ValueError("it names no host")
            _ask_master(address.hostname, address.port or 7077)
            return
        except (OSError, ValueError) as error:
            failures.append(f"{each}: {error}")
    raise FailureError(f"no master of Spark answers at {master} ({'; '.join(failures)}); start it, or name another one")


def _ask_master(host: str, port: int) -> None:
    """Raise OSError if nothing answers: Spark would wait for a minute, and not say why it ends.

    The question is a StreamRequest of Spark's network protocol for a stream that there is not. A master says so; one
    that wants another protocol, such as TLS, closes the connection. Both are answers.
    """
    name = b"/files/pagekin"
    question = b"\x06" + len(name).to_bytes(4, "big") + name
    with socket.create_connection((host, port), _SECONDS_TO_ANSWER) as connection:
        connection.sendall((8 + len(question)).to_bytes(8, "big") + question)
        with suppress(ConnectionError):
            connection.recv(1)
