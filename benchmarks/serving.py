"""The server: requests per second for related pages and a bare /healthz, also while the index is replaced.

`python -m benchmarks.serving` prints the figures and writes `results/serving.json`. One worker serves a generated web;
the load comes from this machine, by wrk or by a client of our own, on eight connections. Kinds of questions take turns
in several rounds, and of each kind the best round counts, since the machine may be busy with other things. "Kept" are
questions for a thousand pages again and again, which the server answers from memory; "distinct" are questions that
nobody has asked before; a second server has the answers to them in its index (`pagekin answers`). A new generation is
put in place as a build does it: its files, the manifest, and then the old files are removed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

from benchmarks import generated
from benchmarks.loading import Load, load, tool
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.pipeline import build, keep_answers
from pagekin.store.manifest import read_manifest

PAGES = 10_000 if QUICK else 100_000
SECONDS = 1 if QUICK else 5
ROUNDS = 1 if QUICK else 5
SWAPS = 2 if QUICK else 4
_OFTEN = 200 if QUICK else 1000  # pages that are asked for again and again
_ENOUGH = 2_000  # distinct questions in a second: more than are computed
_KEPT = 10  # answers of each page that the index of the second server has
_MAIN = "import sys; sys.argv[0] = 'pagekin'; from pagekin.cli.main import main; main()"


def main() -> None:
    """Measure."""
    print(f"serving {PAGES:,} generated pages, asked by {tool()}")
    with tempfile.TemporaryDirectory() as place:
        store, generations, urls = built(Path(place), PAGES)
        paths = [f"/api/related?url={url}" for url in urls]
        with served(store) as (url, _):
            figures = list(measure(url, store, generations, paths))
        keep_answers(store, _KEPT)
        with served(store) as (url, _):
            figures += measure_answers(url, paths)
    show(figures)
    keep("serving", {"machine": facts("starlette", "uvicorn"), "figures": kept(figures)})


def built(folder: Path, pages: int) -> tuple[Path, list[Path], list[str]]:
    """A store, the next generation of it and the same once more, and the pages of both."""
    file, store, same, other = (folder / name for name in ("web.jsonl", "web.kin", "same.kin", "other.kin"))
    generated.write(file, generated.Web(pages))
    build([file], store)
    shutil.copytree(store, same)
    shutil.copytree(store, other)
    lines = file.read_text("ascii").splitlines(keepends=True)
    file.write_text("".join(lines[: -pages // 100]), "ascii")
    build([file], other)
    urls = [found[1] for line in lines[: -pages // 100] if (found := re.match(r'\{"url":"([^"]+)"', line))]
    return store, [other, same], urls


@contextmanager
def served(store: Path, log: IO[str] | None = None, descriptors: int = 0) -> Iterator[tuple[str, int]]:
    """`pagekin serve` in a process of its own, perhaps with few descriptors: its address and its process number."""
    command = [sys.executable, "-c", _MAIN, "serve", str(store), "--port", "0"]
    if descriptors:
        command = ["sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+/", process.stdout.readline())
        assert found, "the server has not started"
        ask(found[0] + "healthz")
        yield found[0], process.pid
        process.terminate()


def ask(url: str) -> str:
    with urllib.request.urlopen(url, timeout=600) as answer:
        text: str = answer.read().decode()
    return text


def measure(url: str, store: Path, generations: list[Path], paths: list[str]) -> Iterator[Figure]:
    """The figures of a server."""
    fresh, often = iter(paths[_OFTEN:]), paths[:_OFTEN]
    for path in often:
        ask(url + path[1:])
    rounds: dict[str, list[Load]] = {"/healthz": [], "kept": [], "distinct": []}
    for _ in range(ROUNDS):
        rounds["/healthz"].append(load(url, ["/healthz"], SECONDS))
        rounds["kept"].append(load(url, often, SECONDS))
        rounds["distinct"].append(load(url, list(islice(fresh, _ENOUGH * SECONDS)), SECONDS))
    best = {kind: max(loads, key=lambda each: each.a_second) for kind, loads in rounds.items()}
    for kind, each in best.items():
        yield Figure(f"{kind}: requests a second", round(each.a_second), "/s")
        yield Figure(f"{kind}: p50", round(each.p50 * 1e3, 2), "ms")
        yield _spread(kind, rounds[kind])
    for kind in ("kept", "distinct"):
        ratio = best[kind].a_second / best["/healthz"].a_second
        yield Figure(f"{kind}: requests a second / those of /healthz", round(ratio, 3), at_least=0.5)
    swaps = [_swapped(url, store, generations[k % 2], often) for k in range(SWAPS)]
    yield Figure("while a new generation comes: requests a second", round(max(each.a_second for each in swaps)), "/s")
    yield _spread("while a new generation comes", swaps)
    failed = sum(each.failed for loads in (*rounds.values(), swaps) for each in loads)
    asked = sum(each.requests for loads in (*rounds.values(), swaps) for each in loads)
    yield Figure(f"requests that failed, of {asked:,}", failed, at_most=0)


def measure_answers(url: str, paths: list[str]) -> Iterator[Figure]:
    """The figures of a server whose index has the answers: distinct questions, and a bare /healthz."""
    healthz, distinct = [], []
    for turn in range(ROUNDS):  # more pages in each than the server keeps answers of in memory
        healthz.append(load(url, ["/healthz"], SECONDS))
        distinct.append(load(url, paths[turn::ROUNDS], SECONDS))
    best, bare = (max(each.a_second for each in loads) for loads in (distinct, healthz))
    kind = "distinct, answers found in advance"
    yield Figure(f"{kind}: requests a second", round(best), "/s")
    yield _spread(kind, distinct)
    yield Figure(f"{kind}: requests a second / those of /healthz", round(best / bare, 3), at_least=0.8)


def _spread(kind: str, loads: list[Load]) -> Figure:
    return Figure(f"{kind}: p99 / p50", round(min(each.p99 / each.p50 for each in loads), 2), at_most=10)


def _swapped(url: str, store: Path, other: Path, paths: list[str]) -> Load:
    """A load during which another generation takes the place of the present one."""
    putting = threading.Timer(SECONDS / 2, put_in_place, (other, store))
    putting.start()
    during = load(url, paths, 3 * SECONDS)
    putting.join()
    end = time.monotonic() + 600
    while f'"generation":{read_manifest(other).generation},' not in ask(url + "healthz"):
        assert time.monotonic() < end, "the new generation is not served"
        time.sleep(0.1)
    return during


def put_in_place(new: Path, store: Path) -> None:
    """Do what a build does at its end."""
    manifest, old = read_manifest(new), read_manifest(store)
    for folder in (manifest.folder, manifest.index_folder):
        shutil.copytree(new / folder, store / folder)
    shutil.copy(new / "manifest.json", store / "manifest.json.new")
    (store / "manifest.json.new").replace(store / "manifest.json")
    for folder in (old.folder, old.index_folder):
        shutil.rmtree(store / folder)


if __name__ == "__main__":
    main()
