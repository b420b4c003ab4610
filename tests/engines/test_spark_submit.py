"""`spark-submit` runs pagekin as a file, with the master and the settings of its own options."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pagekin
from pagekin import sample_web
from pagekin.model.strategy import PRESETS
from pagekin.pipeline import build

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]
PROGRAM = Path(pagekin.__file__).parent / "__main__.py"


def files_of(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def test_a_program_that_is_run_as_a_file_hides_no_modules(tmp_path: Path) -> None:
    """A folder of the package has the name of a module of the standard library."""
    code = f"import runpy; runpy.run_path({str(PROGRAM)!r}); import sys; print(sys.path)"
    environment = os.environ | {"PYTHONPATH": str(PROGRAM.parent)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert repr(str(PROGRAM.parent)) not in done.stdout


def test_spark_submit_builds_the_bytes_of_the_local_engine_on_its_master(tmp_path: Path) -> None:
    import pyspark

    archive = sample_web.copy_to(tmp_path)
    build([archive], tmp_path / "local.kin", processes=1, strategy=PRESETS["fast"])
    home = Path(pyspark.__file__).parent
    log = {"enabled": "true", "compress": "false", "rolling.enabled": "false", "dir": tmp_path.as_uri()}
    settings = {"executor.memory": "512m", **{f"eventLog.{name}": value for name, value in log.items()}}
    given = [word for name, value in settings.items() for word in ("--conf", f"spark.{name}={value}")]
    submit = [str(home / "bin" / "spark-submit"), "--master", "local-cluster[1,1,512]", "--driver-memory", "512m"]
    command = [str(PROGRAM), "build", "--engine", "spark", "--strategy", "fast", str(archive)]
    command += ["-o", str(tmp_path / "spark.kin")]
    environment = os.environ | {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [*submit, *given, *command], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"\n{tmp_path / 'spark.kin'}: 213 pages of 22 hosts" in f"\n{done.stdout}"
    assert files_of(tmp_path / "spark.kin") == files_of(tmp_path / "local.kin")
    (events,) = tmp_path.glob("app-*")
    added = [
        json.loads(line) for line in events.read_text("utf-8").splitlines() if "SparkListenerExecutorAdded" in line
    ]
    assert [event["Executor ID"] for event in added] == ["0"]  # in a build on the driver it is "driver"


def test_without_spark_submit_spark_reports_only_errors(tmp_path: Path) -> None:
    """Java says by itself that it uses an incubator module. No stack trace follows a session that does not start.

    Executors have the folder of compiled kernels that the driver has.
    """
    code = """
from pagekin.engines.spark import spark_pool
from pagekin.errors import MisuseError
try:
    with spark_pool(None, 1):
        pass
except MisuseError as error:
    print(error)
with spark_pool("local[1]", 1) as pool:
    print(pool.run(abs, [-1]), pool.session.conf.get("spark.executorEnv.NUMBA_CACHE_DIR"))
"""
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_CONF_DIR"}
    environment |= {"PYSPARK_SUBMIT_ARGS": "--master local[abc pyspark-shell", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    start = (
        "Spark could not start a session on the master of spark-submit or of PYSPARK_SUBMIT_ARGS, if they name one: "
    )
    reason = "org.apache.spark.SparkException: Could not parse Master URL: 'local[abc'; check the master, and the"
    sentence, results = done.stdout.splitlines()
    assert sentence.startswith(start + reason)
    assert results == f"[1] {tmp_path}"
    by_java = ("WARNING: Using incubator modules", "NOTE: Picked up JDK_JAVA_OPTIONS")
    assert [line for line in done.stderr.splitlines() if not line.startswith(by_java)] == []
