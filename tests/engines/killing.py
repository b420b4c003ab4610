"""A program that builds on Spark, and kills an executor in each of the stages that it is told.

    python killing.py FOLDER OUTPUT OPTIONS "STAGE ..." SOURCE...

FOLDER gets a file with the name of each stage, which holds the command of the executor that was killed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import pagekin
from pagekin.engines.spark import SparkPool
from pagekin.model.capture import ReadingSettings
from pagekin.model.strategy import PRESETS, Strategy
from pagekin.store import splits, stage_files

# Of builds that have all stages together, but those of sources at URIs.
OPTIONS: dict[str, dict[str, Any]] = {
    "fast": {"answers": 5, "strategy": PRESETS["fast"]},
    "default": {"answers": 5},
    "others": {
        "shards": 2,
        "settings": ReadingSettings(chop_host=True),
        "strategy": Strategy(stemming="stem", silent=("advert",), frequency_weight="okapi"),
    },
}


def divide(patch: Callable[[str, int], Any]) -> None:
    """Let a small collection be divided as a large one."""
    patch("pagekin.engines.hadoop._RANGE_BYTES", 30_000)
    patch("pagekin.store.stage_files._HASHED_BYTES", 1_000_000)
    patch("pagekin.store.executors._RANGE_BYTES", 50_000)
    patch("pagekin.store.choose._GROUP_BYTES", 1)
    patch("pagekin.store.string_ranges._RANGE_BYTES", 100_000)


def stage_of(function: Callable[..., Any]) -> str:
    """The name of a stage with files, or else that of the function of its jobs."""
    while isinstance(function, partial):
        if function.func is stage_files._written:
            return str(function.args[1])
        function = function.func
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__.strip('_')}"


def killing(folder: Path, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; the first call of all kills its executor in the end, before the result is known."""

    def called(*arguments: Any) -> Any:
        result = function(*arguments)
        if isinstance(result, Generator):
            result = list(result)
        marker = Path(folder, stage)
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return result
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        executor = int(daemon.rpartition(")")[2].split()[1])  # the parent of the parent of this process
        marker.write_text(Path(f"/proc/{executor}/cmdline").read_text())
        os.kill(executor, signal.SIGKILL)
        return signal.pause()

    return called


def killing_in_the_middle(folder: Path, stage: str, read_split: Callable[..., Any]) -> Callable[..., Any]:
    """Killed after a batch, before the facts of the split."""

    def called(*arguments: Any) -> Any:
        job = splits.read_job
        splits.read_job = killing(folder, stage, job)
        try:
            return read_split(*arguments)
        finally:
            splits.read_job = job

    return called


def main(folder: str, output: str, options: str, stages: str, *sources: str) -> None:
    run, shuffle = SparkPool.run, SparkPool.shuffle

    def killed(function: Callable[..., Any]) -> Callable[..., Any]:
        stage = stage_of(function)
        if stage not in stages.split():
            return function
        return (killing_in_the_middle if stage == "splits.read_split" else killing)(Path(folder), stage, function)

    def killing_run(pool: SparkPool, function: Any, jobs: Any) -> Any:
        return run(pool, killed(function), jobs)

    def killing_shuffle(pool: SparkPool, cut: Any, jobs: Any, join: Any) -> Any:
        return shuffle(pool, killed(cut), jobs, killed(join))

    with pytest.MonkeyPatch.context() as patch:
        divide(patch.setattr)
        patch.setattr(SparkPool, "run", killing_run)
        patch.setattr(SparkPool, "shuffle", killing_shuffle)
        pagekin.build(sources, output, engine="spark", master="local-cluster[2,1,512]", **OPTIONS[options])


if __name__ == "__main__":
    main(*sys.argv[1:])
