"""The neighbourhood graph of similarity: pages that are alike by their links, and what hangs together (section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import MisuseError
from pagekin.kernels.graph import adjacency, best_reachable, components, distance_matrix
from pagekin.links.measures import LinkSets, SimilarPairs
from pagekin.model.arrays import Bools, Floats, Int64s

SHARE = 0.1  # of the mean similarity: the default threshold (section 6.3.1)
SAME = 0.95  # pages that are more alike than this are one (section 5.1)
MOST = 2000  # pages that are clustered together


@dataclass(frozen=True)
class Subgraph:
    """Pages that hang together, in the order of their numbers, and their distances."""

    nodes: Int64s
    distance: NDArray[np.float64]
    of: int  # so many pages hang together; if there are more than nodes, these are the nearest


@dataclass(frozen=True)
class ThresholdGraph:
    """Graph G: an edge between pages that are at least `delta` alike. Pages that are nearly the same are one."""

    pages: int  # that were compared
    mean: float | None  # similarity of pairs that have any; not known if delta was given
    delta: float
    pairs: SimilarPairs  # above delta, of all pages
    edges: SimilarPairs  # of those that stand for themselves
    shown: Int64s  # the node that stands for each node
    component: Int64s  # the smallest node of its connected subgraph, for each node that stands for itself

    def same(self, node: int) -> list[int]:
        """The other nodes of which one stands for all."""
        group: list[int] = np.flatnonzero(self.shown == self.shown[node]).tolist()
        return [each for each in group if each != node]

    def collapsed(self) -> int:
        """How many nodes are stood for by another."""
        return int((self.shown != np.arange(len(self.shown))).sum())

    def sizes(self) -> Int64s:
        """The sizes of the connected subgraphs of two pages or more, the largest first."""
        linked = np.unique(np.concatenate([self.edges.first, self.edges.second]))
        return np.sort(np.unique(self.component[linked], return_counts=True)[1])[::-1]

    @cached_property
    def _beside(self) -> tuple[Int64s, Int64s, Floats]:
        return adjacency(len(self.shown), self.edges.first, self.edges.second, self.edges.value)

    def subgraph(self, node: int, most: int = MOST) -> Subgraph:
        """The connected subgraph that a page is in; or the `most` pages of it that can be reached best."""
        node = int(self.shown[node])
        whole = np.flatnonzero((self.component == self.component[node]) & (self.shown == np.arange(len(self.shown))))
        nodes = whole if len(whole) <= most else np.sort(best_reachable(*self._beside, node, most))
        return Subgraph(nodes, distance_matrix(*self._beside, nodes), len(whole))


def threshold_graph(comparison: LinkSets, nodes: int, delta: float | None = None, same: float = SAME) -> ThresholdGraph:
    """The graph of all pairs of pages that are at least `delta` alike, by default a tenth of the mean."""
    if delta is not None and not 0.0 <= delta <= 1.0:
        raise MisuseError(f"delta is {delta}; it must be from 0 to 1")
    mean = None
    if delta is None:
        mean = comparison.mean()
        delta = SHARE * mean
    pairs = comparison.pairs(delta)
    alike = pairs.value > same
    shown = components(nodes, pairs.first[alike], pairs.second[alike])
    edges = _only(pairs, (shown[pairs.first] == pairs.first) & (shown[pairs.second] == pairs.second))
    component = components(nodes, edges.first, edges.second)
    return ThresholdGraph(len(comparison.node), mean, delta, pairs, edges, shown, component)


def _only(pairs: SimilarPairs, which: Bools) -> SimilarPairs:
    return SimilarPairs(pairs.first[which], pairs.second[which], pairs.value[which])
