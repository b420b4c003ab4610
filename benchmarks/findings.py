"""The findings of the paper, tested on every available collection by a sweep of its figures.

`python -m benchmarks.findings` sweeps the figures of the paper, and says of each finding whether differences of two
strategies, paired by source, are as the paper has them: their 95 % interval is above zero (holds), below zero
(contrary), or neither. Writes `results/findings.json` and, from it and `results/choosing.json`, `docs/findings.md`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.choosing import CHOSEN, MEASURES
from benchmarks.labelled import labelled
from benchmarks.machine import QUICK, RESULTS, facts, keep
from pagekin.evaluation.measures import GAMMA, ORTHOGONAL, PRECISION, SOMERS
from pagekin.evaluation.sweep import SweepOutcome
from pagekin.evaluation.sweep_plan import PlanEntry, paper_plan
from pagekin.evaluation.sweep_report import SweepFigures

PAGE = Path(__file__).parent.parent / "docs" / "findings.md"
BY = (GAMMA, SOMERS, PRECISION)
TITLES = {GAMMA: "Gamma", SOMERS: "Somers' D", PRECISION: "P@10"}
MOST = 4  # collections; more columns nobody reads
WINDOWS, HYBRIDS, WEIGHTS = "figure 3", "figure 5", "figure 6"


@dataclass(frozen=True)
class Finding:
    """What the paper says: in a figure, each first strategy is better than the second one beside it."""

    claim: str
    figure: str
    pairs: tuple[tuple[str, str], ...]
    measures: tuple[str, ...] = BY


_STEPS = ("anchors alone", "4 words around", "8 words around", "16 words around", "32 words around")
_RISING = tuple((wide, narrow) for narrow, wide in pairwise(_STEPS))
FINDINGS = (
    Finding("Larger windows are better", WINDOWS, _RISING),
    Finding(
        "Large windows are better than contents and than links",
        WINDOWS,
        (("32 words around", "contents"), ("32 words around", "links")),
    ),
    Finding("Topical windows are better than syntactic ones", WINDOWS, (("topical windows", "syntactic windows"),)),
    Finding(
        "Large windows leave fewer pairs of a class without a common term than small ones, contents and links",
        "figure 4",
        (*_RISING, ("32 words around", "contents"), ("32 words around", "links")),
        (ORTHOGONAL,),
    ),
    Finding("Contents added to anchors help", HYBRIDS, (("anchors + contents", "anchors"),)),
    Finding(
        "Links added lower the quality",
        HYBRIDS,
        (("anchors", "anchors + links"), ("anchors + contents", "anchors + contents + links")),
    ),
    Finding("Distance weighting helps", WEIGHTS, (("distance", "neither"), ("both", "frequency"))),
    Finding("Frequency weighting helps", WEIGHTS, (("frequency", "neither"), ("both", "distance"))),
    Finding("sqrt is the best of the monotonic weights", "figures 7", (("sqrt", "none"), ("sqrt", "log"))),
    Finding("NMDF is better than sqrt", "figures 7", (("NMDF", "sqrt"),)),
    Finding("Stopping by stems helps", "figure 9", (("stopstem", "none"),)),
    Finding("Comparing stems helps a little more", "figure 9", (("stem", "stopstem"),)),
)
HOLDS, CONTRARY, OPEN = "holds", "contrary", "no difference"


def main() -> None:
    """Sweep, and write what was found."""
    found = {}
    with labelled() as all_of:
        for at in all_of[:MOST]:
            print(f"\n{at.name}")
            swept = at.sweep(paper_plan())
            found[at.name] = of_collection(swept)
    keep("findings", {"machine": facts(), "collections": found})
    if not QUICK:
        PAGE.write_text(page(RESULTS), "utf-8")


def of_collection(swept: SweepOutcome) -> dict[str, Any]:
    """The values of all strategies, and a verdict on every finding."""
    drawing = SweepFigures(swept)
    values = {
        figure.title: {
            measure: {bar.name: [bar.value, bar.low, bar.high] for bar in drawing.bars(figure.entries, measure)}
            for measure in figure.measures
        }
        for figure in swept.plan.figures
    }
    verdicts = {}
    for finding in FINDINGS:
        (figure,) = [each for each in swept.plan.figures if finding.figure in each.title]
        entries = {entry.name: entry for entry in figure.entries}
        verdicts[finding.claim] = {
            measure: [verdict(drawing, entries[a], entries[b], measure) for a, b in finding.pairs]
            for measure in finding.measures
        }
        print(f"  {finding.claim:80} " + "; ".join(summed(v) for v in verdicts[finding.claim].values()))
    population = swept.labelled.population
    return {
        "pages": len(population),
        "classes": len(population.names),
        "region": drawing.region,
        "values": values,
        "verdicts": verdicts,
    }


def verdict(drawing: SweepFigures, a: PlanEntry, b: PlanEntry, measure: str) -> str:
    """Whether the first is better."""
    gap = drawing.gap(a, b, measure)
    if not gap.significant:
        return OPEN
    return HOLDS if (gap.value > 0) != (measure == ORTHOGONAL) else CONTRARY


def summed(verdicts: list[str]) -> str:
    """The verdicts on a finding in a word.

    >>> summed(["holds", "holds"]), summed(["holds", "contrary"]), summed(["no difference"])
    ('holds', '1 of 2 hold, 1 contrary', 'no difference')
    """
    if len(set(verdicts)) == 1:
        return verdicts[0]
    parts = [f"{verdicts.count(HOLDS)} of {len(verdicts)} hold"]
    if CONTRARY in verdicts:
        parts.append(f"{verdicts.count(CONTRARY)} contrary")
    return ", ".join(parts)


# --- the page ------------------------------------------------------------------------------------

_HEAD = """# Findings

