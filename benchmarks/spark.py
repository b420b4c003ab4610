"""Spark: builds on two local executors beside builds by the local engine, on generated webs.

`python -m benchmarks.spark` prints the figures and writes `results/spark.json`: seconds by stage of both engines at
every size, the files that differ, bytes a page, and the memory of the driver. Each build has a process of its own. The
seconds of Spark include the start of its Java processes, which is why the bar is for 100,000 pages on.
`python -m benchmarks.spark SIZE...` measures other sizes. If PAGEKIN_BENCH_DATA names a folder of HTML, its stores are
compared as well. The last figure is the time of the tests in `tests/engines`. The tables of stages, of data and of
estimates in docs/scale.md are made from the largest build on Spark and written, too.

The work of a stage is the processor time of the driver's Python, and the time of its tasks in Spark's log of events.
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
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyspark

from benchmarks import generated
from benchmarks.machine import QUICK, Figure, facts, keep, kept, number, show
from pagekin import sample_web
from pagekin.latent.build import SAMPLE
from pagekin.model.progress import Progress
from pagekin.pipeline import build
from pagekin.search.neighbours import MOST_PAGES

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
SIZES = (2_000, 4_000) if QUICK else (50_000, 100_000, 200_000)
ESTIMATED = (10**6, 45 * 10**6, 2 * 10**9)
_MASTER = "local-cluster[2,1,1024]"
_CORES = 2
_LARGE = 100_000  # pages
_FILES = 8  # of a web; a file is read by one executor
_SERVED = ("postings", "buckets", "signatures", "heads")  # what a question reads at random places
_ENGINES = ("local", "spark")
_LOGGED = {
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1g",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}
_SAMPLED = "latent dimensions"
_LEAST_SECONDS = 0.05  # of a stage in the table
_STAGES = """starting|reading|reading on Spark|collecting what was read|choosing pages|uniting vocabularies
writing pages|sorting links|writing texts and the catalogue|making bags|weighing and signing|latent dimensions
inverting|near-duplicates|calibrating|neighbours|checksums""".replace("\n", "|").split("|")  # in the order of a build
_DATA = {
    "text": ("text", "hrefs"),
    "tokens, blocks, anchors, links": ("tokens", "blocks", "sentences", "titles", "anchors", "links", "nodes"),
    "URLs and catalogue": ("catalog", "targets", "pages", "sources"),
    "vocabulary": ("forms", "words", "terms", "contents"),
    "bags": ("bags", "heads"),
    "signatures (H)": ("signatures",),
    "inverted index (I)": ("postings", "buckets"),
    "chunks and Bloom filters": ("chunks", "filters"),
    "latent vectors, neighbours": ("latent", "neighbours"),
}


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
    if not QUICK:
        figures.append(Figure("tests/engines, by one process", round(seconds_of_tests()), "s", at_most=180))
    show(figures)
    result = {"machine": facts("pyspark"), "figures": kept(figures), "rows": rows}
    keep("spark", result)
    if not QUICK:
        text = PAGE.read_text("utf-8")
        for table in (stages, data, estimates):
            made = table(result)
            begin = re.escape(made.partition("\n")[0])
            text = re.sub(rf"{begin}.*?(?=\n\n)", lambda _, made=made: made, text, flags=re.S)  # type: ignore[misc]
        PAGE.write_text(text, "utf-8")


def seconds_of_tests() -> float:
    """How long the tests of engines take, most of them on Spark; raise CalledProcessError if one fails."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "pytest", "-q", "tests/engines"], check=True, cwd=PAGE.parent.parent)
    return time.perf_counter() - begin


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
        "driver_bytes": seen["spark"]["memory"],
        **{name: seen["spark"][name] for name in ("batch_bytes", "shuffle_bytes", "driver_work", "executor_work")},
        **{engine: seen[engine]["seconds"] for engine in _ENGINES},
    }


