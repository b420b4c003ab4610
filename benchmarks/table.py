"""The page docs/benchmarks.md from the kept results: `python -m benchmarks.table` writes it."""

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
    "first_run",
    "compiling",
    "reading",
    "formats",
    "signatures",
    "building",
    "querying",
    "answers",
    "exporting",
    "growth",
    "spark",
    "shards",
    "judging",
    "sweeping",
    "blending",
    "blend_cost",
    "latent_sample",
    "choosing",
    "navigation",
    "missing_links",
    "duplicates",
    "sameness",
    "short_texts",
    "twins",
    "links",
    "kinship",
    "learning",
    "beyond",
    "painting",
    "serving",
    "visiting",
    "searching",
    "sites",
    "kills",
    "power_loss",
    "injected",
    "memory",
    "slow_clients",
    "hostile",
    "check_cost",
    "fuzz",
)
ELSEWHERE = ("agreement", "findings", "lists", "load", "vectors")  # results on pages of their own
_HEAD = """# Benchmarks

`make bench` measures speed and size, `make study` the quality of the answers; both write this page. With `QUICK=1` they
run shorter and keep no results. The figures are from single runs on one machine and are meant for comparison with each
other: competing systems take turns in a run, so read the ratios. The column *target* has the goal of the project, and
the last column says whether it was met.
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
    """The title of a benchmark, its machine, and a row for each figure."""
    result = json.loads(file.read_text("utf-8"))
    module = ast.parse((HERE / f"{file.stem}.py").read_text("utf-8"))
    title = (ast.get_docstring(module) or file.stem).partition("\n")[0]
    lines = [f"## {title.rstrip('.')}", "", f"`python -m benchmarks.{file.stem}`. {_machine(result['machine'])}", ""]
    lines += ["| | measured | unit | target | |", "|---|---:|---|---|---|"]
    for each in figures(result):
        lines.append(f"| {each.what} | {number(each.measured)} | {each.unit} | {each.bar} | {each.verdict} |")
    return "\n".join([*lines, ""])


def _machine(facts: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in sorted(facts["versions"].items()))
    return f"{facts['system']}, {facts['processors']} processors; Python {facts['python']}, {versions}."


def figures(result: dict[str, Any]) -> Iterator[Figure]:
    """The figures of a result; a result of plain numbers by collection has a figure for each, without a target."""
    for row in result.get("figures", ()):
        yield Figure(**row)
    if "figures" not in result:
        for collection, values in sorted(result["collections"].items()):
            for what, value in sorted(values.items()):
                yield Figure(f"{collection}: {what.replace('_', ' ')}", value)


if __name__ == "__main__":
    main()
