"""Who may look into whom: the rule of the house, read off the source files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pagekin

SOURCE = Path(pagekin.__file__).parent
DOORS = {"cli", "serving"}
ROOMS = {path.parent.name for path in SOURCE.glob("*/__init__.py")} - {"kernels", "model", "engines", "shapes", *DOORS}
# what joins rooms: the whole way, and what can be done with a collection or a result list that is open
JOINERS = {
    *("pipeline", "answers", "kin", "replying", "fusing", "linkage", "grouping", "twins", "judge", "withheld"),
    *("sweep", "sweep_report", "lesson", "transfer", "shapes"),
}
COMMON = {"arrays", "disk", "errors", "model", "kernels", "urls"}  # what every room may use

# part of the house -> the parts that it may look into
MAY: dict[str, set[str]] = {
    "__init__": {"answers", "duplicates", "grouping", "kin", "model", "pipeline", "store", "twins"},  # the front door
    "__main__": {"cli"},
    "errors": set(),
    "arrays": set(),
    "urls": {"errors"},
    "disk": {"errors", "model"},
    "kernels": {"arrays", "kernels"},
    "model": {"errors", "arrays", "model"},
    "engines": {"errors", "engines"},
    **{room: {room, *COMMON} for room in ROOMS},
    "query": {"query", "index", "signatures", *COMMON},  # asking a bag takes a signature and an index
    "pipeline": {"engines", *ROOMS, *COMMON},
    "answers": {"duplicates", "query", *COMMON},
    "kin": {"answers", "bags", "duplicates", "fusing", "index", "query", "reading", "replying", "store", *COMMON},
    "replying": {"answers", "duplicates", "fusing", "kin", "links", "query", *COMMON},
    "fusing": {"answers", "kin", "linkage", "links", "query", *COMMON},  # words and links of an open collection
    # links, as the strategy of a collection counts them
    "linkage": {"bags", "kin", "links", "store", *COMMON},
    "grouping": {"duplicates", "reading", *COMMON},  # results of any engine may be HTML
    "twins": {"bags", "duplicates", "kin", "store", *COMMON},  # templates of a collection, and its near-duplicates
    # what is judged is made by rooms
    "judge": {"answers", "bags", "evaluation", "kin", "pipeline", "query", "store", *COMMON},
    "sweep": {"__init__", "engines", "evaluation", "judge", "kin", "pipeline", *COMMON},  # judges many, side by side
    "sweep_report": {"__init__", "bags", "evaluation", "figures", "sweep", *COMMON},  # draws what a sweep found
    # counts words, takes the links of an open collection, and lets learn from them
    "lesson": {"__init__", "bags", "kin", "learning", "linkage", "links", "pipeline", "store", "withheld", *COMMON},
    # what links are worth beside words, from those that were kept apart
    "withheld": {"learning", "linkage", "links", *COMMON},
    # what was learned, on documents and queries that are read as pages are
    "transfer": {"bags", "judge", "learning", "lesson", "pipeline", "reading", "store", *COMMON},
    "shapes": {"answers", "duplicates", "grouping", "kin", "linkage", "links", "shapes", "store", "twins"},  # as JSON
    "serving": {"__init__", "serving", *JOINERS, *ROOMS, *COMMON},
    "cli": {"__init__", "cli", "engines", "serving", *JOINERS, *ROOMS, *COMMON},
}
MODULES = sorted(SOURCE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The part of the house that a file belongs to."""
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def looked_into(path: Path) -> Iterator[tuple[int, str]]:
    """(line, part) for every import of ours in a file, wherever in the file it stands."""
    package = ("pagekin", *path.relative_to(SOURCE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            module = (*above, *(node.module.split(".") if node.module else ()))
            names = [(*module, alias.name) for alias in node.names]
        else:
            continue
        for name in names:
            if name[0] == "pagekin":
                known = len(name) > 1 and name[1] in MAY
                yield node.lineno, name[1] if known else "__init__"


@pytest.mark.parametrize("path", MODULES, ids=[path.relative_to(SOURCE).as_posix() for path in MODULES])
def test_a_part_looks_only_where_it_may(path: Path) -> None:
    allowed = MAY[part_of(path)]
    assert [(line, part) for line, part in looked_into(path) if part not in allowed] == []


def test_every_part_of_the_house_has_a_rule() -> None:
    assert {part_of(path) for path in MODULES} == set(MAY)


def test_only_the_pipeline_and_the_doors_know_several_rooms() -> None:
    knowing = {part_of(path) for path in MODULES if len({p for _, p in looked_into(path) if p in ROOMS}) > 1}
    assert knowing <= {*JOINERS, *DOORS, "query", "__init__"}


def test_nobody_looks_into_a_door_but_the_command_line() -> None:
    looking = {(part_of(path), part) for path in MODULES for _, part in looked_into(path) if part in DOORS}
    assert looking <= {("__main__", "cli"), ("cli", "cli"), ("cli", "serving"), ("serving", "serving")}


def test_the_rule_sees_every_way_to_import() -> None:
    assert {part for _, part in looked_into(SOURCE / "cli" / "demo.py")} >= {"village", "cli", "pipeline", "kin"}


def test_every_part_says_what_it_is_for() -> None:
    assert [path for path in MODULES if not ast.get_docstring(ast.parse(path.read_text("utf-8")))] == []


def test_nothing_below_the_doors_speaks_or_reads_the_clock() -> None:
    """Style: compute in the rooms, speak at the doors; the same input gives the same bytes."""
    clocks = {("time", "time"), ("datetime", "now"), ("datetime", "utcnow"), ("date", "today")}
    found = []
    for path in MODULES:
        if part_of(path) == "cli" or path.name == "letters.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                found.append((path.name, node.lineno))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if (node.value.id, node.attr) in clocks:
                    found.append((path.name, node.lineno))
    assert found == []
