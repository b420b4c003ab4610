"""The connected subgraph around one page, ordered and cut by clustering at any alpha."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pagekin.links.hierarchy import Hierarchy, build_hierarchy
from pagekin.links.threshold_graph import Subgraph
from pagekin.model.arrays import Floats, Int64s

_CACHED = 32  # hierarchies, so that a slider can go back


@dataclass(frozen=True)
class CrossTopicPage:
    """A page between two topics, and a page of each topic that is similar to it (section 6.3.4)."""

    node: int
    one: int
    other: int
    distance: float  # estimated, between the one and the other
    strength: float  # the distance times the smaller of the page's similarities to the two


class Clusters:
    """The subgraph of a page. Hierarchies are computed on demand and cached.

    b is near a, c is near b. The estimated distance of c to a depends on alpha.

    >>> distance = np.array([[0.0, 0.5, 1.0], [0.5, 0.0, 0.6], [1.0, 0.6, 0.0]])
    >>> clusters = Clusters(Subgraph(np.arange(3), distance, 3), 0)
    >>> [(node, round(distance, 3)) for node, distance in clusters.order(0.5)]
    [(1, 0.0), (2, 0.3)]
    >>> [(node, round(distance, 3)) for node, distance in clusters.order(0.1)]
    [(1, 0.0), (2, 0.06)]
    """

    def __init__(self, subgraph: Subgraph, node: int) -> None:
        self.subgraph = subgraph
        self.leaf = int(np.searchsorted(subgraph.nodes, node))
        self._workspace = np.empty_like(subgraph.distance)
        self.hierarchy = lru_cache(_CACHED)(self._hierarchy)

    def __len__(self) -> int:
        return len(self.subgraph.nodes)

    @property
    def node(self) -> int:
        """The page, or its representative if it was collapsed."""
        return int(self.subgraph.nodes[self.leaf])

    def _hierarchy(self, alpha: float) -> Hierarchy:
        """Cluster the subgraph at this alpha."""
        return build_hierarchy(self.subgraph.distance, alpha, self._workspace)

    def order(self, alpha: float) -> list[tuple[int, float]]:
        """Order the other pages by estimated distance, nearest first: (node, distance)."""
        hierarchy = self.hierarchy(alpha)
        order, distance = hierarchy.order(self.leaf), hierarchy.distances(self.leaf)
        return list(zip(self.subgraph.nodes[order].tolist(), distance[order].tolist(), strict=True))

    def order_by_similarity(self) -> list[int]:
        """Order the pages that share an edge with this one by similarity alone, most similar first."""
        distance = self.subgraph.distance[self.leaf]
        order = np.argsort(distance, kind="stable")
        similar: Int64s = order[(distance[order] < 1.0) & (order != self.leaf)]
        return self.subgraph.nodes[similar].tolist()  # type: ignore[no-any-return]

    def positions(self, alphas: Sequence[float], limit: int) -> dict[int, list[int | None]]:
        """Table 8: the positions, from 1, of every page that is among the first `limit` in any ordering.

        The first column is the ordering by similarity alone, then one column per alpha. None means beyond `limit`.
        Rows are sorted by their positions at the first alpha, then at the next.
        """
        orders = [self.order_by_similarity(), *([node for node, _ in self.order(alpha)] for alpha in alphas)]
        table: dict[int, list[int | None]] = {}
        for column, order in enumerate(orders):
            for position, node in enumerate(order[:limit], 1):
                table.setdefault(node, [None] * len(orders))[column] = position
        return dict(sorted(table.items(), key=lambda row: [each or limit + 1 for each in (*row[1][1:], row[1][0])]))

    def changed_positions(self, one: float, other: float, limit: int) -> list[tuple[int, int | None, int | None]]:
        """List (node, position, position) of the first pages whose positions at the two alphas differ."""
        table = self.positions((one, other), limit)
        moved = [(node, before, after) for node, (_, before, after) in table.items() if before != after]
        return sorted(moved, key=lambda row: (row[1] or limit + 1, row[2] or limit + 1))

    def similarities(self) -> Floats:
        """The similarity of each page of the subgraph to this page; 0 below the threshold."""
        similarities: Floats = 1.0 - self.subgraph.distance[self.leaf]
        return similarities

    def cross_topic(self, alpha: float, neighbours: int = 10) -> CrossTopicPage | None:
        """The strongest pair among the most similar pages; None if there are fewer than two.

        The paper takes the first pages of the ordering, and distance alone. But where a topic has few pages, the
        ordering continues with remote pages, and the smallest topics seem to be the widest.
        """
        hierarchy, nodes = self.hierarchy(alpha), self.subgraph.nodes
        leaves = np.searchsorted(nodes, self.order_by_similarity()[:neighbours])
        if len(leaves) < 2:
            return None
        similarity = self.similarities()[leaves]
        distance = np.array([hierarchy.distances(int(leaf))[leaves] for leaf in leaves])
        strength = distance * np.minimum.outer(similarity, similarity)
        one, other = np.unravel_index(int(np.argmax(strength)), strength.shape)
        ends = int(nodes[leaves[one]]), int(nodes[leaves[other]])
        return CrossTopicPage(self.node, *ends, float(distance[one, other]), float(strength[one, other]))
