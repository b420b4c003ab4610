"""Comparison of two pages."""

import math
from dataclasses import dataclass

import numpy as np

from pagekin.model.arrays import Unsigned
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.links import find_citing_pages, link_positions
from pagekin.search.query import Bag, bag_of, signature_of
from pagekin.serving.views.page import PageView, page_view
from pagekin.serving.views.page_names import PageRef, refs, refs_by_row

_SHARED, _ALONE, _LINKS = 14, 12, 6


@dataclass(frozen=True)
class ComparedTerm:
    """A term of both pages."""

    term: str
    one: float  # weight in the first bag, relative to the largest weight shown
    other: float
    share: float  # of the similarity


@dataclass(frozen=True)
class SignatureAgreement:
    """The number of equal positions in two signatures, and the exact similarity that it estimates."""

    agree: int
    of: int
    exact: float

    @property
    def estimate(self) -> float:
        """The estimated similarity."""
        return self.agree / self.of

    @property
    def error(self) -> float:
        """The standard error of the estimate."""
        return math.sqrt(max(0.0, self.exact * (1.0 - self.exact)) / self.of)  # rounding can give slightly more than 1


@dataclass(frozen=True)
class PageComparison:
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
    """Compare two pages."""
    bags = bag_of(indexed.index, one.node), bag_of(indexed.index, other.node)
    signatures = _signature(indexed, one.node, bags[0]), _signature(indexed, other.node, bags[1])
    target = np.array([other.node], np.int64)
    jaccard, cosine = (
        float(indexed.text_similarities(one.node, target, measure)[0]) for measure in ("jaccard", "cosine")
    )
    shared, link_share = _shared_terms(indexed, *bags)
    linked = indexed.nodes_linked_from([one.node]), indexed.nodes_linked_from([other.node])
    common = sorted(linked[0] & linked[1] - {one.node, other.node})
    citing = [link_positions(indexed.links, indexed.reading.anchors, np.array([page.node])) for page in (one, other)]
    [together] = find_citing_pages(citing[0], citing[1], 1, _LINKS)
    return PageComparison(
        page_view(indexed, one, replay),
        page_view(indexed, other, replay),
        jaccard,
        cosine,
        SignatureAgreement(int((signatures[0] == signatures[1]).sum()), len(signatures[0]), jaccard),
        shared,
        link_share,
        _terms_of_one(indexed, bags[0], bags[1]),
        _terms_of_one(indexed, bags[1], bags[0]),
        other.node in linked[0],
        one.node in linked[1],
        [(page, apart) for row, apart in together for page in refs_by_row(indexed, [row])],
        refs(indexed, common[:_LINKS]),
        len(common),
        _text_overlap(indexed, one.node, other.node),
    )


def _signature(indexed: IndexedStore, node: int, bag: Bag) -> Unsigned:
    known = node < len(indexed.index.signatures)
    return np.asarray(indexed.index.signatures[node]) if known else signature_of(indexed.index, bag)


def _shared_terms(indexed: IndexedStore, one: Bag, other: Bag) -> tuple[list[ComparedTerm], float]:
    """Return the terms of both bags, largest contribution first, and the share of citing pages in the similarity."""
    terms, mine, theirs = np.intersect1d(one.term, other.term, return_indices=True)
    weights = one.weight[mine].astype(np.float64), other.weight[theirs].astype(np.float64)
    minimum = np.minimum(*weights)
    total = float(minimum.sum()) or 1.0
    words = np.flatnonzero(terms < indexed.index.words)
    best = words[np.lexsort((terms[words], -minimum[words]))[:_SHARED]]
    largest = float(np.maximum(*weights)[best].max(initial=0.0)) or 1.0
    listed = [
        ComparedTerm(
            indexed.index.terms.shown[int(terms[k])],
            float(weights[0][k]) / largest,
            float(weights[1][k]) / largest,
            float(minimum[k]) / total,
        )
        for k in best.tolist()
    ]
    return listed, float(minimum[terms >= indexed.index.words].sum()) / total


def _terms_of_one(indexed: IndexedStore, one: Bag, other: Bag) -> list[str]:
    """Return the terms with the largest weights in one bag that are not in the other."""
    alone = np.flatnonzero((one.term < indexed.index.words) & ~np.isin(one.term, other.term))
    best = alone[np.lexsort((one.term[alone], -one.weight[alone]))[:_ALONE]]
    return [indexed.index.terms.shown[int(one.term[k])] for k in best.tolist()]


def _text_overlap(indexed: IndexedStore, one: int, other: int) -> float | None:
    rows = [int(indexed.nodes[node]) if node + 1 < len(indexed.nodes) else -1 for node in (one, other)]
    if min(rows) < 0:
        return None
    return float(indexed.fingerprints.similarities(np.array([rows], np.int64))[0])
