"""Growth: the cost of builds and queries on generated webs of 10,000 to a million pages.

`python -m benchmarks.growth` prints the figures and writes `results/growth.json`: seconds by stage, peak memory, bytes
by file and the p50 of a question at every size, and how each grows: the exponent of the number of pages, 1 if linear.
Every web is also built by the preset `fast`, before the default.
The exponents are those of the three largest webs, since what every build costs would flatter small ones. The seconds a
page of the default are compared without lists of neighbours, which a collection of more than 200,000 pages does not
have. Every build has a process of its own. `python -m benchmarks.growth SIZE...` measures other sizes and keeps
nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import generated
from benchmarks.building import observe
from benchmarks.machine import QUICK, Figure, facts, keep, kept, number, show
from benchmarks.querying import ask, in_turns
from pagekin.search.indexed_store import IndexedStore

SIZES = (3_000, 10_000) if QUICK else (10_000, 30_000, 100_000, 300_000, 1_000_000)
PROCESSES = 2
_QUESTIONS = 300
_WARM = 300  # pages
_OTHERS = ("fast",)  # strategies that the default is compared with
_LARGE = 100_000  # pages
_LARGEST = 3  # webs that exponents are taken from
_CONSTANT = 1.25  # the time of a page in the largest web / in the smallest of these
_MOST_MEGABYTES = 4 * 1024**3 / 1e6


def main(sizes: Sequence[int] = SIZES, *, keeping: bool = True) -> None:
    """Measure every size."""
    rows: list[dict[str, Any]] = []
    measure(_WARM)  # kernels are compiled
    failed = []
    for size in sizes:
        try:
            row = measure(size)
        except subprocess.CalledProcessError:  # it has said why
            print(f"growth: {size:,} pages could not be built", flush=True)
            failed.append(Figure(f"{size:,} generated pages: builds that succeeded", 0, at_least=1))
            continue
        rows.append(row)
        print(f"growth: {size:,} pages in {row['total']:.1f} s, {row['peak_megabytes']:,} MB at the peak", flush=True)
        print("  " + ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in row["seconds"].items()))
        print("  " + ", ".join(f"{name} {count / size:.0f}" for name, count in row["bytes"].items()) + " bytes a page")
        print(f"  a question: p50 {row['p50_us']} µs", flush=True)
    figures = [*summary(rows), *failed]
    show(figures)
    if keeping:
        keep("growth", {"machine": facts(), "figures": kept(figures), "rows": rows})


def measure(size: int) -> dict[str, Any]:
    """Build a web of so many pages and ask it; what was seen."""
    with tempfile.TemporaryDirectory() as place:
        source, store = Path(place) / "web.jsonl", Path(place) / "web.kin"
        generated.write(source, generated.Web(size))
        others = {name: _seconds(observe(source, Path(place) / f"{name}.kin", PROCESSES, name)) for name in _OTHERS}
        seen = observe(source, store, PROCESSES)
        sizes = Counter[str]()
        for file in store.glob("*/*"):
            sizes[file.name.split(".")[0]] += file.stat().st_size
        return {
            "pages": seen["pages"],
            "seconds": seen["seconds"],
            "total": _seconds(seen),
            "others": others,
            "peak_megabytes": seen["peak_megabytes"],
            "own_megabytes": seen["own_megabytes"],
            "bytes": dict(sizes.most_common()),
            "p50_us": round(_query(store) * 1e6),
        }


def _seconds(seen: dict[str, Any]) -> float:
    return float(round(sum(seen["seconds"].values()), 1))


def _query(store: Path) -> float:
    """The median seconds from a page to its ten kin."""
    indexed = IndexedStore.open(store)
    nodes = np.linspace(0, len(indexed) - 1, _QUESTIONS).astype(np.int64).tolist()
    return float(np.median(in_turns([lambda k: ask(indexed, nodes[k])], len(nodes))))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """How a value grows: the slope of its logarithm against that of the size.

    >>> round(exponent([10, 100, 1000], [3, 30, 300]), 3), round(exponent([10, 1000], [7, 70]), 3)
    (1.0, 0.5)
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def _seconds_a_page(row: dict[str, Any], strategy: str) -> float:
    """The time of a build without lists of neighbours, divided by the pages."""
    seconds = row["others"].get(strategy, row["total"] - row["seconds"].get("neighbours", 0.0))
    return float(seconds / row["pages"])


def summary(rows: list[dict[str, Any]]) -> Iterator[Figure]:
    """The figures that have bars, and the largest build."""
    last = rows[-1]
    rows = rows[-_LARGEST:]
    sizes = [row["pages"] for row in rows]
    span = f"{number(sizes[0])} to {number(sizes[-1])} pages"
    disk = [sum(row["bytes"].values()) for row in rows]
    if len(rows) > 1:
        time = exponent(sizes, [row["total"] for row in rows])
        yield Figure(f"exponent of build time, {span}", round(time, 2), at_most=1.1)
        for strategy in (*_OTHERS, "default"):
            growth = round(_seconds_a_page(rows[-1], strategy) / _seconds_a_page(rows[0], strategy), 2)
            yield Figure(f"seconds a page, {strategy}, {span}: last / first", growth, at_most=_CONSTANT)
        yield Figure(f"exponent of disk, {span}", round(exponent(sizes, disk), 2), at_most=1.1)
        query = exponent(sizes, [row["p50_us"] for row in rows])
        yield Figure(f"exponent of a question's p50, {span}", round(query, 2), at_most=0.5)
    name = f"{number(sizes[-1])} generated pages"
    yield Figure(f"{name}: build, {PROCESSES} processes", last["total"], "s")
    for row in rows:
        for other, seconds in row["others"].items():
            ratio, most = round(row["total"] / seconds, 2), 1.8 if row["pages"] >= _LARGE else None
            yield Figure(f"{number(row['pages'])} generated pages: build, default / {other}", ratio, at_most=most)
    yield Figure(f"{name}: peak memory of the build", last["own_megabytes"], "MB", at_most=round(_MOST_MEGABYTES))
    yield Figure(f"{name}: the same with pages of mapped files", last["peak_megabytes"], "MB")
    yield Figure(f"{name}: disk", round(disk[-1] / sizes[-1]), "bytes a page")
    yield Figure(f"{name}: a question, p50", last["p50_us"], "µs")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main([int(size) for size in sys.argv[1:]], keeping=False)
    else:
        main()
