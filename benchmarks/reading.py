"""How fast is reading? HTML bytes to tokens, anchors and blocks, beside selectolax (lexbor) merely parsing them.

`python -m benchmarks.reading` prints the figures and writes `results/reading.json`. Both are timed in turns over
the same bytes in memory, and the best round of each counts.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from benchmarks.agreement import collections
from benchmarks.machine import QUICK, facts, keep
from pagekin.model.capture import Capture, Origin
from pagekin.model.settings import ReadingSettings
from pagekin.pipeline import build
from pagekin.reading.batch import read_captures
from pagekin.urls import path_url

ROUNDS = 2 if QUICK else 5
BATCH = 400
MOST_PAGES = 800 if QUICK else 100_000


def main() -> None:
    """Measure every collection at hand."""
    table = {name: measure(folder) for name, folder in collections().items() if folder.is_dir()}
    for name, row in table.items():
        print(f"{name}: {row['pages']} pages of {row['kilobytes_a_page']} KB")
        print(f"  reading, one process   {row['read_pages_a_second']:8} pages/s")
        print(f"  selectolax, parsing    {row['parse_pages_a_second']:8} pages/s")
        print(f"  reading / parsing      {row['read_to_parse']:8}")
        print(f"  build, one process     {row['build_seconds_1']:8} s, two processes {row['build_seconds_2']} s")
    keep("reading", {"machine": facts("selectolax"), "collections": table})


def measure(folder: Path) -> dict[str, float]:
    """The figures of one collection."""
    files = sorted(folder.rglob("*.htm*"))[:MOST_PAGES]
    captures = [_capture(file, folder) for file in files]
    bodies = [capture.body or b"" for capture in captures]
    _read(captures[:3])  # kernels are compiled or loaded
    reading, parsing = [], []
    for _ in range(ROUNDS):  # in turns: the machine may be busier at one time than at another
        reading.append(_timed(lambda: _read(captures)))
        parsing.append(_timed(lambda: _parse(bodies)))
    return {
        "pages": len(files),
        "kilobytes_a_page": round(sum(map(len, bodies)) / len(bodies) / 1000, 1),
        "read_pages_a_second": round(len(files) / min(reading)),
        "parse_pages_a_second": round(len(files) / min(parsing)),
        "read_to_parse": round(min(parsing) / min(reading), 2),
        "build_seconds_1": round(_build_time(folder, 1), 2),
        "build_seconds_2": round(_build_time(folder, 2), 2),
    }


def _capture(file: Path, folder: Path) -> Capture:
    path = file.relative_to(folder).as_posix()
    body = file.read_bytes()
    return Capture(path_url("http://bench.localhost/", path.encode()), Origin(path, 0, len(body), 0), body=body)


def _read(captures: list[Capture]) -> None:
    for start in range(0, len(captures), BATCH):
        read_captures(captures[start : start + BATCH], ReadingSettings())


def _parse(bodies: list[bytes]) -> None:
    for body in bodies:
        LexborHTMLParser(body)


def _timed(function: Callable[[], None]) -> float:
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def _build_time(folder: Path, processes: int) -> float:
    def once() -> None:
        with tempfile.TemporaryDirectory() as place:
            build([folder], Path(place) / "bench.kin", processes=processes)
            shutil.rmtree(Path(place) / "bench.kin")

    return min(_timed(once) for _ in range(1 if QUICK else 2))


if __name__ == "__main__":
    main()
