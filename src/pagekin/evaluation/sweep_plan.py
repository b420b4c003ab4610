"""What a sweep file asks for: strategies in figures, references, and what they are judged by.

store = "my.kin"
hierarchy = "labels.tsv"
references = ["tf-idf", "more-like-this"]

[base]
preset = "paper"

[[figure]]
title = "Windows"
grid = { window_width = [0, 4, 8, 16, 32] }
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from pagekin.errors import MisuseError
from pagekin.evaluation.baselines import REFERENCES
from pagekin.evaluation.measures import GAMMA, NDCG, ORTHOGONAL, PRECISION, RESAMPLES, SOMERS, TIES
from pagekin.model.strategy import PRESETS, Strategy, resolve_paths

MEASURES = (GAMMA, SOMERS, TIES, PRECISION, NDCG, ORTHOGONAL)
SHOWN = (GAMMA, SOMERS, PRECISION)  # in a figure, unless it says otherwise
STRATEGY, REFERENCE, RUN = "strategy", "reference", "run"
MOST = 10_000  # entries of a sweep
_BENCH: dict[str, type] = {
    "hierarchy": str,
    "tree": str,
    "depth": int,
    "strict_depth": bool,
    "multi": str,
    "distance": str,
    "sample": int,
    "seed": int,
    "min_in_links": int,
}
_PLAN: dict[str, type] = {
    **_BENCH,
    "store": str,
    "resamples": int,
    "references": list,
    "runs": list,
    "base": dict,
    "figure": list,
}
_FIGURE: dict[str, type] = {"title": str, "measures": list, "base": dict, "grid": dict, "strategies": dict, "same": str}
_TOLD = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}
_FILES = ("store", "hierarchy", "tree")
BY_PATH = "path"


@dataclass(frozen=True)
class PlanEntry:
    """One thing to judge: a strategy, a reference by its name, or a run file."""

    name: str
    kind: str = STRATEGY
    strategy: Strategy | None = None
    source: str = ""

    def settings(self) -> dict[str, Any]:
        """What makes it what it is."""
        return self.strategy.as_dict() if self.strategy is not None else {"source": self.source}


@dataclass(frozen=True)
class FigurePlan:
    """Entries to be drawn side by side, and by which measures."""

    title: str
    entries: tuple[PlanEntry, ...]
    measures: tuple[str, ...] = SHOWN


@dataclass(frozen=True)
class SweepPlan:
    """Everything that a sweep is to do."""

    figures: tuple[FigurePlan, ...]
    store: str = ""
    bench: dict[str, Any] = field(default_factory=dict)  # as in `pagekin evaluate`
    resamples: int = RESAMPLES
    references: tuple[PlanEntry, ...] = ()

    def with_bench(self, store: str | None, **bench: Any) -> SweepPlan:
        """The plan for another store, or judged otherwise; what is None stays."""
        told = {key: value for key, value in bench.items() if value is not None}
        return replace(self, store=store or self.store, bench={**self.bench, **told})


def read_plan(file: Path) -> SweepPlan:
    """The plan in a sweep file; its paths are those seen from the folder that it is in."""
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise MisuseError(f"{file} is no sweep file: {reason}") from error
    return plan_of(table, str(file), file.parent)


def paper_plan() -> SweepPlan:
    """The figures of the paper, and a few more; for any store and hierarchy."""
    return plan_of(tomllib.loads(paper_text()), "the paper's sweep", Path())


def paper_text() -> str:
    """The sweep file of the paper's figures, to start from."""
    return files("pagekin.evaluation").joinpath("paper.toml").read_text("utf-8")


def plan_of(table: Mapping[str, Any], where: str, folder: Path) -> SweepPlan:
    """The plan that a table describes."""
    _check(table, _PLAN, where)
    table = _seen_from(folder, table)
    base = _strategy(table.get("base", {}), PRESETS["default"], f"{where}, [base]")
    figures: dict[str, FigurePlan] = {}
    for number, each in enumerate(table.get("figure", ()), 1):
        figure = _figure(each, base, figures, f"{where}, figure {number}")
        if figure.title in figures:
            raise MisuseError(f"{where}: two figures are called {figure.title!r}")
        figures[figure.title] = figure
    references = (*_references(table, where), *_runs(table, where, folder))
    if not figures and not references:
        raise MisuseError(f"{where} has nothing to judge; give it a [[figure]] with strategies or a grid")
    bench = {key: _path(folder, table[key]) if key in _FILES else table[key] for key in _BENCH if key in table}
    if table.get("resamples", 1) < 1:
        raise MisuseError(f"{where}: resamples is {table['resamples']}; it must be at least 1")
    store = _path(folder, table["store"]) if "store" in table else ""
    return SweepPlan(tuple(figures.values()), store, bench, table.get("resamples", RESAMPLES), references)


