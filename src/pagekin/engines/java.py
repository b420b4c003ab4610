"""A process of an executor copies byte ranges of files that only Hadoop's file systems open.

Python on an executor has no connection to Java. So each process starts a small Java process with the jars of Spark, and
copies with it: no content passes through Python. It ends some seconds after the last copy, or with its parent.
"""

import os
import re
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

from pagekin.errors import FailureError, MisuseError, PagekinError, SourceError

_OPTIONS = ["-Xmx256m", "-XX:+UseSerialGC"]
_IDLE = 10.0  # seconds until Java ends
_ATTEMPTS = 3
_PAUSE = 1.0  # seconds after the first attempt; longer after later ones
_NO_FILE_SYSTEM = re.compile(r"UnsupportedFileSystemException|ClassNotFoundException: Class \S+ not found")
_LASTING = ("AccessControl", "AccessDenied", "UnsupportedFileSystem", "ClassNotFound")


class JavaSettings(NamedTuple):
    """What Java needs on an executor: settings of Hadoop that differ from its defaults, where classes are, options."""

    hadoop: dict[str, str]
    class_path: list[str]
    options: list[str]


class RemoteFile(NamedTuple):
    """A file as it was listed."""

    uri: str
    size: int
    modified: int  # milliseconds


def java_path() -> str | None:
    """The command `java` of JAVA_HOME, or else of the PATH."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home, "bin")) if home else None)


def error_of(uri: str, error: Any, action: str) -> PagekinError:
    """An error of Java in one sentence; `action` is what was not possible, such as "copied"."""
    cause, where = error.java_exception, f"on {socket.gethostname()}"
    kind, reason = cause.toString(), (cause.getMessage() or cause.toString()).splitlines()[0]
    if _NO_FILE_SYSTEM.search(kind):
        scheme = uri.partition(":")[0]
        return MisuseError(
            f"{uri} cannot be opened: Spark has no file system for {scheme} {where} ({reason}); add its package with"
            " `spark-submit --packages`"
        )
    return SourceError(f"{uri} cannot be {action} {where}: {reason}")


class _Java:
    """A Java process, and the file systems that it opens."""

    def __init__(self, settings: JavaSettings) -> None:
        self.settings = settings
        self._process, self._gateway = _start(settings)
        self._jvm = self._gateway.jvm
        self._configuration = self._jvm.org.apache.hadoop.conf.Configuration()
        for name, value in settings.hadoop.items():
            self._configuration.set(name, value)
        self._jvm.org.apache.hadoop.security.UserGroupInformation.setConfiguration(self._configuration)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        from py4j.protocol import Py4JError

        with suppress(Py4JError, OSError):  # it may have ended
            self._gateway.shutdown()  # py4j then reports no objects of Java that Python releases
        self._process.kill()
        self._process.stdin.close()

    def copy(self, file: RemoteFile, begin: int, end: int, target: Path) -> None:
        """Copy a range of a file to the same place in `target`, which gets the size of the file."""
        path = self._jvm.org.apache.hadoop.fs.Path(file.uri)
        system = path.getFileSystem(self._configuration)
        copied = 0
        if begin < end:
            source = system.open(path)
            try:
                source.seek(begin)
                copied = self._write(source, file.size, begin, end, target)
            finally:
                source.close()
        status = system.getFileStatus(path)
        if (copied, status.getLen(), status.getModificationTime()) != (end - begin, file.size, file.modified):
            raise _changed(file)

    def _write(self, source: Any, size: int, begin: int, end: int, target: Path) -> int:
        """Write a range of a stream to the disk; return the number of bytes."""
        file = self._jvm.java.io.RandomAccessFile(str(target), "rw")
        try:
            file.setLength(size)
            # Not IOUtils.copyBytes: py4j calls the variant that takes a buffer size in place of a count below 2^31.
            channel = self._jvm.java.nio.channels.Channels.newChannel(source)
            copied = int(file.getChannel().transferFrom(channel, begin, end - begin))
            file.getFD().sync()
            return copied
        finally:
            file.close()


def _changed(file: RemoteFile) -> SourceError:
    return SourceError(f"{file.uri} has changed while it was copied; run the same command again")


def copy_range(settings: JavaSettings, file: RemoteFile, begin: int, end: int, target: Path) -> None:
    """Copy a range of a file to the same place in `target`, which may be done twice.

    Raise SourceError if that does not succeed, or if the file is no longer as it was listed.
    """
    from py4j.protocol import Py4JError, Py4JJavaError

    try:
        target.touch()
    except OSError as error:
        where = f"on {socket.gethostname()}"
        raise FailureError(f"{target} cannot be written {where}: {error.strerror or error}") from error
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with _java(settings) as java:
                java.copy(file, begin, end, target)
            return
        except Py4JJavaError as error:
            kind = error.java_exception.toString()
            if "EOFException" in kind:
                raise _changed(file) from error
            if "FileNotFoundException" in kind:
                raise SourceError(
                    f"{file.uri} cannot be seen on {socket.gethostname()}, where it is copied; it was removed in the"
                    " meantime, or only the driver sees it"
                ) from error
            if attempt == _ATTEMPTS or any(each in kind for each in _LASTING):
                raise error_of(file.uri, error, "copied") from error
        except Py4JError as error:  # it has ended, perhaps because memory ran out
            stop_java()
            if attempt == _ATTEMPTS:
                where = f"on {socket.gethostname()}"
                raise FailureError(f"Java has ended {where} while it copied {file.uri}: {error}") from error
        time.sleep(attempt * _PAUSE)


_lock = threading.Lock()
_running: _Java | None = None
_timer: threading.Timer | None = None


@contextmanager
def _java(settings: JavaSettings) -> Iterator[_Java]:
    """The Java process of this process, which no other thread uses meanwhile."""
    global _running, _timer
    with _lock:
        if _timer is not None:
            _timer.cancel()
        if _running is not None and (_running.settings != settings or not _running.is_running):
            _running.stop()
            _running = None
        if _running is None:
            _running = _Java(settings)
        try:
            yield _running
        finally:
            _timer = threading.Timer(_IDLE, stop_java)
            _timer.daemon = True
            _timer.start()


def stop_java() -> None:
    """End the Java process of this process, if there is one."""
    global _running
    with _lock:
        if _running is not None:
            _running.stop()
            _running = None


def _start(settings: JavaSettings) -> tuple[Any, Any]:
    """A Java process, and the connection to it; raise FailureError if it does not start."""
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    java, where = java_path(), f"on {socket.gethostname()}, where sources at URIs are copied"
    if java is None:
        raise FailureError(
            f"there is no `java` in JAVA_HOME or in the PATH {where}; install Java 17 or later there, or set"
            " spark.executorEnv.JAVA_HOME"
        )
    user = os.environ.get("SPARK_USER")  # Hadoop's file systems see the user of the driver, if there is no Kerberos
    options = [*_OPTIONS, *settings.options, *([f"-DHADOOP_USER_NAME={user}"] if user else [])]
    with TemporaryFile() as errors:
        try:
            port, token, process = launch_gateway(
                jarpath=sys.prefix,  # a folder that exists; the jar of py4j is among those of Spark
                classpath=os.pathsep.join(_class_path(settings)),
                javaopts=options,
                java_path=java,
                die_on_exit=True,
                enable_auth=True,
                return_proc=True,
                redirect_stderr=errors,
            )
        except (OSError, ValueError) as error:  # the latter if there is no port in what it writes
            errors.seek(0)
            said = errors.read(10_000).decode("utf-8", "replace").strip() or str(error)
            raise FailureError(f"{java} does not start {where}: {said.splitlines()[0]}") from error
    return process, JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))


def _class_path(settings: JavaSettings) -> list[str]:
    """Where the classes of Spark, and of packages that were sent with the job, are on this machine."""
    from pyspark import SparkFiles
    from pyspark.find_spark_home import _find_spark_home

    folders = []
    if SparkFiles._is_running_on_worker:
        folders.append(f"{SparkFiles.getRootDirectory()}/*")
    folders += [os.environ[name] for name in ("CLASSPATH", "SPARK_DIST_CLASSPATH") if os.environ.get(name)]
    with suppress(SystemExit):  # there is no such folder
        folders.append(f"{_find_spark_home()}/jars/*")
    return [*folders, *settings.class_path]
