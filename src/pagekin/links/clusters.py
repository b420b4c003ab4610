"""Flexible clustering (SAHN) controlled by alpha (section 5.3), and the clusters around one page at any alpha."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from pagekin.errors import MisuseError
from pagekin.kernels.graph import merge_flexibly
from pagekin.links.measures import Subgraph
from pagekin.model.arrays import Floats, Int64s

_CACHED = 32  # hierarchies, so that a slider can go back


@dataclass(frozen=True)
class Hierarchy:
    """n leaves, which are clusters 0 to n - 1, and their n - 1 merges; merge k forms cluster n + k from two others."""

    alpha: float
    merges: Int64s  # one row of two clusters per merge
    heights: Floats  # combination distances, ascending

    def __len__(self) -> int:
        return len(self.heights) + 1

    @property
    def leaves(self) -> Int64s:
        """All leaves in an order in which every cluster is contiguous, as in a dendrogram."""
        return self._layout[0]

    @cached_property
    def _layout(self) -> tuple[Int64s, Int64s, Int64s]:
        """(leaves, first position of each cluster among them, size of each cluster)."""
        n = len(self)
        size = np.ones(2 * n - 1, np.int64)
        for k, (a, b) in enumerate(self.merges.tolist()):
            size[n + k] = size[a] + size[b]
        begin = np.zeros(2 * n - 1, np.int64)
        for k in range(n - 2, -1, -1):
            a, b = self.merges[k]
            begin[a], begin[b] = begin[n + k], begin[n + k] + size[a]
        leaves = np.empty(n, np.int64)
        leaves[begin[:n]] = np.arange(n)
        return leaves, begin, size

    @cached_property
    def first_merge_heights(self) -> Floats:
        """The height of each leaf's first merge; 0 for a single leaf."""
        first = np.zeros(2 * len(self) - 1)
        first[self.merges] = self.heights[:, None]
        return first[: len(self)]

    def joint_heights(self, leaf: int) -> Floats:
        """The height at which each leaf is in one cluster with this leaf; 0 for itself."""
        leaves, begin, size = self._layout
        n, heights = len(self), np.zeros(len(self))
        cluster, inside = leaf, slice(begin[leaf], begin[leaf] + 1)
        while (parent := int(self._parent[cluster])) != cluster:
            cluster, outside = parent, slice(begin[parent], begin[parent] + size[parent])
            for added in (slice(outside.start, inside.start), slice(inside.stop, outside.stop)):
                heights[leaves[added]] = self.heights[cluster - n]
            inside = outside
        return heights

    @cached_property
    def _parent(self) -> Int64s:
        """The cluster that each cluster is merged into; the root is its own parent."""
        parent = np.arange(2 * len(self) - 1)
        parent[self.merges] = np.arange(len(self), 2 * len(self) - 1)[:, None]
        return parent

    def distances(self, leaf: int) -> Floats:
        """Estimate the distance |d_ip - d_ip,cp| + |d_cp - d_ip,cp| of this leaf to each leaf; 0 to itself."""
        joint = self.joint_heights(leaf)
        distance: Floats = np.abs(self.first_merge_heights[leaf] - joint) + np.abs(self.first_merge_heights - joint)
        distance[leaf] = 0.0
        return distance

    def order(self, leaf: int) -> Int64s:
        """Order the other leaves by estimated distance to this one; ties by number."""
        order = np.argsort(self.distances(leaf), kind="stable")
        return np.asarray(order[order != leaf])

    def cut(self, clusters: int) -> Int64s:
        """Cut into this number of clusters, numbered from 0 by their first leaves; the cluster number of every leaf."""
        if not 1 <= clusters <= len(self):
            raise MisuseError(
                f"clusters is {clusters}; it must be from 1 to {len(self)}, the number of clustered pages"
            )
        cluster = np.arange(2 * len(self) - 1)
        for k in range(len(self) - clusters - 1, -1, -1):
            cluster[self.merges[k]] = cluster[len(self) + k]
        _, first, inverse = np.unique(cluster[: len(self)], return_index=True, return_inverse=True)
        return np.asarray(np.argsort(np.argsort(first))[inverse])

    def restrict_to(self, leaves: Sequence[int]) -> "Hierarchy":
        """The hierarchy of some leaves with their heights kept; the leaves are numbered as given."""
        n = len(self)
        merges: list[tuple[int, int]] = []
        heights: list[float] = []
        number = np.full(2 * n - 1, -1)  # of each cluster in the restricted hierarchy
        number[np.asarray(leaves, np.int64)] = np.arange(len(leaves))
        for k, (a, b) in enumerate(self.merges.tolist()):
            number[n + k] = max(number[a], number[b])
            if number[a] >= 0 and number[b] >= 0:
                number[n + k] = len(leaves) + len(merges)
                merges.append((int(number[a]), int(number[b])))
                heights.append(self.heights[k])
        return Hierarchy(self.alpha, np.array(merges, np.int64).reshape(-1, 2), np.array(heights, np.float64))


def build_hierarchy(distance: Floats, alpha: float, workspace: Floats | None = None) -> Hierarchy:
    """Cluster a symmetric distance matrix by formula 5; `workspace` is an array of the same shape to reuse."""
    if not 0.0 < alpha <= 1.0:
        raise MisuseError(f"alpha is {alpha}; it must be above 0 and at most 1")
    workspace = np.empty_like(distance) if workspace is None else workspace
    slots, heights = merge_flexibly(distance, alpha, workspace)
    # In a row (a, b) of slots, the merged cluster takes slot a.
    cluster, merges = list(range(len(distance))), []
    for k, (a, b) in enumerate(slots.tolist()):
        merges.append((cluster[a], cluster[b]))
        cluster[a] = len(distance) + k
    return Hierarchy(alpha, np.array(merges, np.int64).reshape(-1, 2), heights)


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
        workspace = np.empty_like(subgraph.distance)
        self.hierarchy = lru_cache(_CACHED)(lambda alpha: build_hierarchy(subgraph.distance, alpha, workspace))

    def __len__(self) -> int:
        return len(self.subgraph.nodes)

    @property
    def node(self) -> int:
        """The page, or its representative if it was collapsed."""
        return int(self.subgraph.nodes[self.leaf])

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

    def similarities(self) -> Floats:
        """The similarity of each page of the subgraph to this page; 0 below the threshold."""
        return np.asarray(1.0 - self.subgraph.distance[self.leaf])

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
