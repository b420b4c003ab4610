"""Links as evidence: pages cited together, pages that link to the same pages, and pages that a page links to."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pagekin.kernels.link_scores import closest_citing
from pagekin.kernels.page_rows import COUPLING, LINK_SHARES, PROXIMITY, PageRows, ScoredRows, best_of_rows
from pagekin.model.arrays import Floats, Int64s
from pagekin.search.evidence import SHORT_PAGES, Evidence, PairScores
from pagekin.search.link_scorer import NodeScores
from pagekin.search.node_store import NodeStore
from pagekin.search.page_block import PageBlock, scored_rows
from pagekin.search.query import Query, query_of_nodes
from pagekin.search.text import Jaccard

CITING = 5  # citing pages that explain a similarity
SHARED = 5  # shared link targets that explain a similarity
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
    found = closest_citing(np.sort(one.position), others.row, others.position, count, limit)
    listed = zip(*(each.tolist() for each in found), strict=True)
    return [[(page, apart) for page, apart in zip(*each, strict=True) if page >= 0] for each in listed]


class NodeEvidence(Evidence):
    """An evidence that finds all pages with a score above 0 from a page; from outside the collection it finds none."""

    inside_only = True

    def __init__(self, store: NodeStore) -> None:
        self._store = store
        self._last: tuple[tuple[int, ...], NodeScores] | None = None
        self._last_block: tuple[PageBlock, ScoredRows] | None = None

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
        nodes, scores = self._found(query)
        for excluded in query.exclude:
            nodes, scores = nodes[nodes != excluded], scores[nodes != excluded]
        return best_of_rows(ScoredRows(np.array([0, len(nodes)]), nodes, scores), n).node

    def rows_for(self, block: PageBlock) -> ScoredRows:
        """For each page of a block the nodes with a score above 0."""
        return scored_rows([self._found(query) for query in block.queries])

    def _found_for(self, block: PageBlock) -> ScoredRows:
        if self._last_block is None or self._last_block[0] is not block:
            self._last_block = block, self.rows_for(block)
        return self._last_block[1]

    def candidates_for(self, block: PageBlock, n: int) -> PageRows:
        return best_of_rows(self._found_for(block), n)

    def scores_for(self, block: PageBlock, rows: PageRows) -> Floats:
        return self._store.link_scorers.scorer.looked_up_rows(self._found_for(block), rows)

    def scores(self, query: Query, nodes: Int64s) -> Floats:
        return self._store.link_scorers.scorer.looked_up(self._found(query), nodes)

    def pair_scores(self, nodes: Int64s, query_of: Callable[[int], Query]) -> PairScores:
        return LinkPairs(nodes, self.similar_to)


class CitationEvidence(NodeEvidence):
    """An evidence that is explained by the pages that link to both pages."""

    reasons = "citing pages"

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The pages that link to the query and to each node, those with the closest links first."""
        one, others = link_positions(self._store, query.nodes[:1]), link_positions(self._store, nodes)
        together = find_citing_pages(one, others, len(nodes), CITING)
        urls = self._store.reading.pages.url.take_lists([[row for row, _ in pages] for pages in together])
        return [
            {"cited_by": cited_by, "apart": [apart for _, apart in pages]}
            for cited_by, pages in zip(urls, together, strict=True)
        ]


class LinkEvidence(CitationEvidence):
    """Pages that the same pages cite, that cite the same pages, or that link to each other (Amsler)."""

    name = "links"

    def similar_to(self, node: int) -> NodeScores:
        return self._store.link_similarity.similar_to(node)


class Proximity(CitationEvidence):
    """Pages that are cited close together. See `LinkScorer.proximity` for the scale."""

    name = "proximity"

    def similar_to(self, node: int) -> NodeScores:
        return self._store.link_scorers.scorer.proximity(node)

    def rows_for(self, block: PageBlock) -> ScoredRows:
        return self._store.link_scorers.scorer.rows(PROXIMITY, block.node)


class Cocitation(CitationEvidence):
    """Pages that are cited by the same pages, anywhere in them. See `LinkScorer.cocitation` for the scale."""

    name = "cocitation"
    by_length = SHORT_PAGES

    def similar_to(self, node: int) -> NodeScores:
        return self._store.link_scorers.scorer.cocitation(node)

    def rows_for(self, block: PageBlock) -> ScoredRows:
        return self._store.link_scorers.scorer.cocitation_rows(block.node)


class Coupling(NodeEvidence):
    """Pages that link to the same pages (bibliographic coupling). See `LinkScorer.coupling` for the scale."""

    name = "coupling"
    by_length = SHORT_PAGES

    def similar_to(self, node: int) -> NodeScores:
        return self._store.link_scorers.scorer.coupling(node)

    def rows_for(self, block: PageBlock) -> ScoredRows:
        return self._store.link_scorers.scorer.rows(COUPLING, block.node)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """The rarest pages that both the query and each node link to, by title, or by URL if they have none."""
        shared = self._store.link_scorers.scorer.rarest_shared(query.nodes, nodes, SHARED)
        rarest = [[target for target in targets if target >= 0] for targets in shared.tolist()]
        names = self._store.names_of({target for targets in rarest for target in targets})
        return [{"shared_links": [names[each] for each in targets]} if targets else {} for targets in rarest]


class OutLinks(NodeEvidence):
    """Pages that the page links to. See `LinkScorer.link_shares` for the scale."""

    name = "link"
    absolute = True
    by_length = SHORT_PAGES

    def similar_to(self, node: int) -> NodeScores:
        return self._store.link_scorers.scorer.link_shares(node)

    def rows_for(self, block: PageBlock) -> ScoredRows:
        return self._store.link_scorers.scorer.rows(LINK_SHARES, block.node)

    def explain(self, query: Query, nodes: Int64s) -> list[dict[str, Any]]:
        """How many links of the query lead to each node, and their share of its links."""
        targets = self._store.link_scorers.scorer.out_links(query.nodes)
        counts = (targets == nodes[:, np.newaxis]).sum(axis=1).tolist()
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
