"""Sweep files: the strategies to compare, in figures, and the hierarchy and baselines.

store = "my.kin"
hierarchy = "labels.tsv"
references = ["tf-idf", "more-like-this"]

[base]
preset = "paper"

[[figure]]
title = "Windows"
grid = { window_width = [0, 4, 8, 16, 32] }
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Self

from pagekin.errors import MisuseError
from pagekin.evaluation.baselines import BASELINES
from pagekin.evaluation.labelled import BY_PATH
from pagekin.evaluation.measures import GAMMA, MEASURES, PRECISION, RESAMPLES, SEED, SOMERS
from pagekin.evaluation.options import HierarchyOptions
from pagekin.model.options import options_of
from pagekin.model.strategy import PRESETS, Strategy, resolve_paths

SHOWN = (GAMMA, SOMERS, PRECISION)  # in a figure, by default
STRATEGY, BASELINE, RUN = "strategy", "reference", "run"  # kinds of entries, as results name them
MAX_ENTRIES = 10_000
_PATHS = ("store", "hierarchy", "tree")
_POPULATION = {"hierarchy": str, **{each.field: each.kind for each in options_of(HierarchyOptions)}}
_PLAN = _POPULATION | {"store": str, "resamples": int, "references": list, "runs": list, "base": dict, "figure": list}
_FIGURE: dict[str, type] = {"title": str, "measures": list, "base": dict, "grid": dict, "strategies": dict, "same": str}
_TYPES = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}


@dataclass(frozen=True)
class PlanEntry:
    """A system to evaluate: a strategy, a baseline by its name, or a run file."""

    name: str
    kind: str = STRATEGY
    strategy: Strategy | None = None
    source: str = ""  # the name of the baseline, or the path of the run file

    def settings(self) -> dict[str, Any]:
        return self.strategy.as_dict() if self.strategy is not None else {"source": self.source}


@dataclass(frozen=True)
class FigurePlan:
    """The entries that a figure compares, and the measures that it shows."""

    title: str
    entries: tuple[PlanEntry, ...]
    measures: tuple[str, ...] = SHOWN


@dataclass(frozen=True)
class SweepPlan:
    """A complete sweep."""

    figures: tuple[FigurePlan, ...]
    store: str = ""
    population: dict[str, Any] = field(default_factory=dict)  # options of `pagekin evaluate`
    resamples: int = RESAMPLES
    baselines: tuple[PlanEntry, ...] = ()

    @property
    def seed(self) -> int:
        return int(self.population.get("seed", SEED))

    def entries(self) -> Iterator[tuple[str, PlanEntry]]:
        for figure in self.figures:
            yield from ((figure.title, entry) for entry in figure.entries)
        yield from (("references", entry) for entry in self.baselines)

    def with_population(self, store: str | None, **options: Any) -> Self:
        """The plan for another store or with other options; None changes nothing."""
        given = {key: value for key, value in options.items() if value is not None}
        return replace(self, store=store or self.store, population={**self.population, **given})

    def hierarchy_options(self) -> tuple[str, HierarchyOptions]:
        """The hierarchy and how it is used; raise MisuseError if the store or the hierarchy is missing."""
        if not self.store:
            raise MisuseError('the sweep names no store; add a line such as store = "my.kin"')
        if "hierarchy" not in self.population:
            raise MisuseError('the sweep names no hierarchy; add hierarchy = "labels.tsv", or give --hierarchy')
        options = {key: value for key, value in self.population.items() if key != "hierarchy"}
        return self.population["hierarchy"], HierarchyOptions(**options)


def plan_named(name: str, hierarchy: str | None, references: Sequence[str] | None) -> SweepPlan:
    """The plan of a sweep file or, for a store, the paper's; with another hierarchy and other baselines if given."""
    path = Path(name)
    if not path.is_dir() and not path.is_file():
        problem = f"there is no sweep file or store {name!r}"
        raise MisuseError(f"{problem}; `pagekin sweep --print` prints a file to begin with")
    plan = paper_plan() if path.is_dir() else read_plan(path)
    plan = plan.with_population(name if path.is_dir() else None, hierarchy=hierarchy)
    if references is None:
        return plan
    others = (entry for entry in plan.baselines if entry.kind != BASELINE)
    return replace(plan, baselines=(*baselines_named(references, "--references", ""), *others))


def read_plan(file: Path) -> SweepPlan:
    """The plan of a sweep file; its paths are relative to the folder of the file."""
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise MisuseError(f"{file} is not a sweep file: {reason}") from error
    return plan_of(table, str(file), file.parent)


def paper_plan() -> SweepPlan:
    """The figures of the paper, and a few more; for any store and hierarchy."""
    return plan_of(tomllib.loads(paper_text()), "the paper's sweep", Path())


def paper_text() -> str:
    return Path(__file__).with_name("paper.toml").read_text("utf-8")


