"""The lengths of result lists, from which the default minimum similarity was chosen.

`python -m benchmarks.lists` prints, for every collection at hand and several minima, the share of pages whose list of
ten is full, and of those that have fewer than three; and writes `results/lists.json`. The sample web is one of the
collections; it has labels, and the table says how many of the pages that a minimum lets through are of another top.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.agreement import collections
from benchmarks.machine import QUICK, facts, keep
from pagekin import sample_web
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions

MINIMA = (0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.15)
ASKED = 100 if QUICK else 500
LIMIT = 10


def main() -> None:
    """Measure every collection at hand."""
    table = {}
    with tempfile.TemporaryDirectory() as place:
        sources = {"sample web": sample_web.copy_to(Path(place)), **collections()}
        for number, (name, source) in enumerate(sources.items()):
            if source.exists():
                build([source], Path(place) / f"{number}.kin")
                table[name] = measure(IndexedStore.open(Path(place) / f"{number}.kin"))
    for name, rows in table.items():
        print(name)
        for least, row in rows.items():
            print(f"  at least {least:>4}: full {row['full']:4.0%}, fewer than three {row['short']:4.0%}, {_told(row)}")
    keep("lists", {"machine": facts(), "collections": table})


def measure(indexed: IndexedStore) -> dict[str, dict[str, float]]:
    """Full and short lists by minimum."""
    urls = [
        row["url"] for row in indexed.catalog.rows("SELECT url FROM nodes WHERE first_row IS NOT NULL ORDER BY node")
    ]
    asked = urls[:: max(1, len(urls) // ASKED)]
    tops: dict[str, set[str]] = {}
    for url, label in sample_web.labels():
        tops.setdefault(url, set()).add(label.partition("/")[0])
    lists = [
        (
            url,
            indexed.related(url, RelatedOptions(limit=LIMIT, min_similarity=0, explain=False, group_duplicates=False)),
        )
        for url in asked
    ]
    table = {}
    for least in MINIMA:
        kept = [(url, [each for each in answer if each.similarity >= least]) for url, answer in lists]
        lengths = np.array([len(answer) for _, answer in kept])
        row = {"full": round(float((lengths == LIMIT).mean()), 3), "short": round(float((lengths < 3).mean()), 3)}
        known = [
            (tops[url], tops[each.url]) for url, answer in kept for each in answer if {url, each.url} <= tops.keys()
        ]
        if known:
            row["another_top"] = round(sum(not a & b for a, b in known) / len(known), 3)
        table[str(least)] = row
    return table


def _told(row: dict[str, float]) -> str:
    return f"of another top {row['another_top']:.1%}" if "another_top" in row else ""


if __name__ == "__main__":
    main()
