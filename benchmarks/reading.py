"""Reading: HTML to tokens, anchors and blocks, compared with parsing alone by selectolax (lexbor).

`python -m benchmarks.reading` prints the figures and writes `results/reading.json`. Both take turns over the same
bytes in memory, and the best round of each counts, in time of the processor. Processes read batches from files and
write them to the spool, as a build does. Their speed is that between the first batches and the last ones, when all of
them are at work; how long they take to start stands apart, and is what a build of a small collection mostly waits for.
What a machine gives to two processes that have nothing to do with each other stands beside it: on a busy one it is
less than two.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice, product
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from benchmarks.agreement import collections
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.engines.local import WorkerPool, run
from pagekin.model.capture import Capture, Origin, ReadingSettings
from pagekin.reading.batch import read_captures
from pagekin.store.splits import Job, read_job
from pagekin.urls import path_url
from reading.lexbor import pages_under

ROUNDS = 1 if QUICK else 5
BATCH = 400  # pages
BATCHES = 12 if QUICK else 32  # for processes: the same ones again, until there are so many
MOST_PAGES = 800 if QUICK else 100_000

Work = Callable[[Job], object]


def main() -> None:
    """Measure every collection at hand."""
    figures = []
    for name, folder in collections().items():
        if folder.is_dir():
            print(name)
            measured = [*speed(folder, name), *processes(folder, name)]
            show(measured)
            figures += measured
    keep("reading", {"machine": facts("selectolax"), "figures": kept(figures)})


def speed(folder: Path, name: str) -> list[Figure]:
    """Reading in this process beside parsing."""
    captures = [_loaded(capture) for capture in _captures(folder)]
    bodies = [capture.body or b"" for capture in captures]
    _read(captures[:3])  # kernels are compiled or loaded
    reading, parsing = [], []
    for _ in range(ROUNDS):  # in turns: the machine may be busier at one time than at another
        reading.append(_processor_time(lambda: _read(captures)))
        parsing.append(_processor_time(lambda: _parse(bodies)))
    pages = len(captures)
    return [
        Figure(f"{name}: pages", pages),
        Figure(f"{name}: size of a page", round(sum(map(len, bodies)) / pages / 1000, 1), "KB"),
        Figure(f"{name}: read, one process", round(pages / min(reading)), "pages/s"),
        Figure(f"{name}: parsed by selectolax", round(pages / min(parsing)), "pages/s"),
        Figure(f"{name}: reading / parsing", round(min(parsing) / min(reading), 2), "x", at_least=1.0),
    ]


def processes(folder: Path, name: str) -> list[Figure]:
    """Reading in two processes beside one."""
    captures = _captures(folder)
    batch = min(BATCH, max(1, len(captures) // 8))
    batches = [captures[start : start + batch] for start in range(0, len(captures) - batch + 1, batch)]
    read: Work = partial(read_job, ReadingSettings(), {})
    works: tuple[Work, ...] = (read, parse_job)
    rates: dict[tuple[Work, int], float] = {}
    starts: dict[tuple[Work, int], float] = {}
    for _ in range(ROUNDS):
        for work, count in product(works, (1, 2)):
            moments = list(_moments(work, batches, count))
            first, last = 4, len(moments) - 4  # by then, and until then, all processes have something to do
            rate = (last - first) / (moments[last] - moments[first])
            rates[work, count] = max(rate, rates.get((work, count), 0.0))
            starts[work, count] = min(moments[0], starts.get((work, count), moments[0]))
    ratio, control = (round(rates[work, 2] / rates[work, 1], 2) for work in works)
    return [
        Figure(f"{name}: read by two processes / by one", ratio, "x", at_least=1.7),
        Figure(f"{name}: parsed by two processes / by one", control, "x"),
        Figure(f"{name}: until two processes have started", round(starts[read, 2] - starts[read, 1], 2), "s"),
    ]


def parse_job(job: Job) -> None:
    """What a process does that shares nothing with others: parse the files of a batch."""
    _parse([Path(capture.path).read_bytes() for capture in job[1]])


def _captures(folder: Path) -> list[Capture]:
    """The pages of a folder, still in their files."""
    captures = []
    for file in pages_under(folder)[:MOST_PAGES]:
        path = file.relative_to(folder).as_posix()
        origin = Origin(path, 0, file.stat().st_size, 0)
        captures.append(Capture(path_url("http://bench.localhost/", path.encode()), origin, path=str(file)))
    return captures


def _loaded(capture: Capture) -> Capture:
    return Capture(capture.url, capture.origin, body=Path(capture.path).read_bytes())


def _read(captures: list[Capture]) -> None:
    for start in range(0, len(captures), BATCH):
        read_captures(captures[start : start + BATCH], ReadingSettings())


def _parse(bodies: list[bytes]) -> None:
    for body in bodies:
        LexborHTMLParser(body)


def _processor_time(function: Callable[[], None]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def _moments(work: Work, batches: list[list[Capture]], count: int) -> Iterator[float]:
    """When each batch has been read, in seconds since the beginning."""
    with tempfile.TemporaryDirectory() as place:
        jobs: Iterator[Job] = (
            (Path(place) / f"batch-{number:06}", batch) for number, batch in enumerate(islice(cycle(batches), BATCHES))
        )
        begin = time.perf_counter()
        for _ in run(work, jobs, WorkerPool(count, processes=True)):
            yield time.perf_counter() - begin


if __name__ == "__main__":
    main()
