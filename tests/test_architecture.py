"""What ARCHITECTURE.md says of the tree is true."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
PACKAGE = ROOT / "src" / "pagekin"


def test_every_file_that_it_names_exists() -> None:
    named = re.findall(r"`((?:src|tests)/[\w/.]+)`", TEXT)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_it_names_every_package_and_module_of_the_root() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py", "__main__.py"}
    (table,) = re.findall(r"\| package \|.*?\n\n", TEXT, re.S)
    named = set(re.findall(r"`([\w.]+)`", "".join(line.split("|")[1] for line in table.split("\n") if line)))
    assert named == packages | modules


def test_the_layers_of_the_table_are_those_that_are_checked() -> None:
    """Top to bottom, every row lies below the one before it in the contract of import-linter."""
    contract = (ROOT / "pyproject.toml").read_text("utf-8")
    layers = re.findall(r'"(pagekin\.[^"]+)"', contract[contract.index("layers = [") :].split("]")[0])
    level = {name.strip(): k for k, layer in enumerate(layers) for name in layer.split("|")}
    rows = [line.split("|")[1] for line in TEXT.splitlines() if line.startswith("| `")]
    order = [[level[f"pagekin.{name.removesuffix('.py')}"] for name in re.findall(r"`([\w.]+)`", row)] for row in rows]
    assert all(max(upper) < min(lower) for upper, lower in pairwise(order))
