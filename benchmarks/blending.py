"""The default blend of evidences on every labelled collection: its quality, and what each evidence brings.

`python -m benchmarks.blending` prints the figures and writes `results/blending.json`. PAGEKIN_BENCH_DATA names a folder
of collections: folders with a `labels.tsv` (classes), a `related.tsv` (pairs of related pages), or both. The sample web
and Debian's manuals, by the folders of URLs, are judged as well. PAGEKIN_BENCH_KEEP may name a folder in which stores
stay for the next time. Names of collections as arguments judge only these, and keep the figures of the others.

Weights were chosen on one half of the pages of some collections (DEVELOPMENT) as sources; the other half is reported
apart, and so are collections that had no part in the choice.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import pagekin
from benchmarks.agreement import collections
from benchmarks.labelled import MORE
from benchmarks.machine import QUICK, Figure, facts, keep, kept, show
from pagekin import sample_web
from pagekin.evaluation.labelled import BY_PATH, open_labelled
from pagekin.evaluation.options import HierarchyOptions
from pagekin.model.strategy import BLEND, parse_blend
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.search.query import query_of_nodes

DEVELOPMENT = ("sample web", "schools-wikipedia", "mdn-see-also", "python-see-also", "cppreference-doc-en-html")
BARS = {
    ("schools-wikipedia", "P@10"): 0.592,
    ("schools-wikipedia", "nDCG@10"): 0.713,
    ("mdn-see-also", "P@10"): 0.630,
    ("mdn-see-also", "nDCG@10"): 0.860,
    ("mdn-see-also", "R@10"): 0.485,
    ("mdn-see-also", "R@10 unlinked"): 0.385,
    ("python-see-also", "R@10"): 0.665,
    ("python-see-also", "R@10 unlinked"): 0.605,
    ("cppreference-doc-en-html", "P@10"): 0.869,
}
OTHERS = ("text-only", "tf-idf")  # what the blend is compared with
SAMPLE = 100 if QUICK else 2000  # sources of what is compared; half of them for what each evidence brings
LISTS = 100 if QUICK else 500  # pages whose answers are looked at
BANDS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1.01)  # of similarities
_DEEPEST = 32
RESULT = Path(__file__).parent / "results" / "blending.json"


@dataclass(frozen=True)
class Judged:
    """A collection, built, and its judgements."""

    name: str
    store: Path
    hierarchy: str | None
    related: Path | None

    @cached_property
    def collection(self) -> pagekin.Collection:
        """The collection, opened."""
        return pagekin.open(self.store)

    @property
    def depth(self) -> int:
        """Classes are compared as they are; folders of URLs to the default depth."""
        return HierarchyOptions().depth if self.hierarchy == BY_PATH else _DEEPEST

    def sources(self, folder: Path, half: int | None, most: int | None = None) -> str:
        """A file with the pages of a half, or with a sample of them."""
        indexed = self.collection.indexed
        pages = len(indexed.nodes) - 1
        chosen = np.arange(pages) if half is None else np.flatnonzero(_halves(pages) == half)
        if most is not None and most < len(chosen):
            chosen = np.sort(np.random.default_rng(5).choice(chosen, most, replace=False))
        file = folder / f"{self.name} {half} {most}.txt"
        urls = indexed.reading.pages.url
        file.write_text("".join(f"{urls[indexed.nodes[node]]}\n" for node in chosen.tolist()), "utf-8")
        return str(file)

    def measures(self, **options: Any) -> Iterator[tuple[str, Any, Any]]:
        """(measure, its estimate, its difference to what it is compared with) by classes and by related pairs."""
        if self.hierarchy is not None:
            found = self.collection.evaluate(self.hierarchy, depth=self.depth, **options)
            yield "P@10", found.systems[0].precision, _difference(found, "P@10")
            yield "nDCG@10", found.systems[0].ndcg, _difference(found, "nDCG@10")
        if self.related is not None:
            for unlinked in (False, True):
                pairs = self.collection.evaluate_related(self.related, unlinked=unlinked, **options)
                name = "R@10 unlinked" if unlinked else "R@10"
                yield name, pairs.systems[0].recall, _difference(pairs, "R@10")


def _difference(found: Any, measure: str) -> Any:
    return None if found.comparison is None else found.comparison.differences[measure]


def _halves(pages: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """0 for the pages that were sources when weights were chosen, 1 for the others."""
    return np.asarray(np.random.default_rng(11).permutation(pages) % 2)


def main() -> None:
    """Judge every collection at hand."""
    wanted = sys.argv[1:]
    table: dict[str, Any] = json.loads(RESULT.read_text("utf-8"))["collections"] if wanted else {}
    with TemporaryDirectory() as place:
        folder = Path(os.environ.get("PAGEKIN_BENCH_KEEP") or place)
        folder.mkdir(parents=True, exist_ok=True)
        for judged in built(folder, wanted):
            print(judged.name, flush=True)
            table[judged.name] = {
                "pages": len(judged.collection),
                "developed_on": judged.name in DEVELOPMENT,
                "measures": quality(judged, Path(place)),
                "evidences": ablations(judged, Path(place)),
                "similarity": precision_by_similarity(judged),
                "recall_of_candidates": recall_of_candidates(judged.collection.indexed),
            }
            show(figures(judged.name, table[judged.name]))
    bars = [figure for name, row in table.items() for figure in figures(name, row)]
    keep("blending", {"machine": facts(), "blend": BLEND, "figures": kept(bars), "collections": table})


def built(folder: Path, wanted: Collection[str] = ()) -> Iterator[Judged]:
    """The collections at hand, or those of them that are wanted; with QUICK=1 the sample web."""
    for name, source, hierarchy, related in _sources(folder):
        if not wanted or name in wanted:
            yield _build(name, source, folder, hierarchy, related)


def _sources(folder: Path) -> Iterator[tuple[str, Path, str | None, Path | None]]:
    """Name, pages, hierarchy and related pairs of the collections at hand."""
    web = sample_web.copy_to(folder)
    yield "sample web", web, str(folder / "labels.tsv"), None
    if QUICK:
        return
    given = Path(os.environ.get("PAGEKIN_BENCH_DATA") or folder / "none")
    for source in sorted(given.iterdir()) if given.is_dir() else []:
        labels, related = source / "labels.tsv", source / "related.tsv"
        if labels.exists() or related.exists():
            pages = source / "pages" if (source / "pages").is_dir() else source
            hierarchy = str(labels) if labels.exists() else None
            yield source.name, pages, hierarchy, related if related.exists() else None
    debian = {name: source for name, source in collections().items() if source != given}
    for name, source in (debian | MORE).items():
        if source.is_dir():
            yield name, source, BY_PATH, None


def _build(name: str, source: Path, folder: Path, hierarchy: str | None, related: Path | None) -> Judged:
    pagekin.build([source], folder / f"{name}.kin")
    return Judged(name, folder / f"{name}.kin", hierarchy, related)


def quality(judged: Judged, folder: Path) -> dict[str, Any]:
    """All measures of the blend on all pages; on samples, those of the other half, and differences to others."""
    table: dict[str, Any] = {name: {"blend": _rounded(estimate)} for name, estimate, _ in judged.measures()}
    for name, estimate, _ in judged.measures(queries=judged.sources(folder, 1, SAMPLE)):
        table[name]["other half"] = _rounded(estimate)
    for other in OTHERS:
        for name, _, difference in judged.measures(against=other, queries=judged.sources(folder, None, SAMPLE)):
            table[name][f"minus {other}"] = _rounded(difference)
    return table


def ablations(judged: Judged, folder: Path) -> dict[str, Any]:
    """What each evidence brings: the measures of the whole blend minus those without it, on a sample of both halves."""
    sample, weights = judged.sources(folder, None, SAMPLE // 2), parse_blend(BLEND)
    whole = {name: estimate for name, estimate, _ in judged.measures(queries=sample)}
    table: dict[str, Any] = {name: {"whole": round(estimate.value, 4)} for name, estimate in whole.items()}
    for evidence in weights:
        rest = {name: weight for name, weight in weights.items() if name != evidence}
        for name, estimate, _ in judged.measures(queries=sample, blend=rest, resamples=10):
            table[name][evidence] = round(whole[name].value - estimate.value, 4)
    return table


def precision_by_similarity(judged: Judged) -> dict[str, Any]:
    """How many of the first ten answers are right, by their similarities."""
    if judged.hierarchy is None:
        return {}
    indexed = judged.collection.indexed
    population = open_labelled(judged.hierarchy, indexed, HierarchyOptions(depth=judged.depth)).population
    classes = {url: set(population.classes_of(page)) for page, url in enumerate(population.urls)}
    sample = list(classes)[:: max(1, len(classes) // LISTS)]
    options = RelatedOptions(min_similarity=0.0, explain=False, group_duplicates=False)
    found = [
        (each.similarity, bool(classes[url] & classes[each.url]))
        for url in sample
        for each in indexed.related(url, options)
        if each.url in classes
    ]
    similar, right = np.array([one for one, _ in found]), np.array([one for _, one in found])
    table: dict[str, Any] = {"chance": indexed.calibration["chance"]}
    minimum = RelatedOptions().min_similarity
    spans = {"above": (minimum, 1.01), "below": (0.0, minimum)}
    spans |= {f"{low:g} to {high:g}": (low, high) for low, high in pairwise(BANDS)}
    for name, (low, high) in spans.items():
        inside = (similar >= low) & (similar < high)
        if inside.any():
            table[name] = {"precision": round(float(right[inside].mean()), 3), "share": round(float(inside.mean()), 3)}
    return table


def recall_of_candidates(indexed: IndexedStore) -> float:
    """The share of the ten best pages, by the blend over all pages, that answers contain; any of equal ones will do."""
    nodes, options = np.arange(len(indexed.nodes) - 1), RelatedOptions()
    blend = indexed.blend(options)
    rows = blend.pair_scores(nodes, lambda node: query_of_nodes(indexed.index, [node]))
    sample = nodes[:: max(1, len(nodes) // LISTS)]
    shares = []
    for some in np.array_split(sample, max(1, len(sample) // 50)):
        for node, row in zip(some.tolist(), rows(some), strict=True):
            row[node] = 0.0
            best = np.sort(row)[::-1][:10]
            wanted = int(np.count_nonzero(best > 0.0))
            query = replace(query_of_nodes(indexed.index, [node]), min_similarity=0.0)
            found = row[[one for _, one in blend.nearest(query, 10)]]
            shares.append(np.count_nonzero(found >= best[wanted - 1] - 1e-6) / wanted if wanted else 1.0)
    return round(float(np.minimum(shares, 1.0).mean()), 4)


def _rounded(estimate: Any) -> dict[str, Any]:
    return {name: round(float(getattr(estimate, name)), 4) for name in ("value", "low", "high")}


def figures(name: str, row: dict[str, Any]) -> list[Figure]:
    """The figures of a collection, with their bars."""
    found = [
        Figure(f"{name}: {measure}", values["blend"]["value"], at_least=BARS.get((name, measure)))
        for measure, values in row["measures"].items()
    ]
    found += [
        Figure(f"{name}: {measure}, minus {other}", values[f"minus {other}"]["value"], at_least=0.0)
        for measure, values in row["measures"].items()
        for other in OTHERS
    ]
    return [*found, Figure(f"{name}: recall@10 of candidates", row["recall_of_candidates"], at_least=0.98)]


if __name__ == "__main__":
    main()
