"""The view of a whole collection, sections of it that are computed on a sample of its pages, and evaluation reports
stored with it: `pagekin evaluate my.kin ... --json > my.kin/reports/NAME.json`.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from pagekin.collection.collection import Collection
from pagekin.collection.info import CollectionInfo, describe_store
from pagekin.errors import FailureError
from pagekin.gaps.results import MissingLink
from pagekin.model.arrays import Int64s
from pagekin.search.duplicates import DuplicateGroups, find_duplicates
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.link_analysis import LinkAnalysis
from pagekin.search.options import RelatedOptions
from pagekin.serving.views.names import PageRef, clean_line, find_page, refs, refs_by_row

SAMPLE = 300  # pages
_LISTED, _MEMBERS, _TERMS = 12, 20, 4
_SENTENCE = 400  # characters
_MOST_PAGES = 100_000  # whose texts are searched for the names of pages
_NEAR = 200  # pages around each page that is tested for being a bridge
_REPORTS, _MAX_REPORTS, _MAX_REPORT_BYTES = "reports", 20, 1 << 20  # folder, files in it, size of each

Row = TypeVar("Row")
Terms = list[str]
Over: TypeAlias = Callable[[list[PageRef]], Iterable[PageRef]]  # iterates over pages and reports the progress
EvaluatedSystem: TypeAlias = tuple[str, int, list[tuple[str, str]]]  # name, sources, measures with values as text
LinkRow = tuple[MissingLink, list[PageRef], tuple[str, str, str]]  # the parts of the sentence: the second is linked
BridgeRow = tuple[float, PageRef, list[tuple[PageRef, Terms]]]  # strength, page, the two pages that it connects
GroupRow = tuple[PageRef, list[tuple[PageRef, float]], int]  # anchor, first members, number of members


@dataclass(frozen=True)
class HistogramBar:
    """The number of values in one class of a histogram."""

    label: str
    count: int
    share: float  # relative to the largest class


class CollectionView(NamedTuple):
    """What is known of a collection without much computing."""

    info: CollectionInfo
    in_degrees: list[HistogramBar]
    out_degrees: list[HistogramBar]
    most_linked: list[tuple[PageRef, int]]


def collection_view(indexed: IndexedStore) -> CollectionView:
    query = "SELECT in_degree, out_degree FROM nodes WHERE first_row IS NOT NULL"
    degrees = np.array([tuple(row) for row in indexed.catalog.each(query)], np.int64).reshape(-1, 2)
    in_degrees, out_degrees = map(histogram_of_degrees, degrees.T)
    return CollectionView(describe_store(indexed), in_degrees, out_degrees, most_linked(indexed, _LISTED))


def most_linked(indexed: IndexedStore, limit: int) -> list[tuple[PageRef, int]]:
    """Return the pages with most in-links that count: not those that everything links to from templates."""
    degrees = np.asarray(indexed.link_scorers.scorer.links.in_degree, np.int64)
    nodes = np.argsort(-degrees, kind="stable")[:limit].tolist()
    return [(page, int(degrees[page.node])) for page in refs(indexed, nodes) if degrees[page.node]]


def histogram_of_degrees(degrees: Int64s) -> list[HistogramBar]:
    """Count the degrees 0, 1, 2 to 3, 4 to 7, and so on.

    >>> [(bar.label, bar.count) for bar in histogram_of_degrees(np.array([0, 1, 2, 3, 9]))]
    [('0', 1), ('1', 1), ('2–', 2), ('4–', 0), ('8–', 1)]
    """
    counts = np.bincount([int(degree).bit_length() for degree in degrees.tolist()], minlength=1).tolist()
    starts = [1 << k for k in range(1, len(counts))]
    labels = ["0", "1", *(f"{start}–" if start < 1024 else f"{start // 1024}k–" for start in starts)]
    return _bars(labels[: len(counts)], counts)


def _bars(labels: list[str], counts: list[int]) -> list[HistogramBar]:
    largest = max(counts, default=0) or 1
    return [HistogramBar(label, count, count / largest) for label, count in zip(labels, counts, strict=True)]


class SampleResult(NamedTuple, Generic[Row]):
    """What was found in a sample of the pages."""

    pages: int  # in the sample
    rows: list[Row]


def _sample(indexed: IndexedStore) -> list[PageRef]:
    step = max(1, -(-len(indexed) // SAMPLE))
    return refs_by_row(indexed, range(0, len(indexed), step))


def similarities(indexed: IndexedStore, over: Over = iter) -> SampleResult[HistogramBar]:
    """Return a histogram of the similarity of a page to its nearest page."""
    options = RelatedOptions(limit=1, min_similarity=0.0, group_duplicates=False, explain=False)
    pages = _sample(indexed)
    best = [found[0].similarity for page in over(pages) if (found := indexed.related(page.url, options))]
    counts = np.histogram(best, np.linspace(0.0, 1.0, 11))[0].tolist()
    return SampleResult(len(pages), _bars([f".{k}" for k in range(10)], counts))


def bridges(indexed: IndexedStore, analysis: LinkAnalysis, over: Over = iter) -> SampleResult[BridgeRow]:
    """Return the strongest bridges between topics, clustered at alpha 0.5."""
    pages = _sample(indexed)
    found = {each.node: each for page in over(pages) if (each := analysis.clusters(page.url, _NEAR).cross_topic(0.5))}
    rows = []
    for each in sorted(found.values(), key=lambda each: (-each.strength, each.node))[:_LISTED]:
        page, *ends = refs(indexed, [each.node, each.one, each.other])
        terms = [[term for term, _ in indexed.top_terms(end.node, _TERMS)] for end in ends]
        rows.append((each.strength, page, list(zip(ends, terms, strict=True))))
    return SampleResult(len(pages), rows)


def missing_links(opened: Collection, over: Over = iter) -> SampleResult[LinkRow]:
    """Return the likeliest links that are missing on a sample of the pages."""
    indexed = opened.indexed
    if len(indexed) > _MOST_PAGES:
        raise FailureError(
            f"this collection has more than {_MOST_PAGES:,} pages; run `pagekin gaps` to find its missing links"
        )
    pages = {page.node: page for page in _sample(indexed)}
    progress = over(list(pages.values()))
    found = opened.gaps(
        pages=list(pages.values()), limit=_LISTED, per_page=2, progress=lambda _: (page.node for page in progress)
    )
    ends = ([refs(indexed, [each.url], "url")[0] for each in (gap.source, gap.target)] for gap in found)
    return SampleResult(len(pages), [(gap, end, _parts(gap)) for gap, end in zip(found, ends, strict=True)])


def _parts(gap: MissingLink) -> tuple[str, str, str]:
    """The sentence before the words, the words, and the sentence after them; spaces beside the words stay."""
    before, words, after = gap.sentence.partition(gap.words) if gap.words else (gap.sentence, "", "")
    before = clean_line(before, _SENTENCE) + " " * before.endswith(" ")
    return before, clean_line(words), " " * after.startswith(" ") + clean_line(after, _SENTENCE)


def duplicate_groups(indexed: IndexedStore) -> tuple[DuplicateGroups, list[GroupRow]]:
    found = find_duplicates(indexed)
    largest = []
    for group in sorted(found.groups, key=lambda group: (-len(group.members), group.anchor.url))[:_LISTED]:
        members = [(find_page(indexed, each.page.url), each.similarity) for each in group.members[:_MEMBERS]]
        largest.append((find_page(indexed, group.anchor.url), members, len(group.members)))
    return found, largest


class EvaluationReport(NamedTuple):
    """A report of `pagekin evaluate`, or a file with the reason why it is not one."""

    name: str
    hierarchy: str = ""
    pages: int = 0
    classes: int = 0
    systems: tuple[EvaluatedSystem, ...] = ()
    problem: str = ""


def read_reports(root: Path) -> list[EvaluationReport]:
    """Read the reports of a collection, sorted by name. Symbolic links are not followed."""
    folder = root / _REPORTS
    if not folder.is_dir() or folder.is_symlink():
        return []
    return [_read_report(path) for path in sorted(folder.glob("*.json"))[:_MAX_REPORTS]]


def _read_report(path: Path) -> EvaluationReport:
    name = clean_line(path.stem, 80)
    if path.is_symlink() or not path.is_file():
        return EvaluationReport(name, problem="is not a regular file")
    if path.stat().st_size > _MAX_REPORT_BYTES:
        return EvaluationReport(name, problem=f"is larger than {_MAX_REPORT_BYTES // 1024:,} KB")
    try:
        report = json.loads(path.read_text("utf-8"))
        systems = tuple(_system(each) for each in report["systems"])
        hierarchy = clean_line(str(report["hierarchy"]))
        return EvaluationReport(name, hierarchy, int(report["pages"]), int(report["classes"]), systems)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return EvaluationReport(name, problem="is not a report of `pagekin evaluate --json`")


def _system(report: dict[str, Any]) -> EvaluatedSystem:
    measures = [(name, _with_interval(report[name])) for name in ("P@10", "nDCG@10")]
    regions = report["regions"].items()
    measures += [(f"Gamma, {clean_line(name, 20)}", _with_interval(region["gamma"])) for name, region in regions]
    return clean_line(str(report["system"])), int(report["sources"]), measures


def _with_interval(estimate: dict[str, Any]) -> str:
    if estimate["value"] is None:
        return "–"
    return f"{estimate['value']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"