def _seen_from(folder: Path, table: Any) -> Any:
    """A table in which files of weights, wherever it has any, are named as they are seen from a folder."""
    if isinstance(table, list):
        return [_seen_from(folder, each) for each in table]
    if not isinstance(table, dict):
        return table
    told = resolve_paths(folder, {key: _seen_from(folder, value) for key, value in table.items()})
    many = told.get("weights")  # of a grid
    if isinstance(many, list):
        told["weights"] = [resolve_paths(folder, {"weights": each})["weights"] for each in many]
    return told


def _path(folder: Path, name: str) -> str:
    return name if name == BY_PATH else str(folder / name)


def _check(table: Mapping[str, Any], known: Mapping[str, type], where: str) -> None:
    for key, value in table.items():
        if key not in known:
            raise MisuseError(f"{where}: there is no {key!r}; there are {', '.join(known)}")
        if not isinstance(value, known[key]) or (isinstance(value, bool) and known[key] is not bool):
            raise MisuseError(f"{where}: {key} = {value!r} should be {_TOLD[known[key]]}")


def _strategy(settings: Mapping[str, Any], base: Strategy, where: str) -> Strategy:
    """A base and what is changed in it; `preset` begins with another."""
    settings = dict(settings)
    preset = settings.pop("preset", None)
    if preset is not None and (not isinstance(preset, str) or preset not in PRESETS):
        raise MisuseError(f"{where}: there is no preset {preset!r}; there are {', '.join(PRESETS)}")
    begin = base if preset is None else PRESETS[preset]
    try:
        return Strategy.from_dict({**begin.as_dict(), **settings}, where)
    except MisuseError as error:
        raise error if str(error).startswith(where) else MisuseError(f"{where}: {error}") from error


def _figure(table: Any, base: Strategy, before: Mapping[str, FigurePlan], where: str) -> FigurePlan:
    if not isinstance(table, dict):
        raise MisuseError(f"{where} should be a table: begin it with [[figure]]")
    _check(table, _FIGURE, where)
    title = table.get("title")
    if not title:
        raise MisuseError(f"{where} has no title")
    where = f"{where} ({title})"
    base = _strategy(table.get("base", {}), base, f"{where}, base")
    entries = [
        *_same(table, before, where),
        *_listed(table.get("strategies", {}), base, where),
        *_grid(table.get("grid", {}), base, where),
    ]
    if not entries:
        raise MisuseError(f"{where} has no strategies: give it a grid, or [figure.strategies]")
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise MisuseError(f"{where}: two strategies are called {name!r}")
    measures = tuple(table.get("measures", SHOWN))
    for measure in measures:
        if measure not in MEASURES:
            raise MisuseError(f"{where}: there is no measure {measure!r}; there are {', '.join(MEASURES)}")
    return FigurePlan(title, tuple(entries), measures or SHOWN)


def _same(table: Mapping[str, Any], before: Mapping[str, FigurePlan], where: str) -> tuple[PlanEntry, ...]:
    if "same" not in table:
        return ()
    if table["same"] not in before:
        raise MisuseError(f"{where}: no figure before it is called {table['same']!r}, whose strategies it wants")
    return before[table["same"]].entries


def _listed(strategies: Mapping[str, Any], base: Strategy, where: str) -> Iterator[PlanEntry]:
    for name, settings in strategies.items():
        if not isinstance(settings, dict):
            raise MisuseError(f"{where}: {name} = {settings!r} should be a table of settings")
        yield PlanEntry(name, strategy=_strategy(settings, base, f"{where}, {name}"))


def _grid(grid: Mapping[str, Any], base: Strategy, where: str) -> Iterator[PlanEntry]:
    """Every combination of the values that are given for settings."""
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise MisuseError(f"{where}: grid: {key} = {values!r} should be a list of values")
    if prod(map(len, grid.values())) > MOST:
        raise MisuseError(f"{where}: its grid has more than {MOST:,} strategies")
    for values in product(*grid.values()) if grid else ():
        settings = dict(zip(grid, values, strict=True))
        name = ", ".join(f"{key} {_shown(value)}" for key, value in settings.items())
        yield PlanEntry(name, strategy=_strategy(settings, base, f"{where}, grid"))


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _references(table: Mapping[str, Any], where: str) -> Iterator[PlanEntry]:
    for name in table.get("references", ()):
        if name not in REFERENCES:
            raise MisuseError(f"{where}: there is no reference {name!r}; there are {', '.join(REFERENCES)}")
        yield PlanEntry(name, REFERENCE, source=name)


def _runs(table: Mapping[str, Any], where: str, folder: Path) -> Iterator[PlanEntry]:
    for name in table.get("runs", ()):
        if not isinstance(name, str) or not (folder / name).is_file():
            raise MisuseError(f"{where}: there is no run file {name!r}")
        yield PlanEntry(name, RUN, source=str(folder / name))