def _files(store: Path) -> dict[str, bytes]:
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def observe(engine: str, store: Path, sources: Sequence[Path]) -> dict[str, Any]:
    """Build in a process of its own: pages, seconds by stage, and for Spark also its work and the bytes it moved."""
    with tempfile.TemporaryDirectory() as work:
        settings = _LOGGED | {"spark.eventLog.dir": Path(work).as_uri()}
        given = " ".join([*(f"--conf {name}={value}" for name, value in settings.items()), "pyspark-shell"])
        home = {"SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_WORKER_DIR": f"{work}/workers"}
        command = [sys.executable, "-m", "benchmarks.spark", engine, str(store), *map(str, sources)]
        environment = os.environ | home | {"PYSPARK_SUBMIT_ARGS": given}
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
        seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        tasks = [task for log in Path(work).glob("*-*") if log.is_file() for task in tasks_of(log.read_text("utf-8"))]
    seen["shuffle_bytes"] = sum(task.shuffled for task in tasks)
    seen["executor_work"] = by_stage(tasks, seen.pop("begins"))
    return seen


class Task(NamedTuple):
    """A task of Spark: when it began, in seconds since 1970, how long it ran, and the bytes that it sent to others."""

    begin: float
    seconds: float
    shuffled: int


def tasks_of(log: str) -> Iterator[Task]:
    """The tasks in a log of events."""
    for line in log.splitlines():
        event = json.loads(line)
        if event["Event"] == "SparkListenerTaskEnd" and "Task Metrics" in event:
            metrics = event["Task Metrics"]
            shuffled = metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
            yield Task(event["Task Info"]["Launch Time"] / 1000, metrics["Executor Run Time"] / 1000, shuffled)


