"""What a user holds in the hand: the surroundings of a page, ordered at once for whatever alpha."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from pagekin.links.hierarchy import Hierarchy, merged
from pagekin.links.threshold_graph import Subgraph
from pagekin.model.arrays import Floats, Int64s

_KEPT = 32  # hierarchies, so that a slider can go back


class Clusters:
    """A page and the pages that hang together with it.

    Three pages: b lies near a, c near b. What c is to a depends on alpha.

    >>> distance = np.array([[0.0, 0.5, 1.0], [0.5, 0.0, 0.6], [1.0, 0.6, 0.0]])
    >>> clusters = Clusters(Subgraph(np.arange(3), distance, 3), 0)
    >>> [(node, round(distance, 3)) for node, distance in clusters.ordered(0.5)]
    [(1, 0.0), (2, 0.3)]
    >>> [(node, round(distance, 3)) for node, distance in clusters.ordered(0.1)]
    [(1, 0.0), (2, 0.06)]
    """

    def __init__(self, subgraph: Subgraph, node: int) -> None:
        self.subgraph = subgraph
        self.leaf = int(np.searchsorted(subgraph.nodes, node))
        self._scorer = np.empty_like(subgraph.distance)
        self.at = lru_cache(_KEPT)(self._at)

    def __len__(self) -> int:
        return len(self.subgraph.nodes)

    @property
    def node(self) -> int:
        """The page itself, or the page that stands for it."""
        return int(self.subgraph.nodes[self.leaf])

    def _at(self, alpha: float) -> Hierarchy:
        """The hierarchy at this alpha."""
        return merged(self.subgraph.distance, alpha, self._scorer)

    def ordered(self, alpha: float) -> list[tuple[int, float]]:
        """(node, estimated distance) of the other pages, the nearest first."""
        hierarchy = self.at(alpha)
        order, apart = hierarchy.order(self.leaf), hierarchy.distances(self.leaf)
        return list(zip(self.subgraph.nodes[order].tolist(), apart[order].tolist(), strict=True))

    def by_similarity(self) -> list[int]:
        """The pages that are alike at all, the most similar first: the ordering without clusters."""
        apart = self.subgraph.distance[self.leaf]
        order = np.argsort(apart, kind="stable")
        near: Int64s = order[(apart[order] < 1.0) & (order != self.leaf)]
        return self.subgraph.nodes[near].tolist()  # type: ignore[no-any-return]

    def positions(self, alphas: Sequence[float], limit: int) -> dict[int, list[int | None]]:
        """Table 8: for every page that is among the first `limit` at any alpha, its position at each, from 1.

        The first position is that by similarity alone. None: not among the first. Pages are in the order of the first
        alpha, those that are not in it in that of the next.
        """
        orders = [self.by_similarity(), *([node for node, _ in self.ordered(alpha)] for alpha in alphas)]
        table: dict[int, list[int | None]] = {}
        for column, order in enumerate(orders):
            for position, node in enumerate(order[:limit], 1):
                table.setdefault(node, [None] * len(orders))[column] = position
        return dict(sorted(table.items(), key=lambda row: [each or limit + 1 for each in (*row[1][1:], row[1][0])]))

    def changed(self, one: float, other: float, limit: int) -> list[tuple[int, int | None, int | None]]:
        """(node, position, position) of the pages among the first whose position is another at another alpha."""
        table = self.positions((one, other), limit)
        moved = [(node, before, after) for node, (_, before, after) in table.items() if before != after]
        return sorted(moved, key=lambda row: (row[1] or limit + 1, row[2] or limit + 1))

    def similarities(self) -> Floats:
        """Of each page of the subgraph to this one; 0 below the threshold."""
        similarities: Floats = 1.0 - self.subgraph.distance[self.leaf]
        return similarities
