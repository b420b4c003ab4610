"""Answers in advance: ten for every page, compared with tantivy.

`python -m benchmarks.answers` prints the figures and writes `results/answers.json`. tantivy is asked for more-like-this
with its defaults (25 terms). In a large collection both are asked for a sample of 5,000 pages, evenly spaced: so
the figures of the 100,000 generated pages are of answers to 5,000 of them. All times are processor times in one thread,
in turns, the best of three rounds.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import tantivy

from benchmarks import generated
from benchmarks.agreement import collections
from benchmarks.building import extracted, html_files, tantivy_index
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from benchmarks.querying import address, lines
from pagekin.model.arrays import Int64s
from pagekin.pipeline import build, keep_answers
from pagekin.search.all_pages import nearest_of_pages
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions

_GENERATED = 3_000 if QUICK else 100_000
_SAMPLE = 5_000  # pages of a collection, at most
_LIMIT = 10
_ROUNDS = 1 if QUICK else 3


def main() -> None:
    """Measure every collection at hand, and a generated one."""
    figures = []
    for name, folder in collections().items():
        if folder.is_dir():
            figures += measured(name, folder, extracted(html_files(folder), 1))
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "generated.jsonl"
        generated.write(file, generated.Web(_GENERATED))
        figures += measured(f"{_GENERATED:,} generated pages", file, lines(file))
    keep("answers", {"machine": facts("selectolax", "tantivy"), "figures": kept(figures)})


def measured(name: str, source: Path, pages: Iterator[tuple[str, str, str]]) -> list[Figure]:
    """The figures of one collection."""
    print(f"answers of {name}")
    with tempfile.TemporaryDirectory() as place:
        store, folder = Path(place) / "my.kin", Path(place) / "tantivy"
        folder.mkdir()
        build([source], store)
        theirs = tantivy_index(folder, pages, 1)
        figures = list(measure(name, source, store, theirs))
    show(figures)
    return figures


def measure(name: str, source: Path, store: Path, theirs: tantivy.Index) -> Iterator[Figure]:
    """The figures of an index and of tantivy's."""
    indexed, searcher = IndexedStore.open(store), theirs.searcher()
    pages = len(indexed.nodes) - 1
    asked = spaced(pages, _SAMPLE)
    addresses = [address(theirs, source, indexed, int(indexed.nodes[node])) for node in asked]
    new_blend = partial(indexed.blend, RelatedOptions())
    ours, more_like_this = in_turns(
        [
            lambda: list(nearest_of_pages(indexed, new_blend, asked, _LIMIT)),
            lambda: [
                searcher.search(tantivy.Query.more_like_this_query(each), _LIMIT + 1, count=False) for each in addresses
            ],
        ]
    )
    yield Figure(f"{name}: {_LIMIT} answers of a page, in advance", round(ours / len(asked) * 1e6), "µs")
    yield Figure(f"{name}: the same by tantivy", round(more_like_this / len(addresses) * 1e6), "µs")
    yield Figure(f"{name}: answers in advance / tantivy's", round(ours / more_like_this, 3), at_most=1.0)
    indexed.close()
    manifest = keep_answers(store, _LIMIT)
    size = sum(path.stat().st_size for path in (store / manifest.index_folder).glob("answers-*"))
    yield Figure(f"{name}: kept answers, of a page", round(size / pages), "bytes")


def spaced(count: int, most: int) -> Int64s:
    """At most this number of numbers below `count`, evenly spaced."""
    return np.unique(np.linspace(0, count - 1, most).astype(np.int64))


def in_turns(ways: list[Callable[[], object]]) -> list[float]:
    """The processor time of each way in seconds: the best of some rounds, after one that does not count."""
    best = [float("inf")] * len(ways)
    for turn in range(_ROUNDS + 1):
        for k, way in enumerate(ways):
            begin = time.process_time()
            way()
            if turn:
                best[k] = min(best[k], time.process_time() - begin)
    return best


if __name__ == "__main__":
    main()
