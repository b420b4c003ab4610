"""Links as evidence: pages that the same pages cite, that cite the same pages, or that link to each other (Amsler)."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pagekin.model.arrays import Floats, Int64s, UInt64s
from pagekin.search.evidence import Evidence, PairScores
from pagekin.search.node_store import NodeStore
from pagekin.search.query import Query, query_of_nodes
from pagekin.search.text import Jaccard

CITING = 5  # citing pages that explain a similarity
_NO_DISTANCE = 1 << 62
_TEN = 10
_MIN_AGREEMENT = 0.7
_SAMPLE = 300  # pages that show how well links agree with text


class LinkPositions(NamedTuple):
    """The positions of the links to some nodes."""

    row: Int64s  # index of the linked node, ascending
    position: Int64s  # citing page in the upper 32 bits, word number in the lower


def link_positions(store: NodeStore, nodes: Sequence[int] | Int64s) -> LinkPositions:
    links, anchors = store.links, store.reading.anchors
    row, selected = links.places(np.array(nodes, np.int64))
    page = links.page[selected].astype(np.int64)
    position = page << 32 | anchors.start[anchors.offsets[page] + links.anchor[selected]]
    return LinkPositions(row, position)


def find_citing_pages(one: LinkPositions, others: LinkPositions, count: int, limit: int) -> list[list[tuple[int, int]]]:
    """For each of `count` other nodes, find up to `limit` pages that link both to it and to the one node.

    Each page comes with the smallest distance of such links in words; the closest pages come first.

    >>> one = LinkPositions(np.array([0, 0]), np.array([1 << 32 | 5, 2 << 32 | 90]))
    >>> others = LinkPositions(np.array([0, 0, 2]), np.array([1 << 32 | 9, 2 << 32 | 91, 2 << 32 | 85]))
    >>> find_citing_pages(one, others, 3, 5)
    [[(2, 1), (1, 4)], [], [(2, 5)]]
    """
    if not len(one.position):
        return [[] for _ in range(count)]
    own = np.sort(one.position)
    after = np.searchsorted(own, others.position)
    nearest = own[np.clip([after - 1, after], 0, len(own) - 1)]
    on_same_page = nearest >> 32 == others.position >> 32
    distance = np.where(on_same_page, np.abs(nearest - others.position), _NO_DISTANCE).min(axis=0)
    both = distance < _NO_DISTANCE
    page = others.position[both].astype(np.uint64) >> np.uint64(32)
    keys = distance[both].astype(np.uint64) << np.uint64(32) | page
    rows = np.searchsorted(others.row[both], np.arange(count + 1)).tolist()
    return [_closest(np.sort(keys[begin:end]), limit) for begin, end in pairwise(rows)]


def _closest(keys: UInt64s, limit: int) -> list[tuple[int, int]]:
    """Decode sorted keys (distance in the upper 32 bits, page in the lower); keep each page once."""
    closest: dict[int, int] = {}
    for key in keys.tolist():
        closest.setdefault(key & 0xFFFFFFFF, key >> 32)
        if len(closest) == limit:
            break
    return list(closest.items())


class LinkEvidence(Evidence):
    """The similarity of pages by their links. Pages from outside have none."""

    name = "links"

    def __init__(self, store: NodeStore) -> None:
        self._store = store
        self._last: tuple[tuple[int, ...], dict[int, float]] | None = None

    def _similar(self, query: Query) -> dict[int, float]:
        """The similarity of every node to the query; of several pages the mean."""
        if self._last is None or self._last[0] is not query.nodes:
            sums: dict[int, float] = {}
            for node in query.nodes:
                nodes, values = self._store.link_similarity.similar_to(node)
                for other, similarity in zip(nodes.tolist(), values.tolist(), strict=True):
                    sums[other] = sums.get(other, 0.0) + similarity / len(query.nodes)
            self._last = query.nodes, sums
        return self._last[1]

    def candidates(self, query: Query, n: int) -> Int64s:
        similar = self._similar(query)
        nodes = np.setdiff1d(np.fromiter(similar, np.int64), query.exclude)
        values = np.array([similar[node] for node in nodes.tolist()])
        return nodes[np.lexsort((nodes, -values))[:n]]

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        similar = self._similar(query)
        return np.array([similar.get(node, 0.0) for node in nodes.tolist()], np.float64)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The pages that link to the query and to each node, those with the closest links first."""
        one, others = link_positions(self._store, query.nodes[:1]), link_positions(self._store, nodes)
        urls = self._store.reading.pages.url
        together = find_citing_pages(one, others, len(nodes), CITING)
        return [
            {"cited_by": [urls[row] for row, _ in pages], "apart": [apart for _, apart in pages]} for pages in together
        ]

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        return LinkPairs(nodes, self._store.link_similarity.similar_to)


class LinkPairs(PairScores):
    """Rows of link similarities over a population, 0 where links say nothing."""

    def __init__(self, nodes: Int64s, similar_to: Callable[[int], tuple[Int64s, Floats]]) -> None:
        """`similar_to` gives the nodes similar to a node and their similarities; -1 is a page without a node."""
        self._nodes, self._similar_to = nodes, similar_to
        most = int(nodes.max(initial=-1))
        self._place = np.full(most + 2, -1, np.int64)  # of a node in the population
        self._place[nodes[nodes >= 0]] = np.flatnonzero(nodes >= 0)

    def scores(self, sources: Int64s) -> Floats:
        rows = np.zeros((len(sources), len(self._nodes)))
        for row, node in zip(rows, self._nodes[sources].tolist(), strict=True):
            if node >= 0:
                near, similar = self._similar_to(node)
                place = self._place[np.minimum(near, len(self._place) - 1)]
                row[place[place >= 0]] = similar[place >= 0]
        return rows


def weight_by_agreement(store: NodeStore) -> float:
    """The weight that links earn in a collection by agreeing with text on a sample of pages."""
    text = Jaccard(store.index, store.scorers)
    nodes = min(len(store.nodes) - 1, len(store.index.signatures))
    agreements = []
    for node in range(0, nodes, max(1, nodes // _SAMPLE)):
        near = store.link_similarity.similar_to(node)[0][:_TEN]
        query = query_of_nodes(store.index, [node])
        best = text.scores(query, text.candidates(query, _TEN))
        if len(near) and best.sum() > 0.0:
            agreements.append(float(text.scores(query, near).mean() / best.mean()))
    return round(link_share_for(float(np.mean(agreements))), 2) if agreements else 0.0


def link_share_for(agreement: float) -> float:
    """The share of links in a blended similarity, from the agreement of links with text in the collection.

    The agreement is the text similarity of the ten pages nearest by links, divided by that of the ten pages nearest
    by text; mean over pages. An encyclopedia, with links to any subject, has .73, and a share of .1 is best there; a
    reference manual has .85, and .5 is best.

    >>> [round(link_share_for(agreement), 2) for agreement in (0.6, 0.73, 0.85, 1.0)]
    [0.0, 0.1, 0.5, 1.0]
    """
    return min(1.0, max(0.0, (agreement - _MIN_AGREEMENT) / (1.0 - _MIN_AGREEMENT)))
