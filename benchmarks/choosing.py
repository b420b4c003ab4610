"""The default strategy: chosen with the sources of half of the classes, evaluated on the other half.

`python -m benchmarks.choosing` varies one setting of the default at a time. Of its values the one is taken whose regret
(what it loses to the best value, in the mean of P@10, nDCG@10 and Somers' D) is small on every collection; if several
are, the one nearest to what was the default before. Classes are halved at random, and each half chooses for itself;
candidates are always all pages. The default is then compared with what others do, on the sources of the second half and
on collections that had no part in the choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.labelled import Labelled, labelled
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin.evaluation.baselines import CO_CITATION, LSA, MORE_LIKE_THIS, TF_IDF
from pagekin.evaluation.labelled import LabelledCollection
from pagekin.evaluation.measures import NDCG, PRECISION, SOMERS, Ratios, compare, estimates, measure_name
from pagekin.evaluation.sweep import SweepOutcome
from pagekin.evaluation.sweep_plan import BASELINE, FigurePlan, PlanEntry, SweepPlan
from pagekin.model.arrays import Bools
from pagekin.model.strategy import PRESETS, Strategy

SEED = 2002  # of the halves
# Collections that have no part in the choice; python3.11-doc has 14 classes, one of which has most of its pages.
APART = ("libboost1.74-doc", "python3.11-doc")
BEFORE = Strategy(links=False, lead=0.0)  # the default before this choice
TOLERANCE = 0.015  # regrets that differ by less are the same
Settings = dict[str, Any]

# The values that are tried, the one before first, then by how far they are from it. The centre and the width of NMDF
# are shares of ln of the number of bags. More than .1 for links was not tried: a page and its mirror, of which other
# pages speak, would be less alike; on the sample web, where pages of many topics share a host, links mislead; and in
# manuals whose folders are the hierarchy the index pages of folders, which cite their pages, are the hierarchy itself.
AXES: dict[str, list[Any]] = {
    "lead": [0.0, 200.0, 50.0, 12.0],
    "link_share": [0.0, 0.05, 0.1],
    "nmdf_center": [0.5, 0.4, 0.6],
    "nmdf_width": [0.15, 0.1, 0.2],
    "anchor_share": [0.2, 0.1, 0.3],
    "evidence": [8.0, 16.0, 0.0],
    "window_width": [16, 8, 32],
    "stemming": ["stopstem", "none", "stem"],
}
if QUICK:
    AXES = {"lead": [0.0, 50.0]}
MEASURES = (PRECISION, NDCG, SOMERS)
OTHERS = (TF_IDF, MORE_LIKE_THIS, CO_CITATION) if QUICK else (TF_IDF, MORE_LIKE_THIS, CO_CITATION, LSA)
BEATEN = (TF_IDF, MORE_LIKE_THIS)  # that is the bar
CHOSEN, PRESENT, PAPER = "default", "default before", "paper"


@dataclass(frozen=True)
class Known:
    """What is known of some entries on a collection, source by source."""

    at: Labelled
    swept: SweepOutcome

    def table(self, entry: PlanEntry, half: int | None) -> Ratios:
        """The measures of an entry for the sources of a half (0 or 1), or for all."""
        result = self.swept.of(entry)
        which = (
            np.ones(len(result.sources), bool) if half is None else halves(self.swept.labelled)[result.sources] == half
        )
        return _three(result.table.select(which), self.swept.labelled)


def _three(table: Ratios, case: LabelledCollection) -> Ratios:
    """P@10, nDCG@10, and Somers' D among siblings or, where there are none, in all."""
    somers = measure_name(SOMERS, "sibling")
    place = table.names.index(somers)
    if not table.denominator[:, place].any():
        somers = measure_name(SOMERS, "all")
    places = [table.names.index(name) for name in (PRECISION, NDCG, somers)]
    return Ratios(list(MEASURES), table.numerator[:, places], table.denominator[:, places])


