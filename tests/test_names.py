"""Rules for every module of the package, checked on the syntax trees. Imports are checked by import-linter."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import pagekin

SOURCE = Path(pagekin.__file__).parent
TOPMOST = ("cli/", "serving/")  # only these print and read the clock
CLOCKS = {("time", "time"), ("datetime", "now"), ("datetime", "utcnow"), ("date", "today")}
ROOT_FILES = 6


@pytest.fixture(scope="module")
def modules() -> dict[str, ast.Module]:
    return {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8")) for path in SOURCE.rglob("*.py")}


def print_and_clock(tree: ast.Module) -> list[int]:
    """Lines that print or read the clock."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            found.append(node.lineno)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in CLOCKS:
                found.append(node.lineno)
        if isinstance(node, ast.ImportFrom):
            if any((node.module, alias.name) in CLOCKS for alias in node.names):
                found.append(node.lineno)
    return found


def test_no_class_name_occurs_twice(modules: dict[str, ast.Module]) -> None:
    classes = defaultdict(list)
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(name)
    assert {name: where for name, where in classes.items() if len(where) > 1} == {}


def test_the_package_root_holds_few_modules(modules: dict[str, ast.Module]) -> None:
    files = {path.name for path in SOURCE.iterdir() if path.is_file()}
    assert len(files - {"py.typed"}) <= ROOT_FILES
    assert files - set(modules) == {"py.typed", "__init__.pyi"}


def test_every_module_has_a_docstring(modules: dict[str, ast.Module]) -> None:
    assert [name for name, tree in modules.items() if not ast.get_docstring(tree)] == []


def test_nothing_below_cli_and_serving_prints_or_reads_the_clock(modules: dict[str, ast.Module]) -> None:
    below = {name: tree for name, tree in modules.items() if not name.startswith(TOPMOST)}
    assert {name: lines for name, tree in below.items() if (lines := print_and_clock(tree))} == {}


@pytest.mark.parametrize(
    "line", ["print(1)", "from time import time", "x = time.time()", "x = datetime.now()", "x = date.today()"]
)
def test_the_rule_sees_every_way_to_print_and_to_read_the_clock(line: str) -> None:
    assert print_and_clock(ast.parse(line)) == [1]
    assert print_and_clock(ast.parse("x = time.monotonic()")) == []
