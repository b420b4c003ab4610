"""The related pages of a page, with explanations."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from pagekin.duplicates.filters import Overlap
from pagekin.model.options import check_options, option, options_of
from pagekin.model.strategy import MEASURES
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import AUTO, RelatedOptions
from pagekin.search.results import NearDuplicate, RelatedPage
from pagekin.serving.views.names import PageRef, refs

_TERMS = 6  # of a page in the list
_FIELD_LENGTH = 200
# Share of links in the similarity, by what the form offers; usual is the learned share, if there is one.
SHARES: dict[str, float | Literal["auto"] | None] = {"usual": None, "words": 0.0, "both": AUTO, "links": 1.0}

Form = TypeVar("Form")


def read_form(cls: type[Form], query: Mapping[str, str]) -> Form:
    """Read an option dataclass from the fields of a form. Empty fields have their defaults."""
    values: dict[str, Any] = {}
    for each in options_of(cls):
        if text := query.get(each.field, "").strip()[:_FIELD_LENGTH]:
            values[each.field] = text
            with suppress(ValueError):  # check_options reports a text that is not a number
                values[each.field] = each.kind(text)
    form = cls(**values)
    check_options(form)
    return form


@dataclass(frozen=True)
class AnswerFilters:
    """The form above the related pages."""

    limit: int = option(10, "Number of pages.", minimum=1, maximum=100)
    least: float = option(0.05, "Minimum similarity.", minimum=0, maximum=1)
    measure: str = option("", "Similarity measure; empty: that of the strategy.", choices=("", *MEASURES))
    by: str = option("usual", "Evidence.", choices=tuple(SHARES))
    linked: str = option("", "hide: drop pages that the page links to.")
    hosts: str = option("", "other: drop pages of the same host.")
    contains: str = option("", "Part of the URL.")
    without: str = option("", "Not part of the URL.")

    def options(self) -> RelatedOptions:
        """Return the options of the search. Parts of URLs are literal text: a pattern could run for hours."""
        return RelatedOptions(
            limit=self.limit,
            min_similarity=self.least,
            similarity=self.measure or None,
            link_share=SHARES[self.by],
            exclude_linked=self.linked == "hide",
            exclude_host=self.hosts == "other",
            include=(re.escape(self.contains),) if self.contains else (),
            exclude=(re.escape(self.without),) if self.without else (),
        )


def learned_share(indexed: IndexedStore) -> float:
    """Return the link share that was learned with the weights of the index; 0 if it has none."""
    weighting = indexed.index.strategy.weighting_named("linklearn") if indexed.index.strategy.weights else None
    return weighting.link_share if weighting is not None else 0.0


class RelatedRow(NamedTuple):
    """A row of the list: a related page, and what it takes to show it."""

    page: PageRef
    result: RelatedPage
    terms: list[str]  # top terms of the related page
    cited_by: list[tuple[PageRef, int]]  # pages that link to both, and the number of words between the two links
    duplicates: list[tuple[PageRef, NearDuplicate]]
    linked: bool  # the page of the query links to it
    links_back: bool


def related_rows(indexed: IndexedStore, page: PageRef, filters: AnswerFilters) -> list[RelatedRow]:
    linked = indexed.nodes_linked_from([page.node])
    rows = []
    for result in indexed.related(page.url, filters.options()):
        [found] = refs(indexed, [result.url], "url")
        terms = [term for term, _ in indexed.top_terms(found.node, _TERMS)]
        citing = zip(result.why.cited_by, result.why.apart, strict=True)
        cited_by = [(ref, apart) for url, apart in citing for ref in refs(indexed, [url], "url")]
        duplicates = [(refs(indexed, [each.url], "url")[0], each) for each in result.duplicates]
        links_back = page.node in indexed.nodes_linked_from([found.node])
        rows.append(RelatedRow(found, result, terms, cited_by, duplicates, found.node in linked, links_back))
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