The paper ("Evaluating Strategies for Similarity Search on the Web", 2002) evaluated strategies on the Web of 2001 by
the Open Directory. This page repeats its experiments on other collections with other hierarchies.
`python -m benchmarks.findings` sweeps the figures of the paper and writes this page from `benchmarks/results`;
`pagekin sweep my.kin --hierarchy labels.tsv` does the same for any collection.

The encyclopedia (`{encyclopedia}`: articles in a hand-made subject hierarchy) is most similar to the collection of the
paper. The others are manuals, whose hierarchy is the folders of their pages. There the index page of a folder links to
all of its pages, so links reveal much of the hierarchy. The largest difference from the paper is the number of
in-links: a page has a few from its own collection, not thousands from the whole Web.

## Which findings hold

A finding *holds* if the 95 % confidence interval of the paired difference is above zero, and is *contrary* if it is
below. For findings of several comparisons, the table has the number that hold. There are three measures: sibling Gamma
as in the paper (Gamma over all pairs if folders have no siblings), Somers' D, which counts ties as failures, and P@10.
"""


_CHOICE = """`python -m benchmarks.choosing` splits the classes of each collection at random into two halves. With the
sources of each half it varies one setting at a time and chooses the value that is close to the best value on every
collection; among values of about equal quality, the one nearest to the previous default. The first half determines the
default; the choice of the second half shows the influence of chance:
"""


def page(results: Path) -> str:
    """The page, from the results in a folder."""
    found = json.loads((results / "findings.json").read_text("utf-8"))["collections"]
    chosen = json.loads((results / "choosing.json").read_text("utf-8"))
    parts = [_HEAD.format(encyclopedia=_encyclopedia(found)), *_verdicts(found), *_numbers(found), *_default(chosen)]
    blended = results / "blending.json"
    parts += _blend(json.loads(blended.read_text("utf-8"))) if blended.exists() else []
    return "\n".join(parts) + "\n"


_BLEND = """
## The blend of evidences

