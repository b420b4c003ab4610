"""The view of one page, and the comparison of two."""

import math
from typing import Any, NamedTuple

import numpy as np

from pagekin.model.arrays import Unsigned
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.links import find_citing_pages, link_positions
from pagekin.search.query import Bag, bag_of, signature_of
from pagekin.serving.views.names import PageRef, clean_line, original_href, refs, refs_by_row

_TERMS, _ANCHOR_TEXTS, _LINKS = 16, 12, 8
_SHARED_TERMS, _TERMS_OF_ONE, _COMMON_LINKS = 14, 12, 6  # of two pages
_EXCERPT_LENGTH = 320
_TITLE_WITHIN = 5000  # characters in which the excerpt looks for the title


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
        _excerpt(indexed.text(row), page.title) if row is not None else "",
        in_degree,
        out_degree,
        [(term, weight, weight / largest) for term, weight in terms],
        indexed.anchor_texts(page.node, _ANCHOR_TEXTS),
        refs_by_row(indexed, citing),
        refs(indexed, sorted(indexed.nodes_linked_from([page.node]) - {page.node})[:_LINKS]),
        indexed.catalog.aliases(page.node)[:_LINKS],
    )


def _excerpt(text: str, title: str) -> str:
    """Return the beginning of a text; if it contains the title, often after a menu, the text after the title."""
    _, found, after = text[:_TITLE_WITHIN].partition(title)
    body = after + text[_TITLE_WITHIN : 2 * _TITLE_WITHIN] if found and after.strip() else text
    line = clean_line(body, 2 * _EXCERPT_LENGTH)
    return line if len(line) <= _EXCERPT_LENGTH else line[:_EXCERPT_LENGTH].rpartition(" ")[0] + " …"


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
    jaccard, cosine = (
        float(indexed.text_similarities(one.node, nodes[1:], measure)[0]) for measure in ("jaccard", "cosine")
    )
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
