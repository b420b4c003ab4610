"""The scanner compared with an independent HTML parser: the same words and anchors?

Run as `python -m benchmarks.agreement`, with Debian's cppreference-doc-en-html and python3.11-doc installed. The
environment variable PAGEKIN_BENCH_DATA may name one more folder of HTML. Prints a table and writes the same
numbers to `benchmarks/results/agreement.json`.
"""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

from selectolax.lexbor import LEXBOR_VERSION_MAJOR, LEXBOR_VERSION_MINOR

from benchmarks.machine import QUICK
from reading.lexbor import COLLECTIONS, Tally, compare, pages_under, total

RESULTS = Path(__file__).parent / "results" / "agreement.json"
SMALLEST = "python3.11-doc"


def collections() -> dict[str, Path]:
    """The folders to read, by name; with QUICK=1 one small folder."""
    if QUICK:
        return {SMALLEST: COLLECTIONS[SMALLEST]}
    given = os.environ.get("PAGEKIN_BENCH_DATA")
    return COLLECTIONS | ({Path(given).name: Path(given)} if given else {})


def measure(name: str, folder: Path) -> tuple[Tally, dict[str, object]]:
    """The counts over all pages of a folder, and what is kept of them: with the names of the pages that differ."""
    pages = dict(compare(pages_under(folder)))
    counts = total(pages.values())
    differing = [path.relative_to(folder).as_posix() for path, page in pages.items() if page.pages_that_differ]
    place = {"folder": str(folder)} if name in COLLECTIONS else {}
    return counts, {"collection": name, **place, **counts._asdict(), "differing_pages": differing}


def table(rows: dict[str, Tally]) -> str:
    """The counts as a Markdown table, a column for each collection."""
    lines = ["| | " + " | ".join(rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for place, field in enumerate(Tally._fields):
        lines.append(f"| {field.replace('_', ' ')} | " + " | ".join(f"{row[place]:,}" for row in rows.values()) + " |")
    return "\n".join(lines)


def main() -> None:
    """Read all collections that are there in both ways, and report."""
    rows: dict[str, Tally] = {}
    kept: list[dict[str, object]] = []
    for name, folder in collections().items():
        if not folder.is_dir():
            print(f"{name}: not here, left out")
            continue
        rows[name], record = measure(name, folder)
        kept.append(record)
    print(table(rows))
    result = {
        "command": "python -m benchmarks.agreement",
        "python": platform.python_version(),
        "selectolax": version("selectolax"),
        "lexbor": f"{LEXBOR_VERSION_MAJOR}.{LEXBOR_VERSION_MINOR}",
        "collections": kept,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
