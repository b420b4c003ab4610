"""Spark: builds on two local executors beside builds by the local engine, on generated webs.

`python -m benchmarks.spark` prints the figures and writes `results/spark.json`: seconds by stage of both engines at
every size, the files that differ, bytes a page, and the memory of the driver. Each build has a process of its own. The
seconds of Spark include the start of its Java processes, which is why the bar is for 100,000 pages on.
`python -m benchmarks.spark SIZE...` measures other sizes. If PAGEKIN_BENCH_DATA names a folder of HTML, its stores are
compared as well. The table of estimates in docs/scale.md is made from the largest build (`estimates`) and written, too.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyspark

from benchmarks import generated
from benchmarks.machine import QUICK, Figure, facts, keep, kept, number, show
from pagekin import sample_web
from pagekin.pipeline import Progress, build

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
SIZES = (2_000, 4_000) if QUICK else (50_000, 100_000, 200_000)
ESTIMATED = (10**6, 45 * 10**6, 2 * 10**9)
_MASTER = "local-cluster[2,1,1024]"
_CORES = 2
_LARGE = 100_000  # pages
_FILES = 8  # of a web; a file is read by one executor
_READ = ("reading", "reading on Spark")
_SERVED = ("postings", "buckets", "signatures", "heads")  # what a question reads at random places
_MERGED = ("collecting", "choosing", "uniting", "writing", "sorting")  # the first word of the stages after reading
_ENGINES = ("local", "spark")


def main(sizes: Sequence[int] = SIZES) -> None:
    """Measure every size."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        differing = {"sample web": measure(folder, [sample_web.copy_to(folder)])["differing"]}
    if given := os.environ.get("PAGEKIN_BENCH_DATA"):
        with tempfile.TemporaryDirectory() as place:
            differing[Path(given).name] = measure(Path(place), [Path(given)])["differing"]
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            rows.append(measure(Path(place), write(Path(place), size)))
        local, spark = (sum(rows[-1][engine].values()) for engine in _ENGINES)
        print(f"spark: {size:,} pages in {spark:.1f} s, by the local engine in {local:.1f} s", flush=True)
    figures = list(summary(rows, differing))
    show(figures)
    result = {"machine": facts("pyspark"), "figures": kept(figures), "rows": rows}
    keep("spark", result)
    if not QUICK:
        text = PAGE.read_text("utf-8")
        PAGE.write_text(re.sub(r"\| cost \|.*?(?=\n\n)", lambda _: estimates(result), text, flags=re.S), "utf-8")


def write(folder: Path, size: int) -> list[Path]:
    """Write a web into several files of JSON lines."""
    paths = [folder / f"web-{k}.jsonl" for k in range(_FILES)]
    lines = list(generated.Web(size).lines())
    for k, path in enumerate(paths):
        path.write_text("".join(lines[k::_FILES]), "utf-8")
    return paths


def measure(folder: Path, sources: Sequence[Path]) -> dict[str, Any]:
    """Build by both engines; what was seen, and how many files differ."""
    seen: dict[str, Any] = {engine: observe(engine, folder / f"{engine}.kin", sources) for engine in _ENGINES}
    local, spark = (_files(folder / f"{engine}.kin") for engine in _ENGINES)
    sizes = Counter[str]()
    for name, data in local.items():
        sizes[Path(name).name.split(".")[0]] += len(data)
    return {
        "pages": seen["local"]["pages"],
        "differing": sum(local.get(name) != spark.get(name) for name in local.keys() | spark.keys()),
        "bytes": dict(sizes.most_common()),
        "batch_bytes": seen["spark"]["batch_bytes"],
        "driver_bytes": seen["spark"]["memory"],
        **{engine: seen[engine]["seconds"] for engine in _ENGINES},
    }


