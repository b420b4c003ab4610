"""The first minutes: a fresh installation, a fresh clone, and a server that has just said that it is ready.

`python -m benchmarks.first_run` prints the figures and writes `results/first_run.json`. A wheel is built and installed
with its dependencies into a new virtual environment; the first and the second run of each command on the sample web are
compared by processor time. A server answers ten different requests of each route of its API and its web page, all with
success: the first is compared with the last. Views that are computed once for the collection are compared from the
second request on.
The machine code of the wheel, which has some kernels for AVX-512 as well, and that for the baseline processor alone are
compared with what numba compiles for this one. Finally `make demo` runs in a
new clone, and the longest time without output is measured.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

from starlette.routing import Route

from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin import sample_web
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.api.schema import openapi
from pagekin.serving.pages import routes as routes_of_pages
from pagekin.serving.settings import ServerSettings
from pagekin.serving.views.names import PageRef, find_page

ROOT = Path(__file__).parents[1]
OAK = "http://treeroom.example/oak.html"
REQUESTS = 10
SPEED = """
import json, time
import numpy as np
from pagekin.kernels.minhash import sign
from pagekin.kernels.query import minima
from pagekin.model.capture import Capture, Origin, ReadingSettings
from pagekin.reading.batch import read_captures

def best(task):
    task()
    times = []
    for _ in range(7):
        begin = time.process_time()
        task()
        times.append(time.process_time() - begin)
    return min(times)

