"""Search by words: the bags of the index, compared with a full-text index of SQLite (FTS5) over the same texts.

`python -m benchmarks.searching` prints the figures and writes `results/searching.json`; with `--store FOLDER` the store
of generated pages stays for the next run. Queries are three words of a page, as `pagekin search` takes them; both take
turns, and for each query the best of three processor times counts. FTS5 stores no texts (`content=''`) and stems by
Porter; the bags are part of the index anyway.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks import generated
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.search.indexed_store import IndexedStore

PAGES = 1_000 if QUICK else 10_000
QUERIES = 50
ROUNDS = 3
_LIMIT = 10
_MATCH = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?"


def main(arguments: Sequence[str] = ()) -> None:
    """Measure a generated web."""
    print(f"searching {PAGES:,} generated pages")
    with generated.store(PAGES, arguments, __doc__ or "") as built, tempfile.TemporaryDirectory() as place:
        figures = _measured(IndexedStore.open(built), Path(place) / "texts.sqlite")
    show(figures)
    keep("searching", {"machine": facts(), "figures": kept(figures)})


def _measured(indexed: IndexedStore, file: Path) -> list[Figure]:
    begin = time.process_time()
    connection = sqlite3.connect(file)
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize='porter unicode61')")
    rows = ((row, indexed.text(row)) for row in range(len(indexed)))
    connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
    connection.execute("INSERT INTO texts (texts) VALUES ('optimize')")
    connection.commit()
    building = time.process_time() - begin
    queries = _queries(indexed)
    ours, theirs = [], []
    indexed.pages_with_words(queries[0], _LIMIT)  # the words of the collection are looked up in memory from now on
    for query in queries:
        match = " ".join(f'"{word}"' for word in query.split())
        times = [
            (_seconds(lambda q=query: indexed.pages_with_words(q, _LIMIT)),  # type: ignore[misc]
             _seconds(lambda q=match: connection.execute(_MATCH, (q, _LIMIT)).fetchall()))  # type: ignore[misc]
            for _ in range(ROUNDS)
        ]  # fmt: skip
        ours.append(min(one for one, _ in times))
        theirs.append(min(other for _, other in times))
    size = file.stat().st_size
    return [
        Figure("words of a query found in the bags, mean", 1000 * float(np.mean(ours)), "ms"),
        Figure("the same by FTS5, mean", 1000 * float(np.mean(theirs)), "ms"),
        Figure("additional size of FTS5, share of the store", size / _size(indexed.root)),
        Figure("additional processor time of a build for FTS5", building, "s"),
    ]


def _queries(indexed: IndexedStore) -> list[str]:
    random = np.random.default_rng(2002)
    texts = (indexed.text(row).split() for row in random.integers(0, len(indexed), QUERIES).tolist())
    return [" ".join(random.choice(words, 3).tolist()) for words in texts if len(words) >= 3]


def _seconds(function: Callable[[], object]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    main(sys.argv[1:])
