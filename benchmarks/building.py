"""Building: raw pages to an index, time and memory compared with tantivy.

`python -m benchmarks.building` prints the figures and writes `results/building.json`. Both read the files from disk.
tantivy is given the text and title that selectolax (lexbor) extracts, in one process or, on two processors, also in
two, whichever is faster; its commit and its merges count. Both are held to the same number of processors, since
tantivy has threads beside the one that feeds it. In turns, and the best round of each counts.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import tantivy
from selectolax.lexbor import LexborHTMLParser

from benchmarks.agreement import collections
from benchmarks.machine import QUICK, Figure, facts, keep, kept, peak_megabytes, show, timed
from pagekin.model.files import HTML_SUFFIXES
from pagekin.model.strategy import PRESETS, Strategy
from pagekin.pipeline import Progress, build
from pagekin.search.indexed_store import IndexedStore

ROUNDS = 1 if QUICK else 3
_H_AND_I = ("signatures", "postings", "buckets")
_FEW_LINKS = 4  # the paper leaves pages with fewer out of I
_CHUNK = 64  # pages that are handed to a process at a time


def main() -> None:
    """Measure every collection at hand."""
    figures = []
    for name, folder in collections().items():
        if folder.is_dir():
            print(f"building {name}")
            found = list(measure(name, folder))
            show(found)
            figures += found
    keep("building", {"machine": facts("selectolax", "tantivy"), "figures": kept(figures)})


def measure(name: str, folder: Path) -> Iterator[Figure]:
    """The figures of one collection."""
    files = html_files(folder)
    yield Figure(f"{name}: pages", len(files))
    with tempfile.TemporaryDirectory() as place:
        build([folder], Path(place) / "warm.kin", processes=1)  # kernels are compiled, files are in memory
    for processors in (1, 2):
        ours, theirs = race(folder, files, processors)
        many = f"{processors} processor" + "s" * (processors > 1)
        yield Figure(f"{name}: pagekin, {many}", round(ours, 2), "s")
        yield Figure(f"{name}: tantivy, {many}", round(theirs, 2), "s")
        yield Figure(f"{name}: pagekin's time / tantivy's, {many}", round(ours / theirs, 3), at_most=1.0)
    with tempfile.TemporaryDirectory() as place:
        store = Path(place) / "bench.kin"
        seen = observe(folder, store, 1)
        yield Figure(f"{name}: peak memory of a build, 1 process", round(seen["peak_megabytes"]), "MB")
        yield Figure(f"{name}: H and I, all pages", round(index_bytes(store) / seen["pages"], 1), "bytes a page", 680)
        build([folder], store, strategy=Strategy(min_in_links=_FEW_LINKS))
        share = IndexedStore.open(store).index.inverted.postings.shape[1] / seen["pages"]
        yield Figure(f"{name}: share of pages with {_FEW_LINKS} in-links", round(share, 2))
        size = round(index_bytes(store) / seen["pages"], 1)
        yield Figure(f"{name}: H and I, pages with {_FEW_LINKS} in-links", size, "bytes a page", at_most=390)


def html_files(folder: Path) -> list[Path]:
    """The pages of a folder, as pagekin finds them."""
    return sorted(path for path in folder.rglob("*") if path.name.lower().endswith(HTML_SUFFIXES) and path.is_file())


def race(folder: Path, files: list[Path], processors: int) -> tuple[float, float]:
    """The seconds of the best builds: (pagekin's, tantivy's)."""
    ours, theirs = [], []
    with only(processors):
        for _ in range(ROUNDS):  # in turns: the machine may be busier at one time than at another
            with tempfile.TemporaryDirectory() as place:
                ours.append(timed(lambda: build([folder], Path(place) / "bench.kin", processes=processors)))
            for processes in range(1, processors + 1):
                with tempfile.TemporaryDirectory() as place:
                    pages = extracted(files, processes)
                    theirs.append(timed(partial(tantivy_index, Path(place), pages, processors)))
    return min(ours), min(theirs)


@contextmanager
def only(processors: int) -> Iterator[None]:
    """Let this process, its threads and its children have so many processors."""
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(all_of_them)[:processors])
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


def extracted(files: list[Path], processes: int) -> Iterator[tuple[str, str, str]]:
    """(name, title, text) of pages."""
    if processes == 1:
        yield from map(_extract, files)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_extract, files, chunksize=_CHUNK)


def _extract(file: Path) -> tuple[str, str, str]:
    return (str(file), *text_of(file.read_bytes()))


def text_of(html: bytes) -> tuple[str, str]:
    """(title, text) of a page; selectolax leaves the contents of scripts in the text, where nobody reads them."""
    parser = LexborHTMLParser(html)
    title = parser.css_first("title")
    parser.strip_tags(["script", "style"])
    return title.text() if title else "", parser.body.text(separator=" ") if parser.body else ""


def tantivy_index(folder: Path, pages: Iterable[tuple[str, str, str]], threads: int) -> tantivy.Index:
    """Index pages; more-like-this needs their text stored."""
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("name", stored=True, tokenizer_name="raw")
    schema.add_text_field("title", stored=True)
    schema.add_text_field("text", stored=True)
    index = tantivy.Index(schema.build(), path=str(folder))
    writer = index.writer(num_threads=threads)
    for name, title, text in pages:
        writer.add_document(tantivy.Document(name=name, title=title, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index


def index_bytes(store: Path, names: tuple[str, ...] = _H_AND_I) -> int:
    """Bytes of H and I, or of files whose names begin otherwise."""
    files = [file for folder in store.glob("index-*") for file in folder.iterdir()]
    return sum(file.stat().st_size for file in files if file.name.startswith(names))


def observe(source: Path, store: Path, processes: int, strategy: str = "default") -> dict[str, Any]:
    """Build in a process of its own: its pages, seconds by stage, and peak memory."""
    command = [sys.executable, "-m", "benchmarks.building", str(source), str(store), str(processes), strategy]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def _observed(source: Path, store: Path, processes: int, strategy: str) -> dict[str, Any]:
    """What `observe` gives, of a build in this process."""
    begins: list[tuple[str, float, float]] = []

    def note(progress: Progress) -> None:
        if not begins or begins[-1][0] != progress.stage:
            begins.append((progress.stage, time.perf_counter(), peak_megabytes()))

    built = build([source], store, strategy=PRESETS[strategy], processes=processes, progress=note)
    begins.append(("", time.perf_counter(), peak_megabytes()))
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
    return {
        "pages": built.store.manifest.counts["pages"],
        "seconds": {begin[0]: round(end[1] - begin[1], 3) for begin, end in pairwise(begins)},
        # While there are workers, they and what has been needed until they end; then what was needed at all.
        "peak_megabytes": round(max(begins[-1][2], begins[1][2] + processes * workers)),
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(_observed(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])))
    else:
        main()
