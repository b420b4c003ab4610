"""Links as evidence: pages cited together, pages that link to the same pages, and pages that a page links to."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from pagekin.links.citing_pages import LinkPositions, find_citing_pages, link_positions
from pagekin.model.arrays import Floats, Int64s
from pagekin.search.evidence import UNLISTED, Evidence, largest
from pagekin.search.link_scorer import NodeScores
from pagekin.search.node_store import NodeStore
from pagekin.search.query import Query, query_of_nodes
from pagekin.search.text import Jaccard

CITING = 5  # citing pages that explain a similarity
SHARED = 5  # shared link targets that explain a similarity
_TEN = 10
_SAMPLE = 300  # pages that show how well links agree with text


class NodeEvidence(Evidence):
    """An evidence that finds all pages with a score above 0 from a page; from outside the collection it finds none."""

    def __init__(self, store: NodeStore) -> None:
        self._store = store
        self._last: tuple[tuple[int, ...], NodeScores] | None = None

    @abstractmethod
    def similar_to(self, node: int) -> NodeScores:
        """The nodes with a score above 0 by a page of the collection, each once, and their scores."""

    def _found(self, query: Query) -> NodeScores:
        """The same for a query; for several pages the mean of the scores."""
        if self._last is None or self._last[0] is not query.nodes:
            pages = [node for node in query.nodes if node < len(self._store.nodes) - 1]
            self._last = query.nodes, _mean([self.similar_to(node) for node in pages], len(query.nodes))
        return self._last[1]

    def candidates(self, query: Query, n: int) -> Int64s:
        """The `n` nodes with the highest scores."""
        nodes, scores = self._found(query)
        kept = ~np.isin(nodes, query.exclude)
        nodes, scores = nodes[kept], scores[kept]
        return nodes[largest(scores, nodes, n)]

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        """The scores."""
        return self._store.link_scorers.scorer().looked_up(self._found(query), nodes)

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> LinkPairs:
        """All pairs, a source at a time."""
        return LinkPairs(nodes, self.similar_to)


class CitationEvidence(NodeEvidence):
    """An evidence that is explained by the pages that link to both pages."""

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The pages that link to the query and to each node, those with the closest links first."""
        one, others = self._positions(query.nodes[:1]), self._positions(nodes)
        urls = self._store.reading.pages.url
        together = find_citing_pages(one, others, len(nodes), CITING)
        return [
            {"cited_by": [urls[row] for row, _ in citing], "apart": [apart for _, apart in citing]}
            for citing in together
        ]

    def _positions(self, nodes: Int64s | tuple[int, ...]) -> LinkPositions:
        return link_positions(self._store.links, self._store.reading.anchors, np.array(nodes, np.int64))


class LinkEvidence(CitationEvidence):
    """Pages that the same pages cite, that cite the same pages, or that link to each other (Amsler)."""

    name = "links"

    def similar_to(self, node: int) -> NodeScores:
        """The Amsler similarities."""
        return self._store.link_similarity.similar_to(node)


class Proximity(CitationEvidence):
    """Pages that are cited close together. See `LinkScorer.proximity` for the scale."""

    name = "proximity"

    def similar_to(self, node: int) -> NodeScores:
        """The pages that are cited close to a page."""
        return self._store.link_scorers.scorer().proximity(node)


class Coupling(NodeEvidence):
    """Pages that link to the same pages (bibliographic coupling). See `LinkScorer.coupling` for the scale."""

    name = "coupling"

    def similar_to(self, node: int) -> NodeScores:
        """The pages that link to the same pages as a page."""
        return self._store.link_scorers.scorer().coupling(node)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The rarest pages that both the query and each node link to, by title, or by URL if they have none."""
        scorer = self._store.link_scorers.scorer()
        own = scorer.targets(query.nodes)
        reasons: list[dict[str, Any]] = []
        for node in nodes.tolist():
            shared = np.intersect1d(own, scorer.targets((node,)))
            rarest = shared[np.argsort(scorer.links.in_degree[shared], kind="stable")[:SHARED]]
            names = self._store.catalog.named_nodes(rarest.tolist())
            reasons.append({"shared_links": [name["title"] or name["url"] for name in names]} if names else {})
        return reasons


class OutLinks(NodeEvidence):
    """Pages that the page links to. See `LinkScorer.link_shares` for the scale."""

    name = "link"

    def similar_to(self, node: int) -> NodeScores:
        """The pages that a page links to."""
        return self._store.link_scorers.scorer().link_shares(node)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """How many links of the query lead to each node, and their share of its links."""
        scorer = self._store.link_scorers.scorer()
        targets = np.concatenate([np.empty(0, np.int64), *(scorer.out_links(node)[0] for node in query.nodes)])
        counts = [int((targets == node).sum()) for node in nodes.tolist()]
        shares = self.scores(query, nodes).round(4).tolist()
        return [{"links": n, "share": share} if n else {} for n, share in zip(counts, shares, strict=True)]


def _mean(found: list[NodeScores], count: int) -> NodeScores:
    """The mean of the scores of `count` pages; those of some, which have none, may be missing."""
    if count == len(found) == 1:
        return found[0]
    nodes = np.concatenate([np.empty(0, np.int64), *(each for each, _ in found)])
    scores = np.concatenate([np.empty(0), *(each / count for _, each in found)])
    distinct, place = np.unique(nodes, return_inverse=True)
    return distinct, np.asarray(np.bincount(place, scores, len(distinct)), np.float64)


class LinkPairs:
    """Rows of link similarities over a population."""

    def __init__(self, nodes: Int64s, similar_to: Callable[[int], tuple[Int64s, Floats]]) -> None:
        """`similar_to` gives the nodes similar to a node and their similarities; -1 is a page without a node."""
        self._nodes, self._similar_to = nodes, similar_to
        most = int(nodes.max(initial=-1))
        self._place = np.full(most + 2, -1, np.int64)  # of a node in the population
        self._place[nodes[nodes >= 0]] = np.flatnonzero(nodes >= 0)

    def similarities(self, sources: Int64s) -> Floats:
        """The similarities, 0 where links say nothing."""
        rows = np.zeros((len(sources), len(self._nodes)))
        for row, node in zip(rows, self._nodes[sources].tolist(), strict=True):
            if node >= 0:
                near, similar = self._similar_to(node)
                place = self._place[np.minimum(near, len(self._place) - 1)]
                row[place[place >= 0]] = similar[place >= 0]
        return rows

    def scores(self, sources: Int64s) -> Floats:
        """The same as scores."""
        rows = self.similarities(sources)
        return np.where(rows > 0.0, rows, UNLISTED)


def weight_by_agreement(store: NodeStore) -> float:
    """The weight that links earn in a collection by agreeing with text.

    The agreement is the mean, over a sample of pages, of the text similarity of the ten nearest pages by links over
    that of the ten nearest pages by text.
    """
    from pagekin.links.similarity import link_share_for

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
