"""The figures of `results` as a page of the docs: `python -m benchmarks.table` writes `docs/benchmarks.md`."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import RESULTS, Figure, number

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
ORDER = (
    "reading",
    "signatures",
    "building",
    "querying",
    "growth",
    "judging",
    "sweeping",
    "choosing",
    "duplicates",
    "sameness",
    "twins",
    "links",
    "kinship",
    "learning",
    "beyond",
    "painting",
    "serving",
    "kills",
    "fuzz",
)
ELSEWHERE = ("agreement", "findings", "lists")  # results that are no measure of speed or size
_HEAD = """# Benchmarks

`make bench` measures again how fast and how large everything is, `make study` how good the answers are; both write
this page (with `QUICK=1` for a look that keeps nothing). Figures of one run on one machine are for comparing with each
other: rivals take turns, so read the ratios. A bar is what the project sets out to reach; one that is missed is shown
as missed.
"""


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(RESULTS), "utf-8")


def page(results: Path) -> str:
    """The page, from the results in a folder."""
    return "\n".join([_HEAD, *(_section(results / f"{name}.json") for name in ORDER if _is_there(results, name))])


def _is_there(results: Path, name: str) -> bool:
    return (results / f"{name}.json").exists()


def _section(file: Path) -> str:
    """What one benchmark asks, on what it was run, and a row for every figure."""
    result = json.loads(file.read_text("utf-8"))
    module = ast.parse((HERE / f"{file.stem}.py").read_text("utf-8"))
    question = (ast.get_docstring(module) or file.stem).partition("\n")[0]
    lines = [f"## {question}", "", f"`python -m benchmarks.{file.stem}`. {_machine(result['machine'])}", ""]
    lines += ["| | measured | | bar | |", "|---|---:|---|---|---|"]
    for each in figures(result):
        lines.append(f"| {each.what} | {number(each.measured)} | {each.unit} | {each.bar} | {each.verdict} |")
    return "\n".join([*lines, ""])


def _machine(facts: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(facts["versions"].items()))
    return f"{facts['system']}, {facts['processors']} processors; Python {facts['python']}, {versions}."


def figures(result: dict[str, Any]) -> Iterator[Figure]:
    """The figures of a result; one that keeps plain numbers by collection has a figure for each, without bars."""
    for row in result.get("figures", ()):
        yield Figure(**row)
    if "figures" not in result:
        for collection, values in sorted(result["collections"].items()):
            for what, value in sorted(values.items()):
                yield Figure(f"{collection}: {what.replace('_', ' ')}", value)


if __name__ == "__main__":
    main()
