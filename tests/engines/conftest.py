"""What the tests on Spark share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pagekin.engines.spark import spark_pool

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[2,3]"  # two threads, three attempts


@pytest.fixture(scope="package", autouse=True)
def _java_that_compiles_little() -> Iterator[None]:
    """Java processes end after seconds: with all their optimisation, these tests take one and a half times as long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture(scope="package")
def spark_session() -> Iterator[SparkSession]:
    """One session for all tests: starting it takes longer than a build."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with spark_pool(MASTER, 1) as pool:
            assert pool.session is not None
            yield pool.session
