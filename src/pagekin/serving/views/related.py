"""The kin of a page, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pagekin.errors import MisuseError
from pagekin.model.strategy import MEASURES
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import AUTO, RelatedOptions
from pagekin.search.results import Contribution, NearDuplicate, RelatedPage
from pagekin.serving.views.page_names import PageRef, refs_by_url
from pagekin.serving.views.text import shown

_TERMS = 6  # of a page in a list
_MOST = 100  # pages in a list
# of links in the similarity, by what people choose; usual is what was learned, if anything was
SHARES: dict[str, float | Literal["auto"] | None] = {"usual": None, "words": 0.0, "both": AUTO, "links": 1.0}


@dataclass(frozen=True)
class AnswerFilters:
    """What a reader has chosen."""

    limit: int = 10
    least: float = 0.05
    measure: str = ""  # that of the strategy
    by: str = "usual"
    hide_linked: bool = False
    other_hosts: bool = False
    contains: str = ""  # parts of URLs
    without: str = ""

    @classmethod
    def chosen(cls, query: Mapping[str, str]) -> AnswerFilters:
        """From the fields of a form; what is not there is as usual."""
        measure, by = query.get("measure", ""), query.get("by", "usual")
        if measure and measure not in MEASURES:
            raise MisuseError(f"there is no measure {shown(measure, 40)!r}; there are {', '.join(MEASURES)}")
        if by not in SHARES:
            raise MisuseError(f"pages cannot be compared by {shown(by, 40)!r}; there are {', '.join(SHARES)}")
        return cls(
            limit=int(number(query, "limit", 10, 1, _MOST)),
            least=number(query, "least", 0.05, 0.0, 1.0),
            measure=measure,
            by=by,
            hide_linked=query.get("linked") == "hide",
            other_hosts=query.get("hosts") == "other",
            contains=query.get("contains", "").strip()[:200],
            without=query.get("without", "").strip()[:200],
        )

    def options(self) -> RelatedOptions:
        """What the collection is asked for. What is typed is text: a pattern could take any time."""
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
    """The share of links that was learned with the weights of an index, if it has such."""
    weighting = indexed.index.strategy.weighting_named("linklearn") if indexed.index.strategy.weights else None
    return weighting.link_share if weighting is not None else 0.0


def number(query: Mapping[str, str], name: str, usual: float, low: float, high: float) -> float:
    """A number of a form, within bounds."""
    text = query.get(name, "")
    if not text:
        return usual
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise MisuseError(f"{name} is {shown(text, 40)!r}; it must be a number from {low:g} to {high:g}")
    return value


@dataclass(frozen=True)
class ReasonText:
    """Why a page is kin: words with their share of the similarity, and pages that cite both."""

    terms: list[tuple[str, float]]
    cited_by: list[tuple[PageRef, int]]  # and how many words apart
    parts: list[Contribution]


@dataclass(frozen=True)
class DuplicateRow:
    """A page that says the same as a better one."""

    page: PageRef
    similarity: float
    how: str


@dataclass(frozen=True)
class RelatedRow:
    """A page of the list."""

    page: PageRef
    similarity: float
    reason: ReasonText
    terms: list[str]  # its own
    linked: bool  # the page that was asked for links to it
    links_back: bool
    says_the_same: bool  # as the page that was asked for
    twins: list[DuplicateRow]


def related(indexed: IndexedStore, page: PageRef, filters: AnswerFilters) -> list[RelatedRow]:
    """The kin of a page, the most similar first."""
    found = indexed.related(page.url, filters.options())
    linked = indexed.nodes_linked_from([page.node])
    return [_relative(indexed, page, each, linked) for each in found]


def _relative(indexed: IndexedStore, asked: PageRef, found: RelatedPage, linked: set[int]) -> RelatedRow:
    page = refs_by_url(indexed, [found.url])[0]
    return RelatedRow(
        page,
        found.similarity,
        _reason(indexed, found),
        [shown(term, 40) for term, _ in indexed.top_terms(page.node, _TERMS)],
        page.node in linked,
        asked.node in indexed.nodes_linked_from([page.node]),
        found.is_duplicate,
        [_twin(indexed, each) for each in found.duplicates],
    )


def _reason(indexed: IndexedStore, found: RelatedPage) -> ReasonText:
    why = found.why
    citing = {each.url: each for each in refs_by_url(indexed, why.cited_by)}
    apart = zip(why.cited_by, why.apart, strict=True)
    return ReasonText(
        [(shown(term, 40), share) for term, share in why.terms],
        [(citing[url], words) for url, words in apart if url in citing],
        why.parts if len(why.parts) > 1 else [],
    )


def _twin(indexed: IndexedStore, found: NearDuplicate) -> DuplicateRow:
    overlap = found.overlap
    if overlap.a_in_b and overlap.b_in_a:
        how = "the same text"
    elif overlap.a_in_b:
        how = "all of it is in the page above"
    elif overlap.b_in_a:
        how = "has all of the page above, and more"
    else:
        how = f"{overlap.similarity:.0%} of the text is the same"
    return DuplicateRow(refs_by_url(indexed, [found.url])[0], found.similarity, how)