def halves(case: LabelledCollection) -> Bools:
    """For every page whether its class, the first one, is in the second half."""
    order = np.random.default_rng(SEED).permutation(len(case.population.names))
    second = np.ones(len(order), bool)
    second[order[: len(order) // 2]] = False
    first: Bools = second[case.population.classes[case.population.offsets[:-1]]]
    return first


def strategy_of(settings: Settings, at: Labelled) -> Strategy:
    """The strategy that settings mean for a collection."""
    from pagekin.search.indexed_store import IndexedStore

    size = math.log(max(2, len(IndexedStore.open(at.store).links.offsets) - 1))
    absolute = dict(settings)
    absolute["nmdf_center"] = round(settings["nmdf_center"] * size, 6) if "nmdf_center" in settings else None
    absolute["nmdf_width"] = round(max(1.0, settings["nmdf_width"] * size), 6) if "nmdf_width" in settings else None
    return replace(PRESETS["default"], links=settings.get("link_share") != 0.0, **absolute)


def judged(at: Labelled, entries: list[PlanEntry], references: tuple[PlanEntry, ...] = ()) -> Known:
    """What is known of these entries; the others of before are not asked for again."""
    return Known(at, at.sweep(SweepPlan((FigurePlan("chosen", tuple(entries)),), resamples=1, baselines=references)))


def worth(known: Known, entry: PlanEntry, half: int) -> float:
    """The mean of the three measures."""
    return float(np.mean(list(known.table(entry, half).values().values())))


def choices(all_of: list[Labelled], half: int) -> Iterator[dict[str, Any]]:
    """For each setting what its values are worth on each collection, and which is taken."""
    for axis, values in AXES.items():
        worths: dict[str, dict[str, float]] = {}
        for at in all_of:
            entries = [PlanEntry(str(value), strategy=strategy_of({axis: value}, at)) for value in values]
            known = judged(at, entries)
            worths[at.name] = {entry.name: worth(known, entry, half) for entry in entries}
        regrets = {
            str(value): max(max(each.values()) - each[str(value)] for each in worths.values()) for value in values
        }
        least = min(regrets.values())
        taken = next(value for value in values if regrets[str(value)] <= least + TOLERANCE)
        rounded = {name: {value: round(each, 4) for value, each in row.items()} for name, row in worths.items()}
        yield {"setting": axis, "worth": rounded, "taken": taken}


def main() -> None:
    """Choose, and report."""
    with labelled() as all_of:
        choosing = [at for at in all_of if at.name not in APART]
        chosen = {half: list(choices(choosing, half)) for half in (0, 1)}
        for half, steps in chosen.items():
            print(f"\nchosen with half {half + 1}:")
            for step in steps:
                print(f"  {step['setting']:14} {step['taken']!s:10} of {', '.join(map(str, AXES[step['setting']]))}")
        table = {at.name: reported(at, None if at.name in APART else 1) for at in all_of}
        figures = list(bars(table))
        show(figures)
    told = {
        "machine": facts() if QUICK else facts("scikit-learn"),
        "choices": {f"half {half + 1}": steps for half, steps in chosen.items()},
        "reported": table,
        "figures": kept(figures),
    }
    keep("choosing", told)


def reported(at: Labelled, half: int | None) -> dict[str, Any]:
    """The default beside the others, on sources of a half or on all of them."""
    strategies = {CHOSEN: PRESETS["default"], PRESENT: BEFORE, PAPER: PRESETS["paper"]}
    entries = [PlanEntry(name, strategy=strategy) for name, strategy in strategies.items()]
    references = tuple(PlanEntry(name, BASELINE, source=name) for name in OTHERS)
    known = judged(at, entries, references)
    tables = {entry.name: known.table(entry, half) for entry in (*entries, *references)}
    sources = len(tables[CHOSEN].numerator)
    print(f"\n{at.name}, {'all' if half is None else 'the other half of the'} sources: {sources:,}")
    rows = {}
    for name, table in tables.items():
        gap = compare(tables[CHOSEN], table)
        rows[name] = {
            measure: {
                **{end: round(getattr(found, end), 4) for end in ("value", "low", "high")},
                "behind": [round(gap[measure].value, 4), round(gap[measure].low, 4), round(gap[measure].high, 4)],
            }
            for measure, found in estimates(table).items()
        }
        print(f"  {name:16}" + "".join(f"  {m} {rows[name][m]['value']:.3f}" for m in MEASURES))
    return {"sources": sources, "systems": rows}


def bars(table: Mapping[str, Mapping[str, Any]]) -> Iterator[Figure]:
    """The default less the others."""
    for collection, found in table.items():
        for other in BEATEN if QUICK else (*BEATEN, LSA):
            for measure in MEASURES:
                behind = found["systems"][other][measure]["behind"][0]
                least = 0.0 if other in BEATEN else None
                yield Figure(f"{collection}: {measure} of the default less that of {other}", behind, at_least=least)


if __name__ == "__main__":
    main()
