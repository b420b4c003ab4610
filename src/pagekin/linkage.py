"""The links of a collection opened for questions: `kinship(pagekin.open("my.kin")).clusters(url)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pagekin.arrays import Int64s
from pagekin.bags.making import Collection, counting_links
from pagekin.errors import FailureError
from pagekin.kin import Kin
from pagekin.links.clusters import Clusters
from pagekin.links.crossing import Bridge, bridge
from pagekin.links.measures import compare
from pagekin.links.neighbourhood import MOST, Neighbourhood, neighbourhood
from pagekin.links.web import Found, Preparation, Web, prepare

_NEAR = 200  # pages around each page, when all pages of a collection are looked at


@dataclass(frozen=True)
class Kinship:
    """How pages hang together by a measure of their links."""

    kin: Kin
    measure: str
    web: Web
    graph: Neighbourhood

    def node(self, name: str) -> int:
        """The node that a name means, after preparation."""
        return int(self.web.node_of[self.kin.find_node(name)])

    def clusters(self, name: str, most: int = MOST) -> Clusters:
        """The surroundings of a page, for orderings at any alpha."""
        node = self.node(name)
        return Clusters(self.graph.subgraph(node, most), int(self.graph.shown[node]))

    def named(self, nodes: Sequence[int]) -> list[dict[str, str]]:
        """URL and title of nodes."""
        if self.web.hosts:
            return [{"url": self.web.hosts[node], "title": ""} for node in nodes]
        return self.kin.catalog.named_nodes(nodes)

    def bridges(self, alpha: float, progress: Callable[[Iterable[int]], Iterable[int]] = iter) -> list[Bridge]:
        """The pages between topics, the farthest spanned first."""
        nodes = np.unique(np.concatenate([self.graph.edges.first, self.graph.edges.second])).tolist()
        around = (Clusters(self.graph.subgraph(node, _NEAR), node) for node in progress(nodes))
        found = [each for each in (bridge(clusters, alpha) for clusters in around) if each is not None]
        return sorted(found, key=lambda each: (-each.distance, each.node))

    def statistics(self) -> dict[str, Any]:
        """Tables 2 to 5 of the paper."""
        web, graph = self.web, self.graph
        pages, pairs = graph.pages, len(graph.pairs)
        possible = pages * (pages - 1) // 2
        sizes = graph.sizes()
        return {
            "pages": pages,
            "nodes": len(web),
            "in_links": len(web.page),
            "in_links_per_page": len(web.page) / max(1, pages),
            "out_links": len(web.pairs),
            "out_links_per_page": len(web.pairs) / max(1, pages),
            "delta": graph.delta,
            "pairs": pairs,
            "share_of_pairs": pairs / max(1, possible),
            "mean_similarity": float(graph.pairs.value.mean()) if pairs else 0.0,
            "collapsed": graph.collapsed(),
            "subgraphs": len(sizes),
            "largest_subgraph": int(sizes[0]) if len(sizes) else 0,
            **web.counts,
        }


def kinship(
    kin: Kin, measure: str = "co-citation", delta: float | None = None, preparation: Preparation | None = None
) -> Kinship:
    """Measure the links of a collection."""
    web = prepare(found(kin), preparation or Preparation())
    if not len(web.pairs):
        raise FailureError(f"{kin.root} has no links that count, so nothing can be said of who is cited together")
    return Kinship(kin, measure, web, neighbourhood(compare(web, measure), len(web), delta))


def found(kin: Kin) -> Found:
    """The links of a store that count for the strategy of its index."""

    def urls() -> list[str]:
        return [row[0] for row in kin.catalog.each("SELECT url FROM nodes ORDER BY node")]

    links, anchors = kin.links, kin.reading.anchors
    collection = Collection(kin.reading, kin.words, kin.word_of_form, kin.nodes, links, kin.node_hosts)
    counting = counting_links(collection, kin.index.strategy) != 0
    page = links.page.astype(np.int64)
    nodes = len(links.offsets) - 1
    cited: Int64s = np.repeat(np.arange(nodes), links.lengths())
    place = page << 32 | anchors.start[anchors.offsets[page] + links.anchor]
    has_page = np.arange(nodes) < len(kin.nodes) - 1
    citing = collection.node_of_page()[page].astype(np.int64)
    return Found(citing[counting], cited[counting], place[counting], has_page, urls)
