"""`pagekin.sweep`: a sweep with a table and a report, the paper's figures for a collection with computed sentences."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pagekin import __version__
from pagekin.bags.weigh import term_factors
from pagekin.engines.local import cpu_count
from pagekin.errors import MisuseError, need
from pagekin.evaluation import measures
from pagekin.evaluation.labels import LeftOutReason
from pagekin.evaluation.measures import GAMMA, MEASURES, NDCG, ORTHOGONAL, PAIR_MEASURES, PRECISION, SOMERS, TIES
from pagekin.evaluation.runs import top_pages
from pagekin.evaluation.sweep import SweepOutcome, csv_lines, flat_columns, system_of, write_parquet
from pagekin.evaluation.sweep import sweep as run_sweep
from pagekin.evaluation.sweep_plan import STRATEGY, FigurePlan, PlanEntry, plan_named
from pagekin.figures import charts
from pagekin.figures.charts import Bar, Curve, Gap, Section, Table, ranked
from pagekin.model.files import write_lines, written_whole
from pagekin.model.jsons import to_json
from pagekin.model.progress import Progress
from pagekin.search.evidence import UNLISTED

RANKS = (1, 2, 5, 10, 20, 50, 100)  # of figure 2
_LESS_IS_BETTER = (ORTHOGONAL, TIES)
_MIN_CLASS = 5  # other pages in the class of the source of figure 2
_TITLES = {
    GAMMA: "Gamma",
    SOMERS: "Somers' D",
    TIES: "tied pairs",
    ORTHOGONAL: "pairs inside classes with nothing in common",
}
_DISTANCES = ("same class", "sibling", "cousin", "unrelated")
_POINTS = 120
_MANY_TIES = 0.1


@dataclass(frozen=True)
class SweepReport:
    """The results of a sweep; docs/json.md describes a row."""

    output: str
    files: list[str]
    judged: int  # in this run
    reused: int  # from an earlier run
    rows: list[dict[str, Any]]
    left_out: list[LeftOutReason]


def sweep(
    plan: str | Path,
    output: str | Path | None = None,
    *,
    hierarchy: str | Path | None = None,
    references: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> SweepReport:
    """Evaluate the strategies of a plan, and write a table and a report into the folder `output`.

    `plan` is a TOML file or, for the strategies of the paper, a store. `references` are systems to compare with:
    tf-idf, more-like-this, co-citation and lsa. A sweep that was stopped continues.

    >>> pagekin.sweep("missing.toml")
    Traceback (most recent call last):
    pagekin.errors.MisuseError: there is no sweep file or store 'missing.toml'; ...
    """
    name = str(plan)
    folder = Path(output or f"{name.rstrip('/').removesuffix('.toml').removesuffix('.kin')}.sweep")
    chosen = plan_named(name, None if hierarchy is None else str(hierarchy), references)
    swept = run_sweep(chosen, folder, threads=threads or cpu_count(), progress=progress)
    rows, left_out = swept.rows(), swept.labelled.notes.reasons()
    files = _write(swept, {"rows": rows, "left_out": to_json(left_out)}, folder)
    return SweepReport(str(folder), files, swept.judged, len(swept.results) - swept.judged, rows, left_out)


def _write(swept: SweepOutcome, results: dict[str, Any], folder: Path) -> list[str]:
    write_lines(folder / "results.csv", csv_lines(results["rows"]))
    write_lines(folder / "results.json", [json.dumps(results, ensure_ascii=False)])
    write_lines(folder / "report.html", [report(swept)])
    names = ["results.csv", "results.json", "report.html"]
    try:
        need("pyarrow.parquet", what="Parquet", extra="parquet")
    except MisuseError:
        return names
    with written_whole(folder / "results.parquet") as path:
        write_parquet(results["rows"], path)
    return [*names, "results.parquet"]


def report(swept: SweepOutcome) -> str:
    population, options = swept.labelled.population, swept.plan.population
    introduction = [
        f"{len(population):,} pages in {len(population.names):,} classes of {options['hierarchy']}; every page is"
        f" a source, and all others are compared with it. Intervals: 95 %, {swept.plan.resamples:,} resamples of the"
        f" sources, seed {swept.plan.seed}; differences are paired by source. pagekin {__version__}.",
        "Gamma ignores tied pairs, so a strategy that ties many pages can have a high Gamma; Somers' D counts ties as"
        " failures. P@10 is the share of pages of the source's own class among the first ten.",
    ]
    return charts.page(f"Strategies compared on {swept.plan.store}", introduction, list(SweepFigures(swept).sections()))


@dataclass(frozen=True)
class SweepFigures:
    """The sections of the report."""

    swept: SweepOutcome

    @cached_property
    def region(self) -> str:
        """The region of fine distinctions: siblings or, in a hierarchy without siblings, all pairs."""
        measured = next(iter(self.swept.results.values())).facts["regions"]
        return "sibling" if measured.get("sibling", {}).get("pairs") else "all"

    def column(self, measure: str) -> str:
        return measures.measure_name(measure, self.region) if measure in PAIR_MEASURES else measure

    def title(self, measure: str) -> str:
        prefix = "sibling " if self.region == "sibling" and measure in PAIR_MEASURES else ""
        return prefix + _TITLES.get(measure, measure)

    def sections(self) -> Iterator[Section]:
        for figure in self.swept.plan.figures:
            yield self.figure(figure)
        if self.swept.plan.baselines:
            yield self.baselines()
        if len(self._strategies) > 1:
            yield self.example()
        yield Section("All numbers", tables=[self._numbers()], folded=True)
        if left_out := self.swept.labelled.notes.reasons():
            rows = [(each.count, each.reason, each.example) for each in left_out]
            yield Section("Left out, or to be borne in mind", tables=[Table(("", "what", "example"), rows)])

    def figure(self, figure: FigurePlan) -> Section:
        """A chart for every measure, sentences for the first and last, and weight curves if only weights vary."""
        first, last = figure.measures[0], figure.measures[-1]
        pictures = [self._chart(figure.entries, measure) for measure in figure.measures]
        sentences = [self._sentence(figure.entries, measure) for measure in dict.fromkeys((first, last))]
        settings = [entry.settings() for entry in figure.entries]
        varying = {key for each in settings for key in each if any(other.get(key) != each[key] for other in settings)}
        if len(varying) == 1:
            values = [each.get(next(iter(varying))) for each in settings]
            if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
                sentences.append(charts.trend(self.title(first), self.bars(figure.entries, first)))
        if varying and varying <= {"frequency_weight", "nmdf_center", "nmdf_width"}:
            pictures.append(self._weight_curves(figure.entries))
        return Section(figure.title, sentences, pictures)

    def baselines(self) -> Section:
        best = self._ordered_strategies()[:1]
        entries = (*best, *self.swept.plan.baselines)
        cut = [e.name for e in entries if self.swept.of(e).facts["longest_list"] is not None]
        warning = f"Top-k lists, whose Gamma and Somers' D cannot be compared: {', '.join(cut)}." if cut else ""
        sentences = [f"The best strategy by {self.title(SOMERS)} is {each.name}." for each in best]
        sentences += [self._sentence(entries, PRECISION), warning]
        pictures = [self._chart(entries, measure) for measure in (SOMERS, PRECISION, NDCG)]
        return Section("References", sentences, pictures)

    def bars(self, entries: Sequence[PlanEntry], measure: str) -> list[Bar]:
        name = self.column(measure)
        rows = ((entry.name, flat_columns(self.swept.of(entry).facts)) for entry in entries)
        return [Bar(label, row[name], row[f"{name} low"], row[f"{name} high"]) for label, row in rows]

    def _chart(self, entries: Sequence[PlanEntry], measure: str) -> tuple[str, str]:
        bars, title = self.bars(entries, measure), self.title(measure)
        order = ranked(bars, measure in _LESS_IS_BETTER)
        return title, charts.interval_chart(bars, title, order[0].name if order else None)

    def _sentence(self, entries: Sequence[PlanEntry], measure: str) -> str:
        known = {entry.name: entry for entry in entries}
        bars = self.bars(entries, measure)

        def gap(first: str, second: str) -> Gap:
            return self.gap(known[first], known[second], measure)

        text = charts.sentence(self.title(measure), bars, gap, less_is_better=measure in _LESS_IS_BETTER)
        return text + (self._tie_warning(entries, bars) if measure == GAMMA else "")

    def _tie_warning(self, entries: Sequence[PlanEntry], bars: Sequence[Bar]) -> str:
        """Gamma ignores ties; with many ties, the first by Gamma need not be the best."""
        order = ranked(bars)
        tied = {bar.name: bar.value for bar in self.bars(entries, TIES)}
        share = tied.get(order[0].name) if order else None
        if share is None or share < _MANY_TIES:
            return ""
        return f" But {share:.0%} of the pairs of {order[0].name} are tied, which Gamma ignores: see Somers' D."

    def gap(self, a: PlanEntry, b: PlanEntry, measure: str) -> Gap:
        name = self.column(measure)
        ours, theirs = (self.swept.of(each).table.only(name) for each in (a, b))
        found = measures.compare(ours, theirs, self.swept.plan.resamples, self.swept.plan.seed)[name]
        return Gap(found.value, found.low, found.high)

    def _weight_curves(self, entries: Sequence[PlanEntry]) -> tuple[str, str]:
        """The weight of a term by document frequency, relative to the largest weight (figure 8)."""
        assert self.swept.labelled.indexed is not None
        bags = len(self.swept.labelled.indexed.links.offsets) - 1
        df = np.unique(np.geomspace(1, max(bags, 2), _POINTS).astype(np.int64))
        curves = []
        for entry in entries:
            if entry.strategy is not None:
                weight = term_factors(entry.strategy, df, bags)
                points = list(zip(np.log(df).tolist(), (weight / weight.max()).tolist(), strict=True))
                curves.append(Curve(entry.name, points))
        title = "Term weight by document frequency (bags)"
        return title, charts.curve_chart(curves, title, int(math.log10(max(bags, 2))))

    @cached_property
    def _strategies(self) -> list[PlanEntry]:
        keys: dict[str, PlanEntry] = {}
        for _, entry in self.swept.plan.entries():
            if entry.kind == STRATEGY:
                keys.setdefault(self.swept.key(entry), entry)
        return list(keys.values())

    def _ordered_strategies(self) -> list[PlanEntry]:
        """The strategies by Somers' D in the region, the best first."""
        bars = self.bars(self._strategies, SOMERS)
        values = [bar.value if bar.value is not None else UNLISTED for bar in bars]
        return [self._strategies[k] for k in sorted(range(len(values)), key=lambda k: -values[k])]

    def example(self) -> Section:
        """A typical source under the best and the worst strategy (figure 2): the one with the median gain."""
        order = self._ordered_strategies()
        pair = (order[0], order[-1])
        source, values = self._typical_source(pair)
        population = self.swept.labelled.population
        distances = population.distances(source)
        tables = []
        for entry, value in zip(pair, values, strict=True):
            top = top_pages(system_of(entry, self.swept.labelled), source, RANKS[-1])
            rows = [
                (rank, score, "/".join(population.classes_of(page)[0]), _distance(int(distances[page])))
                for rank, (page, score) in enumerate(top, 1)
                if rank in RANKS
            ]
            caption = f"{entry.name}: Somers' D of this source {value:.2f}"
            tables.append(Table(("rank", "similarity", "class", ""), rows, caption))
        text = (
            f"{population.urls[source]}, of class {'/'.join(population.classes_of(source)[0])}: its gain in Somers' D"
            f" from the worst to the best strategy, {values[0] - values[1]:+.2f}, is the median over all sources with"
            f" at least {_MIN_CLASS} other pages in their class."
        )
        return Section("One source under the best and the worst strategy (figure 2)", [text], tables=tables)

    def _typical_source(self, pair: tuple[PlanEntry, PlanEntry]) -> tuple[int, list[float]]:
        results = [self.swept.of(each) for each in pair]
        place = results[0].table.names.index(self.column(SOMERS))
        values = np.array([each.table.by_source()[:, place] for each in results])
        sources, population = results[0].sources, self.swept.labelled.population
        sizes = np.bincount(population.classes)[population.classes[population.offsets[:-1]][sources]]
        known = ~np.isnan(values).any(axis=0)
        large = known & (sizes > _MIN_CLASS)
        usable = np.flatnonzero(large if large.any() else known)
        gains = (values[0] - values[1])[usable]
        chosen = int(usable[np.argsort(gains, kind="stable")[len(gains) // 2]])
        return int(sources[chosen]), values[:, chosen].tolist()

    def _numbers(self) -> Table:
        columns = [self.column(measure) for measure in MEASURES]
        rows = []
        for title, entry in self.swept.plan.entries():
            values = flat_columns(self.swept.of(entry).facts)
            rows.append((title, entry.name, *("" if values[m] is None else values[m] for m in columns)))
        return Table(("figure", "name", *columns), rows)


def _distance(distance: int) -> str:
    return _DISTANCES[distance] if distance < len(_DISTANCES) else f"distance {distance}"