The default ranking blends eight evidences ([strategy.md](strategy.md#evidence-and-blend)): `{blend}`.
`python -m benchmarks.blending` judges it by classes (P@10, nDCG@10) and by pairs of pages that their authors called
related (R@10; *unlinked* leaves out pairs in which a page links to the other). Weights were chosen with one half of the
pages of some collections as sources. The column *other half* has the measure with other pages as sources, and
collections marked with * had no part in the choice. *minus text-only* is the difference to the bags alone, *minus
tf-idf* to the cosine of tf-idf, with 95 % intervals, on a sample of pages.
"""

_EVIDENCES = """
### What each evidence brings

The measure of the whole blend, and by how much it is larger than without each evidence.
"""

_SIMILARITY = """
### One similarity

How many of the first ten answers have a class of the query page, above and below the default minimum similarity of
0.05 and by similarity. In brackets is the share of all answers. *Chance* is the score that counts as similarity 0.
"""


def _blend(result: dict[str, Any]) -> Iterator[str]:
    table = {name if row["developed_on"] else f"{name} *": row for name, row in result["collections"].items()}
    yield _BLEND.format(blend=result["blend"])
    yield "| collection | pages | measure | blend | other half | minus text-only | minus tf-idf |"
    yield "|---|---:|---|---|---|---|---|"
    for name, row in table.items():
        for measure, of in row["measures"].items():
            cells = [_estimate(of[key]) for key in ("blend", "other half", "minus text-only", "minus tf-idf")]
            yield f"| {name} | {row['pages']:,} | {measure} | " + " | ".join(cells) + " |"
    yield _EVIDENCES
    names = [each.partition("=")[0].strip() for each in result["blend"].split(",")]
    yield "| collection | measure | whole | " + " | ".join(names) + " |"
    yield "|---|---|---:|" + "---:|" * len(names)
    for name, row in table.items():
        for measure, of in row["evidences"].items():
            yield f"| {name} | {measure} | {of['whole']:.3f} | " + " | ".join(f"{of[one]:+.3f}" for one in names) + " |"
    yield _SIMILARITY
    found = {band for row in table.values() for band in row["similarity"]} - {"chance", "above", "below"}
    bands = ["above", "below", *sorted(found, key=lambda band: float(band.partition(" ")[0]))]
    yield "| collection | chance | " + " | ".join(bands) + " |"
    yield "|---|---:|" + "---:|" * len(bands)
    for name, row in table.items():
        if of := row["similarity"]:
            cells = [f"{of[band]['precision']:.2f} ({of[band]['share']:.0%})" if band in of else "" for band in bands]
            yield f"| {name} | {of['chance']:.2f} | " + " | ".join(cells) + " |"


def _estimate(of: dict[str, float]) -> str:
    return f"{of['value']:.3f} [{of['low']:.3f}, {of['high']:.3f}]"


def _encyclopedia(found: dict[str, Any]) -> str:
    """The collection that is no Debian package."""
    return next((name for name in found if not name.endswith(("-doc", "-html")) and "-doc-" not in name), "none here")


def _verdicts(found: dict[str, Any]) -> Iterator[str]:
    yield "| finding | by | " + " | ".join(f"`{name}`" for name in found) + " |"
    yield "|---" * (len(found) + 2) + "|"
    for finding in FINDINGS:
        for k, measure in enumerate(finding.measures):
            cells = [summed(each["verdicts"][finding.claim][measure]) for each in found.values()]
            by = TITLES.get(measure, "orthogonal share")
            yield f"| {finding.claim if k == 0 else ''} | {by} | " + " | ".join(cells) + " |"
    yield ""
    count = {name: _counted(each) for name, each in found.items()}
    told = "; ".join(f"`{name}` {held} of {whole}" for name, (held, whole) in count.items())
    yield f"Comparisons that hold by P@10, over all findings: {told}."


def _counted(each: dict[str, Any]) -> tuple[int, int]:
    by = [v for finding in FINDINGS for v in each["verdicts"][finding.claim].get(PRECISION, ())]
    return by.count(HOLDS), len(by)


def _numbers(found: dict[str, Any]) -> Iterator[str]:
    yield "\n## The numbers\n"
    yield "P@10, and in brackets Somers' D (of siblings, if there are any).\n"
    titles = list(next(iter(found.values()))["values"])
    for title in titles:
        first = next(iter(found.values()))["values"][title]
        yield f"### {title}\n"
        yield "| | " + " | ".join(f"`{name}`" for name in found) + " |"
        yield "|---" + "|---:" * len(found) + "|"
        for entry in next(iter(first.values())):
            yield f"| {entry} | " + " | ".join(_cell(each["values"][title], entry) for each in found.values()) + " |"
        yield ""


def _cell(of: dict[str, dict[str, list[float | None]]], entry: str) -> str:
    if ORTHOGONAL in of:
        return f"{of[ORTHOGONAL][entry][0]:.3f}"
    return f"{of[PRECISION][entry][0]:.3f} ({of[SOMERS][entry][0]:.3f})"


def _default(chosen: dict[str, Any]) -> Iterator[str]:
    yield "## The default, chosen by measurement\n"
    yield _CHOICE
    yield "| setting | values | first half | second half |"
    yield "|---|---|---|---|"
    for one, other in zip(*chosen["choices"].values(), strict=True):
        tried = ", ".join(sorted(next(iter(one["worth"].values())), key=_as_number))
        yield f"| `{one['setting']}` | {tried} | {one['taken']} | {other['taken']} |"
    yield "\nResults on sources that were not used for the choice. In brackets: the difference from the default, and"
    yield "*chance* if it is not significant.\n"
    for name, each in chosen["reported"].items():
        yield f"### {name}, {each['sources']:,} sources\n"
        yield "| | " + " | ".join(MEASURES).replace("somers_d", "Somers' D") + " |"
        yield "|---" + "|---:" * len(MEASURES) + "|"
        for system, of in each["systems"].items():
            yield f"| {system} | " + " | ".join(_beside(of[m], system) for m in MEASURES) + " |"
        yield ""


def _as_number(value: str) -> tuple[float, str]:
    """A key that sorts numbers as numbers, and words after them."""
    try:
        return float(value), value
    except ValueError:
        return float("inf"), value


def _beside(of: dict[str, Any], system: str) -> str:
    if system == CHOSEN:
        return f"**{of['value']:.3f}**"
    behind, low, high = of["behind"]
    return f"{of['value']:.3f} ({-behind:+.3f}{'' if low > 0 or high < 0 else ', chance'})"


if __name__ == "__main__":
    main()
