"""A whole collection at a glance; and what takes a while to find in it, on a sample of its pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.model.arrays import Int64s
from pagekin.search.duplicates import find_duplicates
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.link_analysis import LinkAnalysis
from pagekin.search.options import RelatedOptions
from pagekin.serving.views.page_names import PageRef, ref, refs, refs_by_row, refs_by_url
from pagekin.serving.views.text import shown

SAMPLE = 300  # pages that are looked at
_LISTED, _MEMBERS, _TERMS = 12, 20, 4
_NEAR = 200  # pages around each that is asked whether it is a bridge


@dataclass(frozen=True)
class HistogramBar:
    """How many are in a class."""

    label: str
    count: int
    share: float  # of the largest class


@dataclass(frozen=True)
class Skipped:
    """What was left out, or cut."""

    reason: str
    count: int
    example: str


@dataclass(frozen=True)
class CollectionView:
    """What is known at once."""

    counts: dict[str, int]
    generation: int
    strategy: dict[str, Any]
    hosts: list[tuple[str, int]]
    languages: list[tuple[str, int]]
    skipped: list[Skipped]
    in_degrees: list[HistogramBar]
    out_degrees: list[HistogramBar]
    most_linked: list[tuple[PageRef, int]]


def collection_view(indexed: IndexedStore) -> CollectionView:
    """Counts, and how links are spread."""
    rows = indexed.catalog.rows
    hosts = rows("SELECT host, count(*) AS n FROM pages GROUP BY host ORDER BY n DESC, host LIMIT 10")
    languages = rows("SELECT language, count(*) AS n FROM pages GROUP BY language ORDER BY n DESC, language LIMIT 10")
    skipped = rows(
        "SELECT reason, sum(count) AS n, min(example) AS example FROM skips GROUP BY reason ORDER BY n DESC, reason"
    )
    degrees = [
        np.array([row[0] for row in indexed.catalog.each(f"SELECT {which} FROM nodes WHERE first_row IS NOT NULL")])
        for which in ("in_degree", "out_degree")
    ]
    return CollectionView(
        indexed.manifest.counts,
        indexed.manifest.generation,
        indexed.index.strategy.as_dict(),
        [(shown(row["host"], 80), row["n"]) for row in hosts],
        [(shown(row["language"], 20) or "not told", row["n"]) for row in languages],
        [Skipped(shown(row["reason"]), row["n"], shown(row["example"] or "", 90)) for row in skipped],
        doublings(degrees[0]),
        doublings(degrees[1]),
        most_linked(indexed, _LISTED),
    )


def most_linked(indexed: IndexedStore, most: int) -> list[tuple[PageRef, int]]:
    """The pages that most pages link to, and how many do."""
    found = indexed.catalog.rows(
        "SELECT node, in_degree FROM nodes WHERE first_row IS NOT NULL ORDER BY in_degree DESC, node LIMIT ?", most
    )
    return [(ref(indexed, row["node"]), row["in_degree"]) for row in found]


def doublings(values: Int64s) -> list[HistogramBar]:
    """How many values are 0, 1, 2 to 3, 4 to 7, and so on.

    >>> [(bar.label, bar.count) for bar in doublings(np.array([0, 1, 2, 3, 9]))]
    [('0', 1), ('1', 1), ('2–', 2), ('4–', 0), ('8–', 1)]
    """
    classes = [int(value).bit_length() for value in values.tolist()]
    counts = np.bincount(classes, minlength=1).tolist()
    labels = ["0", "1", *(f"{_short(1 << k)}–" for k in range(1, len(counts)))]
    return bars(labels[: len(counts)], counts)


def _short(value: int) -> str:
    return str(value) if value < 1024 else f"{value // 1024}k"


def bars(labels: list[str], counts: list[int]) -> list[HistogramBar]:
    """Bars as high as their share of the largest."""
    most = max(counts, default=0) or 1
    return [HistogramBar(label, count, count / most) for label, count in zip(labels, counts, strict=True)]


def _sample(indexed: IndexedStore) -> list[PageRef]:
    """Pages spread evenly over the collection."""
    step = max(1, -(-len(indexed) // SAMPLE))
    return refs_by_row(indexed, range(0, len(indexed), step))


@dataclass(frozen=True)
class Similarities:
    """How similar pages are to the nearest other page."""

    looked_at: int
    bars: list[HistogramBar]
    alone: int  # pages with no kin at all


def similarities(indexed: IndexedStore) -> Similarities:
    """The similarity of each page of a sample to its nearest kin."""
    options = RelatedOptions(limit=1, min_similarity=0.0, group_duplicates=False, explain=False)
    pages = _sample(indexed)
    best = [found[0].similarity for page in pages if (found := indexed.related(page.url, options))]
    counts = np.histogram(best, np.linspace(0.0, 1.0, 11))[0].tolist()
    return Similarities(len(pages), bars([f".{k}" for k in range(10)], counts), len(pages) - len(best))


@dataclass(frozen=True)
class DuplicateGroupRow:
    """Pages that say the same."""

    anchor: PageRef
    members: list[tuple[PageRef, float]]
    size: int


@dataclass(frozen=True)
class Groups:
    """The largest groups of near-duplicates."""

    groups: list[DuplicateGroupRow]
    all: int
    grouped: int  # pages that stand under another
    uncompared: dict[str, int]


def duplicate_groups(indexed: IndexedStore) -> Groups:
    """The near-duplicates of all pages."""
    twins = find_duplicates(indexed)
    largest = sorted(twins.groups, key=lambda group: (-len(group.members), group.anchor.row))[:_LISTED]
    named = [
        DuplicateGroupRow(
            refs_by_row(indexed, [group.anchor.row])[0],
            [(refs_by_row(indexed, [each.page.row])[0], each.similarity) for each in group.members[:_MEMBERS]],
            len(group.members) + 1,
        )
        for group in largest
    ]
    return Groups(named, len(twins.groups), sum(len(each.members) for each in twins.groups), twins.uncompared)


@dataclass(frozen=True)
class Crossing:
    """A page between two topics."""

    page: PageRef
    one: PageRef
    one_terms: list[str]
    other: PageRef
    other_terms: list[str]
    strength: float


@dataclass(frozen=True)
class Bridges:
    """The strongest bridges."""

    looked_at: int
    bridges: list[Crossing]


def bridges(indexed: IndexedStore, analysis: LinkAnalysis, alpha: float = 0.5) -> Bridges:
    """The strongest bridges of a sample of pages."""
    pages = _sample(indexed)
    found = {each.node: each for page in pages if (each := analysis.clusters(page.url, _NEAR).cross_topic(alpha))}
    best = sorted(found.values(), key=lambda each: (-each.strength, each.node))[:_LISTED]
    listed = [
        Crossing(page, one, _terms(indexed, one), other, _terms(indexed, other), each.strength)
        for each in best
        for page, one, other in [refs(indexed, [each.node, each.one, each.other])]
    ]
    return Bridges(len(pages), listed)


def _terms(indexed: IndexedStore, page: PageRef) -> list[str]:
    return [shown(term, 40) for term, _ in indexed.top_terms(page.node, _TERMS)]


@dataclass(frozen=True)
class Unlinked:
    """Pages that are kin, of which neither links to the other."""

    looked_at: int
    pairs: list[tuple[PageRef, PageRef, float, list[str]]]


def unlinked(indexed: IndexedStore) -> Unlinked:
    """The most similar pairs of a sample of pages and their kin that no link joins, near-duplicates left aside."""
    options = RelatedOptions(limit=2, min_similarity=0.05, exclude_linked=True)
    found: dict[tuple[int, int], tuple[PageRef, PageRef, float, list[str]]] = {}
    pages = _sample(indexed)
    for page in pages:
        for each in indexed.related(page.url, options):
            other = refs_by_url(indexed, [each.url])[0]
            if not each.is_duplicate and page.node not in indexed.nodes_linked_from([other.node]):
                words = [shown(term, 40) for term, _ in each.why.terms[:_TERMS]]
                ends = min(page.node, other.node), max(page.node, other.node)
                found.setdefault(ends, (page, other, each.similarity, words))
    best = sorted(found.items(), key=lambda item: (-item[1][2], item[0]))
    return Unlinked(len(pages), [pair for _, pair in best[:_LISTED]])