def _files(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def observe(engine: str, store: Path, sources: Sequence[Path]) -> dict[str, Any]:
    """Build in a process of its own: pages, seconds by stage, and the bytes of what the executors wrote."""
    with tempfile.TemporaryDirectory() as work:
        memory = "--conf spark.driver.memory=1g --conf spark.executor.memory=1g pyspark-shell"
        home = {"SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_WORKER_DIR": work}
        command = [sys.executable, "-m", "benchmarks.spark", engine, str(store), *map(str, sources)]
        environment = os.environ | home | {"PYSPARK_SUBMIT_ARGS": memory}
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


def _observed(engine: str, store: Path, sources: Sequence[Path]) -> dict[str, Any]:
    """What `observe` gives, of a build in this process."""
    begins = [("starting", time.perf_counter())]
    batches = 0

    def note(progress: Progress) -> None:
        nonlocal batches
        if begins[-1][0] != progress.stage:
            begins.append((progress.stage, time.perf_counter()))
            if progress.stage == "collecting what was read":
                batches = sum(path.stat().st_size for path in (store / "unfinished").iterdir())

    master = _MASTER if engine == "spark" else None
    with _memory_by_stage(lambda: begins[-1][0]) as memory:
        built = build(sources, store, processes=_CORES, engine=engine, master=master, progress=note)
    begins.append(("", time.perf_counter()))
    seconds = Counter[str]()
    for (stage, begin), (_, end) in pairwise(begins):
        seconds[stage] += end - begin  # type: ignore[assignment]
    rounded = {stage: round(value, 2) for stage, value in seconds.items()}
    return {"pages": len(built.store), "seconds": rounded, "batch_bytes": batches, "memory": memory}


@contextmanager
def _memory_by_stage(stage: Callable[[], str]) -> Iterator[dict[str, int]]:
    """The most memory of its own, without mapped files, that this process takes in each stage; empty without /proc."""
    peaks: dict[str, int] = {}
    status, ended = Path("/proc/self/status"), threading.Event()

    def own() -> int:
        found = re.search(r"RssAnon:\s+(\d+) kB", status.read_text())
        return 1024 * int(found[1]) if found else 0

    def watch() -> None:
        while not ended.wait(0.02):
            name = stage()
            peaks[name] = max(peaks.get(name, 0), own() - before)

    before = own() if status.exists() else 0
    thread = threading.Thread(target=watch, daemon=True)
    if before:
        thread.start()
    yield peaks
    ended.set()
    if before:
        thread.join()


def summary(rows: list[dict[str, Any]], differing: dict[str, int]) -> Iterator[Figure]:
    """The figures that have bars."""
    for name, count in differing.items():
        yield Figure(f"{name}: files that differ between the engines", count, at_most=0)
    for row in rows:
        name = f"{number(row['pages'])} generated pages"
        yield Figure(f"{name}: files that differ between the engines", row["differing"], at_most=0)
        most = 4 if row["pages"] >= _LARGE else None
        yield Figure(f"{name}: seconds on Spark / seconds of the local engine", round(_ratio(row), 2), at_most=most)
    first, last = rows[0], rows[-1]
    if first is last:
        return
    span = f"{number(first['pages'])} to {number(last['pages'])} pages"
    yield Figure(f"the same ratio, {span}: last / first", round(_ratio(last) / _ratio(first), 2), at_most=1)
    slope = sum(last["spark"].values()) / last["pages"] / (sum(first["spark"].values()) / first["pages"])
    yield Figure(f"seconds a page on Spark, {span}: last / first", round(slope, 2), at_most=1.25)


def _ratio(row: dict[str, Any]) -> float:
    return float(sum(row["spark"].values()) / sum(row["local"].values()))


def estimates(result: dict[str, Any]) -> str:
    """A table of costs, each in proportion to the pages of the largest build."""
    row = result["rows"][-1]
    seconds = Counter[str]()
    for stage, value in row["local"].items():
        seconds["read" if stage in _READ else "merge" if stage.startswith(_MERGED) else "index"] += value
    disk = sum(row["bytes"].values())
    served = sum(row["bytes"].get(name, 0) for name in _SERVED)
    costs = [
        ("reading", "core-hours", seconds["read"] * _CORES / 3600),
        ("merging into a store", "core-hours", seconds["merge"] * _CORES / 3600),
        ("indexing", "core-hours", seconds["index"] * _CORES / 3600),
        ("batches, written and read by executors", "GB", row["batch_bytes"] / 1e9),
        ("disk", "GB", disk / 1e9),
        ("signatures, postings and heads, to be kept in memory", "GB", served / 1e9),
    ]
    if driver := row.get("driver_bytes"):  # a run on Linux
        stored = max(value for stage, value in driver.items() if stage.startswith(_MERGED))
        costs.append(("memory of the driver, until the store is written", "GB", stored / 1e9))
    lines = [
        "| cost | unit | " + " | ".join(f"{pages:,} pages" for pages in ESTIMATED) + " |",
        "|---|---|---:|---:|---:|",
    ]
    for name, unit, cost in costs:
        values = (number(float(f"{cost / row['pages'] * pages:.2g}")) for pages in ESTIMATED)
        lines.append(f"| {name} | {unit} | " + " | ".join(values) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in _ENGINES:
        print(json.dumps(_observed(sys.argv[1], Path(sys.argv[2]), [Path(each) for each in sys.argv[3:]])))
    elif len(sys.argv) > 1:
        main([int(size) for size in sys.argv[1:]])
    else:
        main()