def plan_of(table: Mapping[str, Any], where: str, folder: Path) -> SweepPlan:
    _check_types(table, _PLAN, where)
    table = _resolve_weights(folder, table)
    paths = {key: table[key] if table[key] == BY_PATH else str(folder / table[key]) for key in _PATHS if key in table}
    base = _strategy(table.get("base", {}), PRESETS["text-only"], f"{where}, [base]")
    figures: dict[str, FigurePlan] = {}
    for number, each in enumerate(table.get("figure", ()), 1):
        figure = _figure(each, base, figures, f"{where}, figure {number}")
        if figure.title in figures:
            raise MisuseError(f"{where}: two figures are called {figure.title!r}; titles must be unique")
        figures[figure.title] = figure
    baselines = (*baselines_named(table.get("references", ()), where), *_runs(table.get("runs", ()), where, folder))
    if not figures and not baselines:
        raise MisuseError(f"{where} has nothing to evaluate; give it a [[figure]] with strategies or a grid")
    resamples = table.get("resamples", RESAMPLES)
    if resamples < 1:
        raise MisuseError(f"{where}: resamples is {resamples}; it must be at least 1")
    population = {key: value for key, value in {**table, **paths}.items() if key in _POPULATION}
    return SweepPlan(tuple(figures.values()), paths.get("store", ""), population, resamples, baselines)


def _resolve_weights(folder: Path, table: Any) -> Any:
    """A table in which all files of weights, also those of grids, are relative to a folder."""
    if isinstance(table, list):
        return [_resolve_weights(folder, each) for each in table]
    if not isinstance(table, dict):
        return table
    resolved = resolve_paths(folder, {key: _resolve_weights(folder, value) for key, value in table.items()})
    if isinstance(resolved.get("weights"), list):  # in a grid
        resolved["weights"] = [resolve_paths(folder, {"weights": each})["weights"] for each in resolved["weights"]]
    return resolved


def _check_types(table: Mapping[str, Any], known: Mapping[str, type], where: str) -> None:
    for key, value in table.items():
        _check_name(key, known, "", where)
        if not isinstance(value, known[key]) or (isinstance(value, bool) and known[key] is not bool):
            raise MisuseError(f"{where}: {key} = {value!r} should be {_TYPES[known[key]]}")


def _check_name(name: Any, known: Any, what: str, where: str) -> None:
    if not isinstance(name, str) or name not in known:
        raise MisuseError(f"{where}: there is no {what}{name!r}; there are {', '.join(known)}")


def _strategy(settings: Mapping[str, Any], base: Strategy, where: str) -> Strategy:
    """The base, or the preset that the settings name, with the settings."""
    settings = dict(settings)
    preset = settings.pop("preset", None)
    if preset is not None:
        _check_name(preset, PRESETS, "preset ", where)
        base = PRESETS[preset]
    try:
        return Strategy.from_dict({**base.as_dict(), **settings}, where)
    except MisuseError as error:
        raise error if str(error).startswith(where) else MisuseError(f"{where}: {error}") from error


def _figure(table: Any, base: Strategy, before: Mapping[str, FigurePlan], where: str) -> FigurePlan:
    if not isinstance(table, dict):
        raise MisuseError(f"{where} should be a table: begin it with [[figure]]")
    _check_types(table, _FIGURE, where)
    title = table.get("title")
    if not title:
        raise MisuseError(f'{where} has no title; add a line such as title = "Windows"')
    where = f"{where} ({title})"
    base = _strategy(table.get("base", {}), base, f"{where}, base")
    same = table.get("same")
    if same is not None and same not in before:
        raise MisuseError(f"{where}: no figure before it is called {same!r}; `same` is the title of one")
    entries = [
        *(before[same].entries if same is not None else ()),
        *_listed(table.get("strategies", {}), base, where),
        *_grid(table.get("grid", {}), base, where),
    ]
    if not entries:
        raise MisuseError(f"{where} has no strategies: give it a grid, or [figure.strategies]")
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise MisuseError(f"{where}: two strategies are called {name!r}; names must be unique")
    for measure in table.get("measures", ()):
        _check_name(measure, MEASURES, "measure ", where)
    return FigurePlan(title, tuple(entries), tuple(table.get("measures", ())) or SHOWN)


def _listed(strategies: Mapping[str, Any], base: Strategy, where: str) -> Iterator[PlanEntry]:
    for name, settings in strategies.items():
        if not isinstance(settings, dict):
            raise MisuseError(f"{where}: {name} = {settings!r} should be a table of settings")
        yield PlanEntry(name, strategy=_strategy(settings, base, f"{where}, {name}"))


def _grid(grid: Mapping[str, Any], base: Strategy, where: str) -> Iterator[PlanEntry]:
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise MisuseError(f"{where}: grid: {key} = {values!r} should be a list of values")
    if prod(map(len, grid.values())) > MAX_ENTRIES:
        raise MisuseError(f"{where}: its grid has more than {MAX_ENTRIES:,} strategies; give it fewer values")
    for values in product(*grid.values()) if grid else ():
        settings = dict(zip(grid, values, strict=True))
        shown = {key: str(value).lower() if isinstance(value, bool) else value for key, value in settings.items()}
        name = ", ".join(f"{key} {value}" for key, value in shown.items())
        yield PlanEntry(name, strategy=_strategy(settings, base, f"{where}, grid"))


def baselines_named(names: Iterable[Any], where: str, what: str = "reference ") -> Iterator[PlanEntry]:
    for name in names:
        _check_name(name, BASELINES, what, where)
        yield PlanEntry(name, BASELINE, source=name)


def _runs(names: Any, where: str, folder: Path) -> Iterator[PlanEntry]:
    for name in names:
        if not isinstance(name, str) or not (folder / name).is_file():
            raise MisuseError(f"{where}: there is no run file {name!r} in {str(folder)!r}")
        yield PlanEntry(name, RUN, source=str(folder / name))
