"""Two pages side by side: what they share, and what not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pagekin.links.citing_pages import LinkPositions, find_citing_pages, link_positions
from pagekin.model.arrays import Unsigned
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.query import Bag, bag_of, signature_of
from pagekin.serving.views.page import PageView, page_view
from pagekin.serving.views.page_names import PageRef, refs, refs_by_row
from pagekin.serving.views.text import shown

_SHARED, _ALONE, _LINKS = 14, 12, 6


@dataclass(frozen=True)
class WeightedTerm:
    """A word, and its weights in both bags as shares of the heaviest that is shown."""

    word: str
    one: float
    other: float
    share: float  # of what is shared


@dataclass(frozen=True)
class Signatures:
    """In how many places two signatures agree, and in how many they should by the exact similarity."""

    agree: int
    of: int
    exact: float

    @property
    def estimate(self) -> float:
        """The similarity that the signatures tell."""
        return self.agree / self.of

    @property
    def error(self) -> float:
        """The standard error of such an estimate."""
        return math.sqrt(max(0.0, self.exact * (1.0 - self.exact)) / self.of)  # a rounded 1 may be a little more


@dataclass(frozen=True)
class PageComparison:
    """Two pages side by side."""

    one: PageView
    other: PageView
    jaccard: float
    cosine: float
    signatures: Signatures
    shared: list[WeightedTerm]
    only_one: list[str]
    only_other: list[str]
    by_links: float  # the share of citing pages in what the bags share
    one_links: bool  # to the other
    other_links: bool
    cited_by: list[tuple[PageRef, int]]  # and how many words apart
    both_link_to: list[PageRef]
    links_in_common: int
    same_text: float | None  # the share of the text that is the same, if both have one


def compared(indexed: IndexedStore, one: PageRef, other: PageRef, replay: str | None = None) -> PageComparison:
    """Compare two pages."""
    bags = bag_of(indexed.index, one.node), bag_of(indexed.index, other.node)
    target = np.array([other.node], np.int64)
    signed = _signature(indexed, one.node, bags[0]), _signature(indexed, other.node, bags[1])
    jaccard, cosine = (
        float(indexed.text_similarities(one.node, target, measure)[0]) for measure in ("jaccard", "cosine")
    )
    shared, by_links = _shared(indexed, *bags)
    linked = indexed.nodes_linked_from([one.node]), indexed.nodes_linked_from([other.node])
    common = sorted(linked[0] & linked[1] - {one.node, other.node})
    [together] = find_citing_pages(_places(indexed, one), _places(indexed, other), 1, _LINKS)
    return PageComparison(
        page_view(indexed, one, replay),
        page_view(indexed, other, replay),
        jaccard,
        cosine,
        Signatures(int((signed[0] == signed[1]).sum()), len(signed[0]), jaccard),
        shared,
        _alone(indexed, bags[0], bags[1]),
        _alone(indexed, bags[1], bags[0]),
        by_links,
        other.node in linked[0],
        one.node in linked[1],
        [(page, apart) for row, apart in together for page in refs_by_row(indexed, [row])],
        refs(indexed, common[:_LINKS]),
        len(common),
        _same_text(indexed, one.node, other.node),
    )


def _places(indexed: IndexedStore, page: PageRef) -> LinkPositions:
    return link_positions(indexed.links, indexed.reading.anchors, np.array([page.node]))


def _signature(indexed: IndexedStore, node: int, bag: Bag) -> Unsigned:
    known = node < len(indexed.index.signatures)
    return np.asarray(indexed.index.signatures[node]) if known else signature_of(indexed.index, bag)


def _shared(indexed: IndexedStore, one: Bag, other: Bag) -> tuple[list[WeightedTerm], float]:
    """The words that both have, those first that make them most alike; and the share that citing pages have in it."""
    terms, mine, theirs = np.intersect1d(one.term, other.term, return_indices=True)
    weights = one.weight[mine].astype(np.float64), other.weight[theirs].astype(np.float64)
    least = np.minimum(*weights)
    total = float(least.sum()) or 1.0
    words = np.flatnonzero(terms < indexed.index.words)
    best = words[np.lexsort((terms[words], -least[words]))[:_SHARED]]
    heaviest = float(np.maximum(*weights)[best].max(initial=0.0)) or 1.0
    listed = [
        WeightedTerm(
            shown(indexed.index.terms.shown[int(terms[k])], 40),
            float(weights[0][k]) / heaviest,
            float(weights[1][k]) / heaviest,
            float(least[k]) / total,
        )
        for k in best.tolist()
    ]
    return listed, float(least[terms >= indexed.index.words].sum()) / total


def _alone(indexed: IndexedStore, one: Bag, other: Bag) -> list[str]:
    """The words that weigh most in one bag and are not in the other."""
    alone = (one.term < indexed.index.words) & ~np.isin(one.term, other.term)
    places = np.flatnonzero(alone)
    heaviest = places[np.lexsort((one.term[places], -one.weight[places]))[:_ALONE]]
    return [shown(indexed.index.terms.shown[int(one.term[k])], 40) for k in heaviest.tolist()]


def _same_text(indexed: IndexedStore, one: int, other: int) -> float | None:
    rows = [int(indexed.nodes[node]) if node + 1 < len(indexed.nodes) else -1 for node in (one, other)]
    if min(rows) < 0:
        return None
    return float(indexed.fingerprints.similarities(np.array([rows], np.int64))[0])