random = np.random.default_rng(2002)
offsets = np.arange(0, 400_001, 200)
term = random.integers(0, 50_000, 400_000).astype(np.uint32)
weight = np.full(400_000, 1 / 200, np.float32)
hashes = random.integers(0, 2**63, 50_000).astype(np.uint64)
signatures = np.empty((2_000, 80), np.uint32)
query, nodes, shared = random.random(50_000).astype(np.float32), np.arange(2_000), np.empty(2_000)
words = ["".join(map(chr, random.integers(97, 123, 6))) for _ in range(2_000)]
items = [f"<li>{' '.join(random.choice(words, 12))} <a href='/{k}.html'>{words[k]}</a> &amp; more" for k in range(400)]
body = ("<html><title>List</title><ul>" + "".join(items)).encode()
captures = [Capture(f"http://a.example/{k}", Origin("a", 0, len(body), 1), body=body) for k in range(50)]
print(json.dumps({
    "reading": best(lambda: read_captures(captures, ReadingSettings())),
    "signing": best(lambda: sign(offsets, term, weight, hashes, 1000, signatures)),
    "querying": best(lambda: minima(query, offsets, term, weight, nodes, shared)),
}))
"""


def main() -> None:
    """Measure."""
    print("the first run, from a wheel and from a clone")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        figures = [*of_wheel(folder), *of_speed()]
        if not QUICK:
            figures += of_clone(folder)
    show(figures)
    keep("first_run", {"machine": facts(), "figures": kept(figures)})


def of_wheel(folder: Path) -> Iterator[Figure]:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    yield Figure("size of the wheel", wheel.stat().st_size / 1e6, "MB", at_most=40)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    install = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "install", "--quiet", f"{wheel}[serve]"]
    subprocess.run(install, check=True, stderr=subprocess.DEVNULL)
    pagekin, store, labels = str(folder / "venv" / "bin" / "pagekin"), folder / "1.kin", folder / sample_web.LABELS
    archive = sample_web.copy_to(folder)
    commands: dict[str, list[str | Path]] = {
        "related": ["related", store, OAK],
        "duplicates": ["duplicates", store],
        "cluster": ["cluster", store, OAK],
        "evaluate": ["evaluate", store, "--hierarchy", labels],
        "learn": ["learn", store, "-o", folder / "weights.json", "--units", "2,2,2", "--steps", "20"],
    }
    first, second = (spent([pagekin, "build", archive, "-o", folder / f"{k}.kin", "-q"]) for k in (1, 2))
    yield Figure("build, first / second after installation", first / second, at_most=1.5)
    for name, command in commands.items():
        first, second = spent([pagekin, *command]), spent([pagekin, *command])
        yield Figure(f"{name}, first / second after installation", first / second, at_most=1.5)
    related = min(spent([pagekin, *commands["related"]]) for _ in range(5))
    yield Figure("related from a shell, processor time", related, "s", at_most=0.3)
    yield from of_server([pagekin, "serve", str(store), "--port", "0"], store)


def spent(command: list[str | Path]) -> float:
    """The processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_server(command: list[str], store: Path) -> Iterator[Figure]:
    """The first request of every route, compared with the tenth."""
    indexed = IndexedStore.open(store)
    urls = [indexed.reading.pages.url[k * len(indexed) // (REQUESTS + 1)] for k in range(REQUESTS + 1)]
    pages = [find_page(indexed, url) for url in urls]
    requests = [requests_of(page, other) for page, other in pairwise(pages)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            base = process.stdout.readline().split(" at ")[1].split()[0].rstrip("/")
            times = {name: [asked(base, *each[name]) for each in requests] for name in requests[0]}
        finally:
            process.terminate()
    for name, each in times.items():
        first = 0
        if name.startswith("/collection/"):
            yield Figure(f"{name}, first request, which computes it for the collection", each[0], "s", at_most=1)
            first = 1
        yield Figure(f"{name}, {('first', 'second')[first]} request / tenth", each[first] / each[-1], at_most=5)
    slowest = max(times, key=lambda name: times[name][0])
    yield Figure(f"the slowest first request ({slowest})", times[slowest][0], "s", at_most=1)


def requests_of(page: PageRef, other: PageRef) -> dict[str, tuple[str, object]]:
    """A request of every route: path and body. They differ from page to page, so that no answer comes from memory."""
    known = {"url": page.url, "a": page.url, "b": other.url, "query": page.title, "q": page.title}
    mediawiki = {"action": "query", "list": "search", "srsearch": f"morelike:{page.title}", "format": "json"}
    bodies: dict[str, object] = {
        "/api/related": {"text": f"trees and bread: {page.title}"},
        "/api/duplicates": [{"id": page.id, "text": "a bread bin"}, {"id": "b", "text": "a bread bin"}],
    }
    found: dict[str, tuple[str, object]] = {}
    for path, methods in openapi(ServerSettings())["paths"].items():
        if "get" in methods:
            taken = {each["name"] for each in methods["get"].get("parameters", ()) if each["in"] == "query"}
            given = mediawiki if path == "/w/api.php" else {name: known[name] for name in known if name in taken}
            found[path] = f"{path.replace('{id}', page.id)}?{urlencode(given)}", None
        if "post" in methods:
            found[f"POST {path}"] = path, bodies[path]
    for route in routes_of_pages():
        assert isinstance(route, Route)
        given = {"format": "json"} if route.path == "/collection/map/pages" else known
        found[route.path] = f"{route.path.replace('{id}', page.id)}?{urlencode(given)}", None
    for path in ("/api", "/api/openapi.json", "/embed.js", "/static/page.css"):
        found[path] = path, None
    return found


def asked(base: str, path: str, body: object) -> float:
    """The seconds of one request; an answer that is no success raises an exception."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(base + path, data, {"Content-Type": "application/json"})
    begin = time.perf_counter()
    with urllib.request.urlopen(request) as answer:
        answer.read()
    return time.perf_counter() - begin


def of_speed() -> Iterator[Figure]:
    """The wheel's code, its code for the baseline processor alone, and code for this one; in turns, in processes."""
    kinds = ("machine", "baseline", "numba")
    rounds = [{kind: measured(kind) for kind in kinds} for _ in range(1 if QUICK else 3)]
    for name in rounds[0]["numba"]:
        wheel, baseline, own = (min(each[kind][name] for each in rounds) for kind in kinds)
        yield Figure(f"{name}, speed of the wheel's code / code for this processor", own / wheel, at_least=0.9)
        yield Figure(f"{name}, speed of baseline code / code for this processor", own / baseline, at_least=0.9)


def measured(kernels: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", SPEED],
        env=os.environ | {"PAGEKIN_KERNELS": kernels},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def of_clone(folder: Path) -> list[Figure]:
    """`make demo` in a new clone: its time, and the longest time without output."""
    subprocess.run(["git", "clone", "--quiet", ROOT, folder / "clone"], check=True)
    begin = last = time.monotonic()
    silence = 0.0
    with subprocess.Popen(
        ["make", "demo"],
        cwd=folder / "clone",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        while os.read(process.stdout.fileno(), 1 << 16):
            silence, last = max(silence, time.monotonic() - last), time.monotonic()
    if process.returncode:
        raise SystemExit("make demo failed in a new clone")
    return [
        Figure("make demo in a new clone", time.monotonic() - begin, "s", at_most=60),
        Figure("make demo, the longest time without output", silence, "s", at_most=5),
    ]


if __name__ == "__main__":
    main()
