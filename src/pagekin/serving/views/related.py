"""The related pages of a page, with explanations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pagekin.duplicates.filters import Overlap
from pagekin.errors import MisuseError
from pagekin.model.strategy import MEASURES
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import AUTO, RelatedOptions
from pagekin.search.results import NearDuplicate, RelatedPage
from pagekin.serving.views.page_names import PageRef, refs_by_url
from pagekin.serving.views.text import clean_line

_TERMS = 6  # of a page in the list
_MAX_LIMIT = 100
# Share of links in the similarity, by what the form offers; usual is the learned share, if there is one.
SHARES: dict[str, float | Literal["auto"] | None] = {"usual": None, "words": 0.0, "both": AUTO, "links": 1.0}


@dataclass(frozen=True)
class AnswerFilters:
    """The fields of the form above the related pages."""

    limit: int = 10
    least: float = 0.05
    measure: str = ""  # empty: that of the strategy
    by: str = "usual"
    hide_linked: bool = False
    other_hosts: bool = False
    contains: str = ""  # parts of URLs
    without: str = ""

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> AnswerFilters:
        """Read the fields of the form; missing ones have their defaults."""
        measure, by = query.get("measure", ""), query.get("by", "usual")
        if measure and measure not in MEASURES:
            raise MisuseError(f"measure is {clean_line(measure, 40)!r}; it can be {', '.join(MEASURES)}")
        if by not in SHARES:
            raise MisuseError(f"by is {clean_line(by, 40)!r}; it can be {', '.join(SHARES)}")
        return cls(
            limit=int(read_number(query, "limit", 10, 1, _MAX_LIMIT)),
            least=read_number(query, "least", 0.05, 0.0, 1.0),
            measure=measure,
            by=by,
            hide_linked=query.get("linked") == "hide",
            other_hosts=query.get("hosts") == "other",
            contains=query.get("contains", "").strip()[:200],
            without=query.get("without", "").strip()[:200],
        )

    def options(self) -> RelatedOptions:
        """Return the options of the search. Parts of URLs are literal text: a pattern could run for hours."""
        return RelatedOptions(
            limit=self.limit,
            min_similarity=self.least,
            similarity=self.measure or None,
            link_share=SHARES[self.by],
            exclude_linked=self.hide_linked,
            exclude_host=self.other_hosts,
            include=(re.escape(self.contains),) if self.contains else (),
            exclude=(re.escape(self.without),) if self.without else (),
        )


def learned_share(indexed: IndexedStore) -> float:
    """Return the link share that was learned with the weights of the index; 0 if it has none."""
    weighting = indexed.index.strategy.weighting_named("linklearn") if indexed.index.strategy.weights else None
    return weighting.link_share if weighting is not None else 0.0


def read_number(query: Mapping[str, str], name: str, default: float, low: float, high: float) -> float:
    """Read a number of a form and check its range."""
    text = query.get(name, "")
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise MisuseError(f"{name} is {clean_line(text, 40)!r}; it must be a number from {low:g} to {high:g}")
    return value


@dataclass(frozen=True)
class RelatedRow:
    """A row of the list: a related page, and what it takes to show it."""

    page: PageRef
    result: RelatedPage
    terms: list[str]  # top terms of the related page
    cited_by: list[tuple[PageRef, int]]  # pages that link to both, and the number of words between the two links
    duplicates: list[tuple[PageRef, NearDuplicate]]
    linked: bool  # the page of the query links to it
    links_back: bool


def related_rows(indexed: IndexedStore, page: PageRef, filters: AnswerFilters) -> list[RelatedRow]:
    """Return the related pages, the most similar first."""
    linked = indexed.nodes_linked_from([page.node])
    rows = []
    for result in indexed.related(page.url, filters.options()):
        [found] = refs_by_url(indexed, [result.url])
        citing = zip(result.why.cited_by, result.why.apart, strict=True)
        rows.append(
            RelatedRow(
                found,
                result,
                [term for term, _ in indexed.top_terms(found.node, _TERMS)],
                [(ref, apart) for url, apart in citing for ref in refs_by_url(indexed, [url])],
                [(refs_by_url(indexed, [each.url])[0], each) for each in result.duplicates],
                linked=found.node in linked,
                links_back=page.node in indexed.nodes_linked_from([found.node]),
            )
        )
    return rows


def describe_overlap(overlap: Overlap) -> str:
    """Say how a near-duplicate (A) overlaps with the page above it (B)."""
    if overlap.a_in_b and overlap.b_in_a:
        return "the same text"
    if overlap.a_in_b:
        return "all of it is in the page above"
    if overlap.b_in_a:
        return "contains all of the page above, and more"
    return f"{overlap.similarity:.0%} of the text is the same"
