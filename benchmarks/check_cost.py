"""The cost of checks: all numbers of a store and its index, compared with a build and with a sweep.

`python -m benchmarks.check_cost` builds the sample web, checks every number of the store and its index that leads into
another column, and compares two strategies on it (`pagekin sweep`), in turns; the least processor time of each counts.
A build and a sweep make these checks once. Writes `results/check_cost.json`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from click.testing import CliRunner

from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin import sample_web
from pagekin.cli.main import cli
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from tools.sample_web import write_labels

ROUNDS = 2 if QUICK else 7
_PLAN = """store = "test.kin"
hierarchy = "labels.tsv"
[[figure]]
title = "Windows"
grid = { window_width = [0, 8] }
"""


def main() -> None:
    """Measure."""
    times: dict[str, list[float]] = {"build": [], "checks": [], "sweep": []}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            archive = sample_web.copy_to(Path(place))
            write_labels(Path(place))
            Path("sweep.toml").write_text(_PLAN, "utf-8")
            for _ in range(ROUNDS + 1):
                shutil.rmtree("test.kin", ignore_errors=True)
                shutil.rmtree("swept", ignore_errors=True)
                times["build"].append(_timed(lambda: build([archive], "test.kin", processes=1)))
                times["checks"].append(_timed(_check))
                times["sweep"].append(_timed(_sweep))
        finally:
            os.chdir(before)
    least = {name: min(each[1:]) for name, each in times.items()}  # the first round loads modules
    figures = [Figure(f"{name}: processor time", round(seconds, 4), "s") for name, seconds in least.items()]
    figures += [
        Figure(f"checks / {name}", round(least["checks"] / least[name], 4), at_most=0.05) for name in ("build", "sweep")
    ]
    print("check_cost")
    show(figures)
    keep("check_cost", {"machine": facts(), "figures": kept(figures)})


def _timed(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _check() -> None:
    with closing(IndexedStore.open(Path("test.kin"))) as indexed:
        indexed.verify()


def _sweep() -> None:
    done = CliRunner().invoke(cli, ["sweep", "sweep.toml", "-o", "swept", "--threads", "1"])
    if done.exit_code:
        raise RuntimeError(done.output)


if __name__ == "__main__":
    main()
