"""Building: raw pages to an index, time and memory compared with tantivy; and a build after one page was added.

`python -m benchmarks.building` prints the figures and writes `results/building.json`. Both read the files from disk.
tantivy is given the text and title that selectolax (lexbor) extracts, in one process or, on two processors, also in
two, whichever is faster; its commit and its merges count. Both are held to the same number of processors, since
tantivy has threads beside the one that feeds it. In turns, and the best round of each counts. pagekin builds by its
`fast` strategy, which has text alone as tantivy does, and by its default blend.

A build after one page was added is compared by processor time with a build of the same pages from scratch, each in a
process of its own; both must write the same bytes.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
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
from benchmarks.machine import QUICK, Figure, facts, keep, kept, peak_megabytes, show, timed, watched_memory
from pagekin.model.files import HTML_SUFFIXES
from pagekin.model.progress import Progress
from pagekin.model.strategy import PRESETS, Strategy
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.columns import checksum

ROUNDS = 1 if QUICK else 3
# pagekin's time / tantivy's, by strategy: at most, on one processor and on two.
BARS = {"fast": (1.2, 1.3), "default": (2.0, 2.0)}
ADDED = "<html><title>An added page</title><p>Otters live in rivers, and eat fish; so do herons and kingfishers."
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
        yield Figure(f"{name}: tantivy, {many}", round(theirs, 2), "s")
        for preset, seconds in ours.items():
            yield Figure(f"{name}: pagekin, {preset}, {many}", round(seconds, 2), "s")
            bar, ratio = BARS[preset][processors - 1], round(seconds / theirs, 3)
            yield Figure(f"{name}: pagekin's time, {preset} / tantivy's, {many}", ratio, at_most=bar)
    yield from page_added(name, folder)
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


def race(folder: Path, files: list[Path], processors: int) -> tuple[dict[str, float], float]:
    """The seconds of the best builds: (pagekin's by strategy, tantivy's)."""
    ours: dict[str, list[float]] = {preset: [] for preset in BARS}
    theirs = []
    with only(processors):
        for _ in range(ROUNDS):  # in turns: the machine may be busier at one time than at another
            for preset, seconds in ours.items():
                with tempfile.TemporaryDirectory() as place:
                    make = partial(build, strategy=PRESETS[preset], processes=processors)
                    seconds.append(timed(partial(make, [folder], Path(place) / "bench.kin")))
            for processes in range(1, processors + 1):
                with tempfile.TemporaryDirectory() as place:
                    pages = extracted(files, processes)
                    theirs.append(timed(partial(tantivy_index, Path(place), pages, processors)))
    return {preset: min(seconds) for preset, seconds in ours.items()}, min(theirs)


def page_added(name: str, folder: Path) -> Iterator[Figure]:
    """The processor time of a build after one page was added / of a build from scratch."""
    with tempfile.TemporaryDirectory() as place:
        source, store, fresh = (Path(place) / each for each in ("pages", "bench.kin", "fresh.kin"))
        shutil.copytree(folder, source)
        for preset in BARS:
            added, all_pages = [], []
            for _ in range(ROUNDS):
                shutil.rmtree(store, ignore_errors=True)
                shutil.rmtree(fresh, ignore_errors=True)
                (source / "added.html").unlink(missing_ok=True)
                observe(source, store, 1, preset)
                (source / "added.html").write_text(ADDED, "utf-8")
                added.append(observe(source, store, 1, preset)["processor_seconds"])
                all_pages.append(observe(source, fresh, 1, preset)["processor_seconds"])
                if contents(store) != contents(fresh):
                    raise SystemExit(f"{name}: a page was added, and the bytes are not those of a build from scratch")
            ratio = round(min(added) / min(all_pages), 3)
            yield Figure(f"{name}: {preset}, processor time after one page was added", round(min(added), 2), "s")
            yield Figure(f"{name}: {preset}, one page added / all pages, processor time", ratio, at_most=0.3)


def contents(store: Path) -> dict[str, str]:
    """The checksum of every file of a store."""
    folders = [folder for folder in store.iterdir() if folder.is_dir()]
    return {f"{folder.name[:5]}/{file.name}": checksum(file) for folder in folders for file in folder.iterdir()}


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


def observe(source: Path, store: Path, processes: int, preset: str = "default") -> dict[str, Any]:
    """Build in a process of its own: its pages, seconds by stage, processor time, and peak memory."""
    command = [sys.executable, "-m", "benchmarks.building", str(source), str(store), str(processes), preset]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def _observed(source: Path, store: Path, processes: int, preset: str) -> dict[str, Any]:
    """What `observe` gives, of a build in this process."""
    begins: list[tuple[str, float, float]] = []

    def note(progress: Progress) -> None:
        if not begins or begins[-1][0] != progress.stage:
            begins.append((progress.stage, time.perf_counter(), peak_megabytes()))

    begin = time.process_time()
    with watched_memory() as most:
        built = build([source], store, strategy=PRESETS[preset], processes=processes, progress=note)
    spent = time.process_time() - begin
    begins.append(("", time.perf_counter(), peak_megabytes()))
    workers = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
    return {
        "pages": built.store.manifest.counts["pages"],
        "seconds": {first[0]: round(last[1] - first[1], 3) for first, last in pairwise(begins)},
        "processor_seconds": spent,  # of this process
        # While there are workers, they and what has been needed until they end; then what was needed at all.
        "own_megabytes": round(max(most[0], begins[1][2] + processes * workers)),
        "peak_megabytes": round(max(begins[-1][2], begins[1][2] + processes * workers)),
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(_observed(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])))
    else:
        main()
