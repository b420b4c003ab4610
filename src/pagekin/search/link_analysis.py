"""Link analysis of a stored collection: `analyse_links(indexed).clusters(url).order(0.5)`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.errors import FailureError
from pagekin.links.clusters import Clusters, CrossTopicPage
from pagekin.links.export import Vertex
from pagekin.links.link_graph import LinkGraph, prepare, stored_links
from pagekin.links.measures import MAX_PAGES, ThresholdGraph, build_link_sets, build_threshold_graph
from pagekin.links.settings import LinkOptions
from pagekin.search.indexed_store import IndexedStore
from pagekin.store.store import report_damage

_CROSS_TOPIC_PAGES = 200  # of the subgraph of each page, when all pages of a collection are examined


@dataclass(frozen=True)
class LinkAnalysis:
    """The link graph of a collection and its threshold graph by one measure."""

    indexed: IndexedStore
    measure: str
    link_graph: LinkGraph
    graph: ThresholdGraph

    def node(self, name: str) -> int:
        return int(self.link_graph.node_of[self.indexed.find_node(name)])

    def clusters(self, page: str | int, limit: int = MAX_PAGES) -> Clusters:
        """The clusters around a page, given by its name or node."""
        node = self.node(page) if isinstance(page, str) else page
        return Clusters(self.graph.subgraph(node, limit), int(self.graph.representative[node]))

    def named(self, nodes: Sequence[int]) -> list[dict[str, str]]:
        if self.link_graph.hosts:
            return [{"url": self.link_graph.hosts[node], "title": ""} for node in nodes]
        return self.indexed.catalog.named_nodes(nodes)

    def top_terms(self, node: int, limit: int) -> list[str]:
        """The terms with the highest weights in the bag of a page, or of the first page of a host."""
        first = int(np.flatnonzero(self.link_graph.node_of == node)[0])
        return [term for term, _ in self.indexed.top_terms(first, limit)]

    def cross_topic_pages(
        self, alpha: float, progress: Callable[[list[int]], Iterable[int]] = iter
    ) -> list[CrossTopicPage]:
        """The pages between topics, strongest first."""
        nodes = progress(self.graph.connected_nodes().tolist())
        found = (self.clusters(node, _CROSS_TOPIC_PAGES).cross_topic(alpha) for node in nodes)
        return sorted((each for each in found if each is not None), key=lambda each: (-each.strength, each.node))

    def vertices(self) -> list[Vertex]:
        nodes = self.graph.connected_nodes().tolist()
        represented = np.bincount(self.graph.representative, minlength=len(self.link_graph))
        return [
            Vertex(node, name["url"], name["title"], int(self.graph.component[node]), int(represented[node]))
            for node, name in zip(nodes, self.named(nodes), strict=True)
        ]

    def statistics(self) -> dict[str, Any]:
        """Tables 2 to 5 of the paper, and counts of what preparation ignored."""
        links, graph, sizes = self.link_graph, self.graph, self.graph.subgraph_sizes()
        pages, pairs = graph.pages, len(graph.pairs)
        incoming, outgoing = int(links.compared[links.page].sum()), int(links.compared[links.pairs.citing].sum())
        return {
            "measure": self.measure,
            "pages": pages,
            "in_links": incoming,
            "in_links_per_page": incoming / max(1, pages),
            "out_links": outgoing,
            "out_links_per_page": outgoing / max(1, pages),
            "all_pages": len(links.expand(np.flatnonzero(links.compared), 1)),
            "delta": graph.delta,
            "pairs": pairs,
            "share_of_pairs": pairs / max(1, pages * (pages - 1) // 2),
            "mean_similarity": float(graph.pairs.value.mean()) if pairs else 0.0,
            "collapsed": graph.collapsed(),
            "subgraphs": len(sizes),
            "largest_subgraph": int(sizes.max(initial=0)),
            "left_out": links.counts,
        }


@report_damage
def analyse_links(
    indexed: IndexedStore, options: LinkOptions | None = None, core: Sequence[str] = (), steps: int = 1
) -> LinkAnalysis:
    """Compare the pages of a collection by their links, or only a core set of pages expanded `steps` - 1 times."""
    options = options or LinkOptions()
    graph = prepare(stored_links(indexed, indexed.index.strategy), options)
    if not len(graph.pairs):
        raise FailureError(f"{indexed.root} has no links that count, so link analysis is not possible")
    if core:
        graph = graph.restrict_to(graph.node_of[[indexed.find_node(name) for name in core]], steps)
    threshold_graph = build_threshold_graph(build_link_sets(graph, options.measure), len(graph), options.delta)
    return LinkAnalysis(indexed, options.measure, graph, threshold_graph)
