"""Beyond the paper: the effect of a linear projection and of a learned blend of evidence.

`python -m benchmarks.beyond` prints the figures and writes `results/beyond.json`. PAGEKIN_BENCH_DATA names a folder of
pages, and Debian's manuals are tried if they are here; without them, and in a quick run, the sample web serves. All
parameters are chosen on valid, all figures are of test. What is tried is told in `projecting` and `mixing`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.learning import UNITS, collection, manuals
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from benchmarks.mixing import CLASSED, by_classes, mixing, unstemmed
from benchmarks.projecting import Row, projecting
from pagekin.learning.learn import LearnResult, learn
from pagekin.learning.options import LearnOptions
from pagekin.learning.ranking import AP, ERROR, LEVEL, MEASURES, P10, signed_rank
from pagekin.pipeline import build
from pagekin.search.indexed_store import IndexedStore

SEED = 2005
SHOWN = (ERROR, P10, AP)


def main() -> None:
    """Try everything on all collections."""
    with collection() as store:
        options = LearnOptions(SEED, "flat", 0.1, UNITS, 1000, True) if QUICK else LearnOptions(SEED, projection=True)
        indexed = IndexedStore.open(store)
        outcome = learn(indexed, options)
        source = Path(os.environ.get("PAGEKIN_BENCH_DATA", ""))
        figures = list(tried(store.stem, indexed, outcome, source, None))
    for name, folder in manuals().items():
        with TemporaryDirectory() as place:
            indexed = IndexedStore.open(build([folder], Path(place) / "manual.kin").store.root)
            figures += tried(name, indexed, learn(indexed, options), folder, outcome.weighting.link_share)
    keep("beyond", {"machine": facts("scipy"), "figures": kept(figures)})


def tried(
    name: str, indexed: IndexedStore, outcome: LearnResult, source: Path, elsewhere: float | None
) -> list[Figure]:
    """All that is tried on a collection."""
    rows = [*projecting(indexed, outcome), *mixing(indexed, outcome, elsewhere), unstemmed(indexed, outcome)]
    figures = [each for row in rows for each in beside(f"{name}: {row.what}", row)]
    for what, value in () if QUICK else by_classes(indexed, outcome, source):
        figures.append(Figure(f"{name}, P@10 by classes: {what}", round(100 * value, 2), "%"))
    show(figures)
    return figures


def beside(what: str, row: Row) -> Iterator[Figure]:
    """Three measures without and with something, over the same pages."""
    for name in SHOWN:
        k = MEASURES.index(name)
        yield Figure(f"{what}: {name} before", round(100 * float(row.before[:, k].mean()), 2), "%")
        yield Figure(f"{what}: {name} after", round(100 * float(row.after[:, k].mean()), 2), "%")
        yield Figure(f"{what}: {name}, p", float(f"{signed_rank(row.before[:, k], row.after[:, k]):.2g}"))


def table(result: dict[str, Any]) -> str:
    """What was found, for the docs; what gains or loses average precision beyond chance is marked."""
    lines = ["| collection | feature | " + " | ".join(SHOWN) + " | |", "|---|---" + "|---:" * len(SHOWN) + "|---|"]
    value = {row["what"]: row["measured"] for row in result["figures"]}
    whats = dict.fromkeys(each.rpartition(": ")[0] for each in value if each.endswith(", p"))
    for what in whats:
        collection, _, tried = what.partition(": ")
        of = {name: [value[f"{what}: {name}{end}"] for end in (" before", " after", ", p")] for name in SHOWN}
        cells = [f"{before:.1f} / {after:.1f} (p {p:.1g})" for before, after, p in of.values()]
        lines.append(f"| {collection} | {tried} | " + " | ".join(cells) + f" | {_verdict(*of[AP])} |")
    return "\n".join(lines)


def _verdict(before: float, after: float, p: float) -> str:
    if p >= LEVEL or before == after:
        return ""
    return "gains" if after > before else "loses"


def class_table(result: dict[str, Any]) -> str:
    """P@10 by classes, for the docs."""
    value = {row["what"]: row["measured"] for row in result["figures"] if "by classes" in row["what"]}
    lines = ["| collection | " + " | ".join(CLASSED) + " |", "|---" + "|---:" * len(CLASSED) + "|"]
    for name in dict.fromkeys(each.partition(", ")[0] for each in value):
        cells = [f"{value[f'{name}, P@10 by classes: {what}']:.1f} %" for what in CLASSED]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
