"""A visitor of a server that has just started: every view of 10,000 generated pages, and none ends in an error.

`python -m benchmarks.visiting` prints the figures and writes `results/visiting.json`; with `--store FOLDER` the store
stays for the next run. The visitor opens all views at the same time, six at once as a browser does, and asks again for
those that are still being computed. The longest answer is that of one request, the slowest view that of all requests
for it.
"""

from __future__ import annotations

import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks import generated
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from benchmarks.serving import served
from pagekin.search.indexed_store import IndexedStore

PAGES = 1_000 if QUICK else 10_000
_AT_ONCE = 6
_VISITED = 3  # pages, each with all its views
_PAUSE = 0.7  # seconds, as in static/parts.js
_OF_COLLECTION = ("/", "/random", "/collection", *(f"/collection/{part}" for part in ("similarities", "unlinked",
                  "bridges", "duplicates", "map", "map/points")))  # fmt: skip
_OF_PAGE = (
    "/page/{0}", "/page/{0}/clusters", "/page/{0}/graph", "/page/{0}/graph?by=links", "/page/{0}?by=both&part=1",
    "/page/{0}?by=links&part=1", "/page/{0}?measure=okapi&part=1", "/compare?a={0}&b={1}", "/search?q={2}",
)  # fmt: skip


@dataclass(frozen=True)
class Visit:
    """A view: its last status, the longest of its answers and the time until it was there, in seconds."""

    path: str
    status: int
    longest: float
    total: float


def main(arguments: Sequence[str] = ()) -> None:
    """Visit a generated web."""
    print(f"visiting {PAGES:,} generated pages")
    with generated.store(PAGES, arguments, __doc__ or "") as built:
        figures = _visited(built)
    show(figures)
    keep("visiting", {"machine": facts("starlette", "uvicorn"), "figures": kept(figures)})


def _visited(store: Path) -> list[Figure]:
    paths = _paths(store)
    with served(store) as (url, _), ThreadPoolExecutor(_AT_ONCE) as pool:
        visits = list(pool.map(lambda path: visit(url.rstrip("/"), path), paths))
    slowest = max(visits, key=lambda visit: visit.total)
    return [
        Figure("views", len(visits)),
        Figure("views that ended in an error", sum(each.status >= 400 for each in visits), at_most=0),
        Figure("longest answer", max(each.longest for each in visits), "s", at_most=10),
        Figure(f"slowest view ({slowest.path.partition('?')[0].rpartition('/')[2]})", slowest.total, "s"),
    ]


def _paths(store: Path) -> list[str]:
    indexed = IndexedStore.open(store)
    step = max(1, len(indexed) // (_VISITED + 1))
    pages = [indexed.page(row) for row in range(0, len(indexed), step)]
    of_pages = [
        path.format(one["id"], other["id"], one["title"].split(" ")[0])
        for path in _OF_PAGE
        for one, other in pairwise(pages[: _VISITED + 1])
    ]
    return [*_OF_COLLECTION, *of_pages]


def visit(server: str, path: str) -> Visit:
    """Open a view, and ask again until it is there."""
    begin, longest, status = time.monotonic(), 0.0, 202
    while status == 202:
        asked = time.monotonic()
        try:
            with urllib.request.urlopen(server + path, timeout=600) as answer:
                status = answer.status
                answer.read()
        except urllib.error.HTTPError as error:
            status = error.code
        longest = max(longest, time.monotonic() - asked)
        if status == 202:
            time.sleep(_PAUSE)
    return Visit(path, status, longest, time.monotonic() - begin)


if __name__ == "__main__":
    main(sys.argv[1:])