def by_stage(tasks: Sequence[Task], begins: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The seconds of the tasks that began in each stage, given the times at which stages began.

    >>> by_stage([Task(3.0, 2.0, 0), Task(8.5, 1.0, 0), Task(9.0, 1.5, 0)], [("read", 2.0), ("sign", 8.0)])
    {'read': 2.0, 'sign': 2.5}
    """
    work = Counter[str]()
    for task in tasks:
        place = max(0, bisect([begin for _, begin in begins], task.begin) - 1)
        work[begins[place][0]] += task.seconds  # type: ignore[assignment]
    return {stage: round(seconds, 2) for stage, seconds in work.items()}


def _observed(engine: str, store: Path, sources: Sequence[Path]) -> dict[str, Any]:
    """What `observe` gives, of a build in this process; the work of the executors is in Spark's log of events."""
    begins = [("starting", time.time(), time.process_time())]
    batches = 0

    def note(progress: Progress) -> None:
        nonlocal batches
        if begins[-1][0] != progress.stage:
            begins.append((progress.stage, time.time(), time.process_time()))
            if progress.stage == "collecting what was read":
                batches = sum(path.stat().st_size for path in (store / "unfinished").iterdir())

    master = _MASTER if engine == "spark" else None
    with _memory_by_stage(lambda: begins[-1][0]) as memory:
        built = build(sources, store, processes=_CORES, engine=engine, master=master, progress=note)
    begins.append(("", time.time(), time.process_time()))
    seconds, work = Counter[str](), Counter[str]()
    for (stage, begin, spent), (_, end, spent_then) in pairwise(begins):
        seconds[stage] += end - begin  # type: ignore[assignment]
        work[stage] += spent_then - spent  # type: ignore[assignment]
    return {
        "pages": len(built.store),
        "seconds": {stage: round(value, 2) for stage, value in seconds.items()},
        "driver_work": {stage: round(value, 2) for stage, value in work.items()},
        "begins": [(stage, begin) for stage, begin, _ in begins],
        "batch_bytes": batches,
        "memory": memory,
    }


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


def stages(result: dict[str, Any]) -> str:
    """A table of the work of every stage in the largest build on Spark, for each page."""
    row = result["rows"][-1]
    lines = ["| stage | driver, ms a page | executors, ms a page | pages a second and core |", "|---|---:|---:|---:|"]
    for stage in sorted(row["spark"], key=_STAGES.index):
        driver, executors = (row[f"{where}_work"].get(stage, 0.0) for where in ("driver", "executor"))
        if driver + executors >= _LEAST_SECONDS:
            cells = [f"{seconds / row['pages'] * 1000:.2g}" for seconds in (driver, executors)]
            lines.append(f"| {stage} | {' | '.join(cells)} | {_two_digits(row['pages'] / (driver + executors))} |")
    return "\n".join(lines)


def data(result: dict[str, Any]) -> str:
    """A table of the bytes of a page that are written or sent."""
    row = result["rows"][-1]
    parts = {"batches of what was read": row["batch_bytes"], "sent from executor to executor": row["shuffle_bytes"]}
    parts |= {name: sum(row["bytes"].get(file, 0) for file in files) for name, files in _DATA.items()}
    lines = ["| data | bytes a page |", "|---|---:|"]
    return "\n".join([*lines, *(f"| {name} | {_two_digits(size / row['pages'])} |" for name, size in parts.items())])


def estimates(result: dict[str, Any]) -> str:
    """A table of costs in proportion to the pages of the largest build on Spark, and of the memory of the driver.

    Neighbours are left out where an index has none.
    """
    row = result["rows"][-1]
    served = sum(row["bytes"].get(name, 0) for name in _SERVED)
    costs = [
        ("batches of what was read", "GB", row["batch_bytes"] / 1e9),
        ("shuffle", "GB", row["shuffle_bytes"] / 1e9),
        ("disk of the finished store", "GB", sum(row["bytes"].values()) / 1e9),
        ("signatures, postings and heads, to be kept in memory", "GB", served / 1e9),
    ]
    lines = [
        "| cost | unit | " + " | ".join(f"{pages:,} pages" for pages in ESTIMATED) + " |",
        "|---|---|---:|---:|---:|",
    ]
    for name, work in (("executors", row["executor_work"]), ("driver", row["driver_work"])):
        values = (_two_digits(_seconds(work, pages) / 3600 / row["pages"] * pages) for pages in ESTIMATED)
        lines.append(f"| work of the {name} | core-hours | " + " | ".join(values) + " |")
    for name, unit, cost in costs:
        values = (_two_digits(cost / row["pages"] * pages) for pages in ESTIMATED)
        lines.append(f"| {name} | {unit} | " + " | ".join(values) + " |")
    if row.get("driver_bytes"):  # a run on Linux
        values = (_two_digits(_driver_bytes(result["rows"], pages) / 1e9) for pages in ESTIMATED)
        lines.append("| memory of the driver, without mapped files | GB | " + " | ".join(values) + " |")
    return "\n".join(lines)


def _seconds(work: dict[str, float], pages: int) -> float:
    """The work of all stages of an index with this number of pages. A large index has no neighbours.

    >>> _seconds({"reading": 2.0, "neighbours": 1.0}, 200_000), _seconds({"reading": 2.0, "neighbours": 1.0}, 10**6)
    (3.0, 2.0)
    """
    return sum(seconds for stage, seconds in work.items() if stage != "neighbours" or pages <= MOST_PAGES)


def _driver_bytes(rows: list[dict[str, Any]], pages: int) -> float:
    """The memory of the driver: of the stage with the most, on a straight line through the smallest and largest build.

    The decomposition has a sample of pages, which does not grow with the collection.

    >>> builds = [{"pages": 100, "driver_bytes": {"sign": 50}}, {"pages": 200, "driver_bytes": {"sign": 60, "read": 5}}]
    >>> _driver_bytes(builds, 1000)
    140.0
    """
    first, last = rows[0], rows[-1]
    needed = []
    for stage, most in last["driver_bytes"].items():
        before = first["driver_bytes"].get(stage, most)
        slope = (most - before) / max(1, last["pages"] - first["pages"])
        size = min(pages, max(SAMPLE, last["pages"])) if stage == _SAMPLED else pages
        needed.append(most + max(0.0, slope) * (size - last["pages"]))
    return float(max(needed))


def _two_digits(value: float) -> str:
    return number(float(f"{value:.2g}"))


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in _ENGINES:
        print(json.dumps(_observed(sys.argv[1], Path(sys.argv[2]), [Path(each) for each in sys.argv[3:]])))
    elif len(sys.argv) > 1:
        main([int(size) for size in sys.argv[1:]])
    else:
        main()
