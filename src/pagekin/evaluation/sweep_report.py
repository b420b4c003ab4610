"""What a sweep found, drawn: the paper's figures for this collection, each with a sentence that was computed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pagekin import __version__
from pagekin.bags.term_weights import term_factors
from pagekin.evaluation.measures import (
    GAMMA,
    NDCG,
    ORTHOGONAL,
    PRECISION,
    SEED,
    SOMERS,
    TIES,
    Ratios,
    compare,
    name_of,
)
from pagekin.evaluation.sweep import SweepOutcome, system_of
from pagekin.evaluation.sweep_plan import STRATEGY, FigurePlan, PlanEntry
from pagekin.evaluation.sweep_results import flat
from pagekin.figures.charts import Bar, Curve, curve_chart, interval_chart
from pagekin.figures.report_page import Section, Table, page
from pagekin.figures.sentences import Gap, ranked, sentence, trend
from pagekin.search.evidence import UNLISTED

RANKS = (1, 2, 5, 10, 20, 50, 100)  # of figure 2
_LESS = (ORTHOGONAL, TIES)
_FEW = 5  # pages of its class that the source of figure 2 should have at least
_TITLES = {
    GAMMA: "Gamma",
    SOMERS: "Somers' D",
    TIES: "tied pairs",
    ORTHOGONAL: "pairs inside classes with nothing in common",
}
_POINTS = 120
_MANY_TIES = 0.1


def report(swept: SweepOutcome) -> str:
    """The page."""
    return page(f"Strategies compared on {swept.plan.store}", list(_facts(swept)), list(Drawing(swept).sections()))


def _facts(swept: SweepOutcome) -> Iterator[str]:
    population, bench = swept.case.population, swept.plan.bench
    yield (
        f"{len(population):,} pages in {len(population.names):,} classes of {bench['hierarchy']}; every page is"
        f" a source, and all others are compared with it. Intervals: 95 %, {swept.plan.resamples:,} resamples of the"
        f" sources, seed {bench.get('seed', SEED)}; differences are paired by source. pagekin {__version__}."
    )
    yield (
        "Gamma leaves tied pairs out, so that a strategy that says little can have much of it; Somers' D counts ties"
        " as failures. P@10 is the share of pages of the source's own class among the first ten."
    )


@dataclass(frozen=True)
class Drawing:
    """Figures of a sweep."""

    swept: SweepOutcome

    @cached_property
    def region(self) -> str:
        """Where fine distinctions are made: among siblings or, in a hierarchy that has none, everywhere."""
        measured = next(iter(self.swept.results.values())).facts["regions"]
        return "sibling" if measured.get("sibling", {}).get("pairs") else "all"

    def column(self, measure: str) -> str:
        """The name of a measure in tables: measures of pairs are those of the region."""
        return name_of(measure, self.region) if measure in (GAMMA, SOMERS, TIES) else measure

    def title(self, measure: str) -> str:
        """The name of a measure for people."""
        prefix = "sibling " if self.region == "sibling" and measure in (GAMMA, SOMERS, TIES) else ""
        return prefix + _TITLES.get(measure, measure)

    def sections(self) -> Iterator[Section]:
        """The figures in the order of the plan, then references, one source, and all numbers."""
        for figure in self.swept.plan.figures:
            yield self.figure(figure)
        if self.swept.plan.references:
            yield self.references()
        if len(self._strategies()) > 1:
            yield self.example()
        yield Section("All numbers", tables=[self._numbers()], folded=True)
        notes = self.swept.case.notes.rows()
        if notes:
            rows = [(count, reason, example) for reason, count, example in notes]
            yield Section("Left out, or to be borne in mind", tables=[Table(("", "what", "example"), rows)])

    def figure(self, figure: FigurePlan) -> Section:
        """Bars for every measure of a figure, a sentence for the first of them, and curves of weights if these vary."""
        charts = [self._chart(figure.entries, measure) for measure in figure.measures]
        told = [
            self._told(figure.entries, measure) for measure in dict.fromkeys((figure.measures[0], figure.measures[-1]))
        ]
        varying = _varying(figure.entries)
        if len(varying) == 1 and _is_number(figure.entries, next(iter(varying))):
            told.append(trend(self.title(figure.measures[0]), self.bars(figure.entries, figure.measures[0])))
        if varying and varying <= {"frequency_weight", "nmdf_center", "nmdf_width"}:
            charts.append(self._curves(figure.entries))
        return Section(figure.title, told, charts)

    def references(self) -> Section:
        """The best strategy, if there is one, beside what others do."""
        best = self._by_order()[:1]
        entries = (*best, *self.swept.plan.references)
        measures = (SOMERS, PRECISION, NDCG)
        cut = [e.name for e in entries if self.swept.of(e).facts["longest_list"] is not None]
        doubt = f"Lists of the top only, whose Gamma and Somers' D cannot be compared: {', '.join(cut)}." if cut else ""
        told = [f"The best strategy by {self.title(SOMERS)} is {each.name}." for each in best]
        told += [self._told(entries, PRECISION), doubt]
        return Section("References", told, [self._chart(entries, measure) for measure in measures])

    def bars(self, entries: Sequence[PlanEntry], measure: str) -> list[Bar]:
        """The values of entries by a measure."""
        name = self.column(measure)
        columns = [flat(self.swept.of(entry).facts) for entry in entries]
        return [
            Bar(entry.name, row[name], row[f"{name} low"], row[f"{name} high"])
            for entry, row in zip(entries, columns, strict=True)
        ]

    def _chart(self, entries: Sequence[PlanEntry], measure: str) -> tuple[str, str]:
        bars = self.bars(entries, measure)
        order = ranked(bars, measure in _LESS)
        title = self.title(measure)
        return title, interval_chart(bars, title, order[0].name if order else None)

    def _told(self, entries: Sequence[PlanEntry], measure: str) -> str:
        known = {entry.name: entry for entry in entries}

        def gap(first: str, second: str) -> Gap:
            found = self.gap(known[first], known[second], measure)
            return found if found is not None else Gap(0.0, 0.0, 0.0)

        bars = self.bars(entries, measure)
        told = sentence(self.title(measure), bars, gap, less_is_better=measure in _LESS)
        return told + (self._doubt(entries, bars) if measure == GAMMA else "")

    def _doubt(self, entries: Sequence[PlanEntry], bars: Sequence[Bar]) -> str:
        """Gamma leaves ties out; where these are many, the first by Gamma need not be the best."""
        order = ranked(bars)
        tied = {bar.name: bar.value for bar in self.bars(entries, TIES)}
        share = tied.get(order[0].name) if order else None
        if share is None or share < _MANY_TIES:
            return ""
        return f" But of the pairs of {order[0].name} {share:.0%} are tied, which Gamma leaves out: see Somers' D."

    def gap(self, a: PlanEntry, b: PlanEntry, measure: str) -> Gap | None:
        """a less b, with the interval of a paired bootstrap."""
        name = self.column(measure)
        ours, theirs = (_only(self.swept.of(each).table, name) for each in (a, b))
        seed = self.swept.plan.bench.get("seed", SEED)
        found = compare(ours, theirs, self.swept.plan.resamples, seed)[name]
        return None if math.isnan(found.value) else Gap(found.value, found.low, found.high)

    def _curves(self, entries: Sequence[PlanEntry]) -> tuple[str, str]:
        """What a term of each document frequency is multiplied with, the most being one (figure 8)."""
        assert self.swept.case.indexed is not None
        bags = len(self.swept.case.indexed.links.offsets) - 1
        df = np.unique(np.geomspace(1, max(bags, 2), _POINTS).astype(np.int64))
        curves = []
        for entry in entries:
            if entry.strategy is not None:
                weight = term_factors(entry.strategy, df, bags)
                points = list(zip(np.log(df).tolist(), (weight / weight.max()).tolist(), strict=True))
                curves.append(Curve(entry.name, points))
        title = "What a term counts, by the number of bags that hold it"
        return title, curve_chart(curves, title, int(math.log10(max(bags, 2))))

    def _strategies(self) -> list[PlanEntry]:
        """Those that differ, in the order of the plan."""
        keys: dict[str, PlanEntry] = {}
        for _, entry in self.swept.entries():
            if entry.kind == STRATEGY:
                keys.setdefault(self.swept.key(entry), entry)
        return list(keys.values())

    def _by_order(self) -> list[PlanEntry]:
        """Strategies, the best first, by Somers' D where fine distinctions are made."""
        found = self._strategies()
        values = [bar.value if bar.value is not None else UNLISTED for bar in self.bars(found, SOMERS)]
        return [found[k] for k in sorted(range(len(found)), key=lambda k: -values[k])]

    def example(self) -> Section:
        """One source under the best and the worst strategy (figure 2): the one whose gain is the median."""
        order = self._by_order()
        pair = (order[0], order[-1])
        source, values = self._typical(pair)
        population = self.swept.case.population
        distances = population.distances(source)
        tables = []
        for entry, value in zip(pair, values, strict=True):
            (scores,) = system_of(entry, self.swept.case).scores(np.array([source]))
            scores[source] = UNLISTED
            ranks = np.argsort(-scores, kind="stable")
            rows = [
                (rank, float(scores[page]), "/".join(population.classes_of(page)[0]), _indexed(int(distances[page])))
                for rank in RANKS
                if rank <= len(ranks) and scores[page := int(ranks[rank - 1])] > UNLISTED
            ]
            caption = f"{entry.name}: Somers' D of this source {value:.2f}"
            tables.append(Table(("rank", "similarity", "class", ""), rows, caption))
        told = [
            f"{population.urls[source]}, of class {'/'.join(population.classes_of(source)[0])}: of all sources with at"
            f" least {_FEW} pages in their class the one whose gain from the worst to the best strategy is the median,"
            f" {values[0] - values[1]:+.2f} in Somers' D."
        ]
        return Section("One source under the best and the worst strategy (figure 2)", told, tables=tables)

    def _typical(self, pair: tuple[PlanEntry, PlanEntry]) -> tuple[int, list[float]]:
        results = [self.swept.of(each) for each in pair]
        place = results[0].table.names.index(self.column(SOMERS))
        values = np.array([each.table.by_source()[:, place] for each in results])
        sources = results[0].sources
        sizes = np.bincount(self.swept.case.population.classes)[self._first_classes()[sources]]
        known = ~np.isnan(values).any(axis=0)
        usable = np.flatnonzero(known & (sizes > _FEW)) if (known & (sizes > _FEW)).any() else np.flatnonzero(known)
        gains = (values[0] - values[1])[usable]
        chosen = int(usable[np.argsort(gains, kind="stable")[len(gains) // 2]])
        return int(sources[chosen]), values[:, chosen].tolist()

    def _first_classes(self) -> np.typing.NDArray[np.int64]:
        population = self.swept.case.population
        return population.classes[population.offsets[:-1]]

    def _numbers(self) -> Table:
        measures = [self.column(m) for m in (GAMMA, SOMERS, TIES, PRECISION, NDCG, ORTHOGONAL)]
        rows = []
        for title, entry in self.swept.entries():
            values = flat(self.swept.of(entry).facts)
            rows.append((title, entry.name, *("" if values[m] is None else values[m] for m in measures)))
        return Table(("figure", "name", *measures), rows)


def _only(table: Ratios, name: str) -> Ratios:
    place = table.names.index(name)
    return Ratios([name], table.top[:, place : place + 1], table.bottom[:, place : place + 1])


def _indexed(distance: int) -> str:
    return {0: "same class", 1: "sibling", 2: "cousin", 3: "unrelated"}.get(distance, f"distance {distance}")


def _varying(entries: Sequence[PlanEntry]) -> set[str]:
    """The settings in which strategies differ."""
    tables = [entry.settings() for entry in entries]
    return {key for table in tables for key in table if any(other.get(key) != table[key] for other in tables)}


def _is_number(entries: Sequence[PlanEntry], key: str) -> bool:
    values = [entry.settings().get(key) for entry in entries]
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
