"""The view of one page, its related pages with explanations, and the comparison of two pages."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import numpy as np

from pagekin.model.arrays import Unsigned
from pagekin.model.options import option, option_like
from pagekin.model.strategy import MEASURES
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.links import find_citing_pages, link_positions
from pagekin.search.options import AUTO, RelatedOptions
from pagekin.search.query import Bag, bag_of, signature_of
from pagekin.search.results import NearDuplicate, RelatedPage
from pagekin.serving.views.names import PageRef, clean_line, original_href, refs, refs_by_row

_TERMS, _ANCHOR_TEXTS, _LINKS = 16, 12, 8
_SHARED_TERMS, _TERMS_OF_ONE, _COMMON_LINKS = 14, 12, 6  # of two pages
_RELATED_TERMS = 6  # of a page in the list of related pages
_EXCERPT_LENGTH = 320
_MARKUP = re.compile(r"\s*<[!?/]?[a-zA-Z][^<>]*>")  # the beginning of HTML
_TITLE_WITHIN = 5000  # characters in which the excerpt looks for the title
# Share of links in the similarity, by what the form offers; usual is the learned share, if there is one.
SHARES: dict[str, float | Literal["auto"] | None] = {"usual": None, "words": 0.0, "both": AUTO, "links": 1.0}


class PageView(NamedTuple):
    """A page: its content, and the links to it and from it."""

    page: PageRef
    original: str | None  # link to the original page
    in_collection: bool  # False: known only from links
    language: str
    words: int
    excerpt: str
    in_degree: int
    out_degree: int
    terms: list[tuple[str, float, float]]  # term, weight in the bag, weight relative to the largest
    anchor_texts: list[tuple[str, int]]  # text of links to the page, and how often it occurs
    linked_from: list[PageRef]
    links_to: list[PageRef]
    aliases: list[tuple[str, str]]  # other URLs of the page, and why
    captures: list[tuple[str, str]]  # dates and sources of captures that are not the page, newest first


def page_view(indexed: IndexedStore, page: PageRef, replay: str | None = None) -> PageView:
    query = "SELECT in_degree, out_degree, first_row FROM nodes WHERE node = ?"
    [(in_degree, out_degree, row)] = indexed.catalog.rows(query, page.node)
    stored: dict[str, Any] = indexed.page(row) if row is not None else {"language": "", "tokens": 0}
    citing = np.unique(indexed.links.page[indexed.links.row(page.node)])[:_LINKS].tolist()
    terms = indexed.top_terms(page.node, _TERMS)
    largest = max((weight for _, weight in terms), default=1.0)
    return PageView(
        page,
        original_href(page.url, replay),
        row is not None,
        clean_line(stored["language"], 20),
        stored["tokens"],
        _excerpt(indexed.main_text(row), page.title) if row is not None else "",
        in_degree,
        out_degree,
        [(term, weight, weight / largest) for term, weight in terms],
        indexed.anchor_texts(page.node, _ANCHOR_TEXTS),
        refs_by_row(indexed, citing),
        refs(indexed, sorted(indexed.nodes_linked_from([page.node]) - {page.node})[:_LINKS]),
        indexed.catalog.aliases(page.node)[:_LINKS],
        [(_date(at), source) for at, source in indexed.catalog.other_captures(page.url, _LINKS)],
    )


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat() if seconds else "unknown date"


def _excerpt(text: str, title: str) -> str:
    """Return the beginning of a text; if it contains the title, often after a menu, the text after the title."""
    _, found, after = text[:_TITLE_WITHIN].partition(title)
    body = after + text[_TITLE_WITHIN : 2 * _TITLE_WITHIN] if found and after.strip() else text
    line = clean_line(body, 2 * _EXCERPT_LENGTH)
    return line if len(line) <= _EXCERPT_LENGTH else line[:_EXCERPT_LENGTH].rpartition(" ")[0] + " …"


@dataclass(frozen=True)
class AnswerFilters:
    """The form above the related pages."""

    limit: int = option_like(RelatedOptions, "limit", maximum=100)
    least: float = option_like(RelatedOptions, "min_similarity")
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
    return _rows(indexed, indexed.related(page.url, filters.options()), page)


def rows_related_to(indexed: IndexedStore, text: str) -> list[RelatedRow]:
    """Return the rows for a text from outside the collection; it is HTML if it begins with a tag.

    >>> bool(_MARKUP.match("  <!doctype html>")), bool(_MARKUP.match("<p class=a>")), bool(_MARKUP.match("a < b"))
    (True, True, False)
    """
    plain = _MARKUP.match(text) is None
    return _rows(indexed, indexed.related_to(text.encode("utf-8", "replace"), plain=plain))


def _rows(indexed: IndexedStore, results: list[RelatedPage], page: PageRef | None = None) -> list[RelatedRow]:
    linked = set() if page is None else indexed.nodes_linked_from([page.node])
    rows = []
    for result in results:
        [found] = refs(indexed, [result.url], "url")
        terms = [term for term, _ in indexed.top_terms(found.node, _RELATED_TERMS)]
        citing = zip(result.why.cited_by, result.why.apart, strict=True)
        cited_by = [(ref, apart) for url, apart in citing for ref in refs(indexed, [url], "url")]
        duplicates = [(refs(indexed, [each.url], "url")[0], each) for each in result.duplicates]
        links_back = page is not None and page.node in indexed.nodes_linked_from([found.node])
        rows.append(RelatedRow(found, result, terms, cited_by, duplicates, found.node in linked, links_back))
    return rows


class ComparedTerm(NamedTuple):
    """A term of both pages."""

    term: str
    one: float  # weight in the first bag, relative to the largest weight shown
    other: float
    share: float  # of the similarity


class SignatureAgreement(NamedTuple):
    """The number of equal positions in two signatures, and the exact similarity that it estimates."""

    agree: int
    of: int
    exact: float

    @property
    def estimate(self) -> float:
        return self.agree / self.of

    @property
    def error(self) -> float:
        """The standard error of the estimate."""
        return math.sqrt(max(0.0, self.exact * (1.0 - self.exact)) / self.of)  # rounding can give slightly more than 1


class PageComparison(NamedTuple):
    """Two pages side by side."""

    one: PageView
    other: PageView
    jaccard: float
    cosine: float
    signatures: SignatureAgreement
    shared: list[ComparedTerm]
    link_share: float  # share of citing pages in the similarity
    only_one: list[str]
    only_other: list[str]
    one_links: bool  # to the other
    other_links: bool
    cited_by: list[tuple[PageRef, int]]  # and the number of words between the two links
    both_link_to: list[PageRef]
    common_links: int
    text_overlap: float | None  # share of the text that is the same; None if the text of a page is missing


def compare_pages(indexed: IndexedStore, one: PageRef, other: PageRef, replay: str | None = None) -> PageComparison:
    nodes = np.array([one.node, other.node], np.int64)
    views = page_view(indexed, one, replay), page_view(indexed, other, replay)
    jaccard, cosine = (float(indexed.text_similarities(one.node, nodes[1:], by)[0]) for by in ("jaccard", "cosine"))
    bags = bag_of(indexed.index, one.node), bag_of(indexed.index, other.node)
    agree = _signature(indexed, one.node, bags[0]) == _signature(indexed, other.node, bags[1])
    agreement = SignatureAgreement(int(agree.sum()), len(agree), jaccard)
    shared = _shared_terms(indexed, *bags)
    alone = _terms_of_one(indexed, bags[0], bags[1]), _terms_of_one(indexed, bags[1], bags[0])
    linked = indexed.nodes_linked_from([one.node]), indexed.nodes_linked_from([other.node])
    links = other.node in linked[0], one.node in linked[1]
    common = sorted(linked[0] & linked[1] - {one.node, other.node})
    both = refs(indexed, common[:_COMMON_LINKS])
    citing = [link_positions(indexed, node) for node in (nodes[:1], nodes[1:])]
    [together] = find_citing_pages(citing[0], citing[1], 1, _COMMON_LINKS)
    cited = [(page, apart) for row, apart in together for page in refs_by_row(indexed, [row])]
    rows = [int(indexed.nodes[node]) if node + 1 < len(indexed.nodes) else -1 for node in nodes.tolist()]
    same = float(indexed.fingerprints.similarities(np.array([rows], np.int64))[0]) if min(rows) >= 0 else None
    return PageComparison(
        *views, jaccard, cosine, agreement, *shared, *alone, *links, cited, both, len(common), text_overlap=same
    )


def _signature(indexed: IndexedStore, node: int, bag: Bag) -> Unsigned:
    known = node < len(indexed.index.signatures)
    return np.asarray(indexed.index.signatures[node]) if known else signature_of(indexed.index, bag)


def _shared_terms(indexed: IndexedStore, one: Bag, other: Bag) -> tuple[list[ComparedTerm], float]:
    """Return the terms of both bags, largest contribution first, and the share of citing pages in the similarity."""
    terms, mine, theirs = np.intersect1d(one.term, other.term, return_indices=True)
    weights = np.array([one.weight[mine], other.weight[theirs]], np.float64)
    minimum = weights.min(axis=0)
    total = float(minimum.sum()) or 1.0
    words = np.flatnonzero(terms < indexed.index.words)
    best = words[np.lexsort((terms[words], -minimum[words]))[:_SHARED_TERMS]]
    largest = float(weights[:, best].max(initial=0.0)) or 1.0
    columns = terms[best], *(weights[:, best] / largest), minimum[best] / total
    rows = zip(*(column.tolist() for column in columns), strict=True)
    listed = [ComparedTerm(indexed.index.terms.shown[term], *shares) for term, *shares in rows]
    return listed, float(minimum[terms >= indexed.index.words].sum()) / total


def _terms_of_one(indexed: IndexedStore, one: Bag, other: Bag) -> list[str]:
    alone = np.flatnonzero((one.term < indexed.index.words) & ~np.isin(one.term, other.term))
    best = alone[np.lexsort((one.term[alone], -one.weight[alone]))[:_TERMS_OF_ONE]]
    return [indexed.index.terms.shown[term] for term in one.term[best].tolist()]
