"""The links of a collection, analysed: `analyse_links(store).clusters(url).ordered(0.5)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.errors import FailureError, MisuseError
from pagekin.links.clusters import Clusters
from pagekin.links.cross_topic import CrossTopicPage, cross_topic_page
from pagekin.links.export import Vertex
from pagekin.links.link_graph import LinkGraph, Preparation, prepare
from pagekin.links.measures import MEASURES, compare
from pagekin.links.stored import stored_links
from pagekin.links.threshold_graph import MOST, ThresholdGraph, threshold_graph
from pagekin.model.arrays import Int64s
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.store import report_damage

_NEAR = 200  # pages around each page, when all pages of a collection are looked at


@dataclass(frozen=True)
class LinkAnalysis:
    """How the pages of a collection hang together by a measure of their links."""

    indexed: IndexedStore
    measure: str
    web: LinkGraph
    graph: ThresholdGraph

    def node(self, name: str) -> int:
        """The node that a name means, after preparation."""
        return int(self.web.node_of[self.indexed.find_node(name)])

    def node_of_row(self, row: int) -> int:
        """The node of a page."""
        return int(self.web.node_of[np.searchsorted(self.indexed.nodes, row, side="right") - 1])

    def clusters(self, name: str, most: int = MOST) -> Clusters:
        """The surroundings of a page, for orderings at any alpha."""
        return self.around(self.node(name), most)

    def around(self, node: int, most: int = MOST) -> Clusters:
        """The surroundings of a node."""
        return Clusters(self.graph.subgraph(node, most), int(self.graph.shown[node]))

    def named(self, nodes: Sequence[int]) -> list[dict[str, str]]:
        """URL and title of nodes."""
        if self.web.hosts:
            return [{"url": self.web.hosts[node], "title": ""} for node in nodes]
        return self.indexed.catalog.named_nodes(nodes)

    def top_terms(self, node: int, most: int) -> list[str]:
        """The words that weigh most in the bag of a page, or of the first page of a host."""
        found = int(np.flatnonzero(self.web.node_of == node)[0])
        return [term for term, _ in self.indexed.top_terms(found, most)]

    def bridges(self, alpha: float, progress: Callable[[list[int]], Iterable[int]] = iter) -> list[CrossTopicPage]:
        """The pages between topics, the strongest bridges first."""
        found = [cross_topic_page(self.around(node, _NEAR), alpha) for node in progress(self._linked().tolist())]
        return sorted((each for each in found if each is not None), key=lambda each: (-each.strength, each.node))

    def vertices(self) -> list[Vertex]:
        """The pages of the graph."""
        nodes = self._linked().tolist()
        stood_for = np.bincount(self.graph.shown, minlength=len(self.web))
        return [
            Vertex(node, name["url"], name["title"], int(self.graph.component[node]), int(stood_for[node]))
            for node, name in zip(nodes, self.named(nodes), strict=True)
        ]

    def _linked(self) -> Int64s:
        return np.unique(np.concatenate([self.graph.edges.first, self.graph.edges.second]))

    def statistics(self) -> dict[str, Any]:
        """Tables 2 to 5 of the paper, and what preparation left out."""
        web, graph, sizes = self.web, self.graph, self.graph.sizes()
        pages, pairs = graph.pages, len(graph.pairs)
        incoming, outgoing = int(web.compared[web.page].sum()), int(web.compared[web.pairs.citing].sum())
        return {
            "measure": self.measure,
            "pages": pages,
            "in_links": incoming,
            "in_links_per_page": incoming / max(1, pages),
            "out_links": outgoing,
            "out_links_per_page": outgoing / max(1, pages),
            "all_pages": len(web.expanded(np.flatnonzero(web.compared), 1)),
            "delta": graph.delta,
            "pairs": pairs,
            "share_of_pairs": pairs / max(1, pages * (pages - 1) // 2),
            "mean_similarity": float(graph.pairs.value.mean()) if pairs else 0.0,
            "collapsed": graph.collapsed(),
            "subgraphs": len(sizes),
            "largest_subgraph": int(sizes.max(initial=0)),
            "left_out": web.counts,
        }


@report_damage
def analyse_links(
    indexed: IndexedStore,
    measure: str = "amsler",
    delta: float | None = None,
    preparation: Preparation | None = None,
    core: Sequence[str] = (),
    steps: int = 1,
) -> LinkAnalysis:
    """Measure the links of a collection, or of a core set of pages expanded so many times."""
    if measure not in MEASURES:
        raise MisuseError(f"measure is {measure!r}; it can be {', '.join(MEASURES)}")
    web = prepare(stored_links(indexed, indexed.index.strategy), preparation or Preparation())
    if not len(web.pairs):
        raise FailureError(f"{indexed.root} has no links that count, so they say nothing of its pages")
    if core:
        web = web.around(web.node_of[[indexed.find_node(name) for name in core]], steps)
    return LinkAnalysis(indexed, measure, web, threshold_graph(compare(web, measure), len(web), delta))
