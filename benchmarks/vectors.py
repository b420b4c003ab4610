"""What the vectors of a small encoder add to the blend.

`python -m benchmarks.vectors` builds every collection of PAGEKIN_BENCH_DATA, encodes its pages with
`examples/encode_pages.py` (which needs wordllama), builds it again with the vectors, and evaluates the blend with
several weights of them; 0 is the blend without. Writes `results/vectors.json`, from which docs/vectors.md has its
table. PAGEKIN_BENCH_KEEP may name a folder, in which stores and vectors stay for the next time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pagekin
from benchmarks.machine import QUICK, facts, keep

WEIGHTS = (0.0, 0.3, 1.0)
SCRIPT = Path(__file__).parent.parent / "examples" / "encode_pages.py"


@dataclass(frozen=True)
class Judged:
    """A collection, and the file by which it is judged."""

    name: str
    folder: str
    pages: str
    file: str
    measures: tuple[str, ...]
    depth: int = 3


JUDGED = (
    Judged("schools-wikipedia", "schools-wikipedia", ".", "labels.tsv", ("P@10", "nDCG@10")),
    Judged("mdn-see-also", "mdn-see-also", "pages", "related.tsv", ("R@10", "MRR")),
    Judged("mdn-see-also", "mdn-see-also", "pages", "labels.tsv", ("P@10", "nDCG@10"), 32),
    Judged("python-see-also", "python-see-also", "pages", "related.tsv", ("R@10", "MRR")),
)


def main() -> None:
    """Measure every collection at hand."""
    data = os.environ.get("PAGEKIN_BENCH_DATA")
    if find_spec("wordllama") is None or not data:
        print("vectors: needs wordllama (pip install wordllama) and collections in PAGEKIN_BENCH_DATA; left out")
        return
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as place:
        kept = Path(os.environ.get("PAGEKIN_BENCH_KEEP") or place)
        kept.mkdir(parents=True, exist_ok=True)
        for judged in JUDGED[-1:] if QUICK else JUDGED:
            folder = Path(data) / judged.folder
            if not (folder / judged.file).exists():
                print(f"{judged.name}: not here, left out")
                continue
            with with_vectors(folder / judged.pages, kept / f"{judged.name}.kin") as collection:
                rows += measure(collection, folder / judged.file, judged)
    keep("vectors", {"machine": facts("wordllama"), "rows": rows})


def with_vectors(pages: Path, store: Path) -> pagekin.Collection:
    """Build a collection, encode its pages, and build it with their vectors."""
    pagekin.build(pages, store).close()
    vectors = store.with_suffix(".npy")
    if not vectors.with_suffix(".urls").exists():
        subprocess.run([sys.executable, SCRIPT, store, vectors], check=True)
    return pagekin.build(pages, store, vectors=vectors)


def measure(collection: pagekin.Collection, file: Path, judged: Judged) -> list[dict[str, Any]]:
    """A row for each weight: the value of each measure, and its interval."""
    rows = []
    for weight in WEIGHTS:
        blend = {**collection.strategy.weights_of_evidences(), "vectors": weight}
        if judged.file.startswith("related"):
            system: Any = collection.evaluate_related(file, blend=blend).systems[0]
        else:
            system = collection.evaluate(file, blend=blend, depth=judged.depth).systems[0]
        found = pagekin.to_json(system)
        values = {name: [round(found[name][end], 4) for end in ("value", "low", "high")] for name in judged.measures}
        rows.append({"collection": judged.name, "by": judged.file, "weight": weight, "measures": values})
        print(f"  {judged.name}, {judged.file}, vectors={weight:g}: {values}", flush=True)
    return rows


def table(result: dict[str, Any]) -> str:
    """The table of docs/vectors.md: a line for each measure, a column for each weight."""
    weights = sorted({row["weight"] for row in result["rows"]})
    names = ["without" if not weight else f"`vectors={weight:g}`" for weight in weights]
    lines = ["| collection | measure | " + " | ".join(names) + " |", "|---|---" + "|---:" * len(weights) + "|"]
    cells: dict[tuple[str, str], list[str]] = {}
    for row in sorted(result["rows"], key=lambda each: float(each["weight"])):
        for name, (value, low, high) in row["measures"].items():
            cells.setdefault((row["collection"], name), []).append(f"{value:.3f} [{low:.3f}, {high:.3f}]")
    return "\n".join([*lines, *(f"| {a} | {b} | " + " | ".join(each) + " |" for (a, b), each in cells.items())])


if __name__ == "__main__":
    main()
