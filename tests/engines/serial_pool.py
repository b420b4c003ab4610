"""The jobs of a Spark build in this process, one after the other: for tests of many small collections."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from pagekin.engines.spark import SparkPool


class SerialPool(SparkPool):
    """Jobs and results are pickled, as they are on their way to an executor; values come in another order."""

    def run(self, function: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
        called = pickle.loads(pickle.dumps(function))
        return [pickle.loads(pickle.dumps(called(pickle.loads(pickle.dumps(job))))) for job in jobs]

    def shuffle(
        self,
        cut: Callable[[Any], Iterable[tuple[int, Any]]],
        jobs: Sequence[Any],
        join: Callable[[int, Iterable[Any]], Any],
    ) -> list[Any]:
        values: dict[int, list[bytes]] = {}
        for job in jobs:
            for key, value in cut(pickle.loads(pickle.dumps(job))):
                values.setdefault(key, []).append(pickle.dumps(value))
        return [join(key, map(pickle.loads, reversed(values[key]))) for key in sorted(values)]


def use_serial_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let builds with the engine spark run their jobs in this process."""

    @contextmanager
    def pool(master: str | None, workers: int) -> Iterator[SparkPool]:
        yield SerialPool(workers)

    for module in ("building", "context"):
        monkeypatch.setattr(f"pagekin.pipeline.{module}.spark_pool", pool)
