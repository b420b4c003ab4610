"""The threshold graph of link similarity and its connected subgraphs (section 5)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import MisuseError
from pagekin.kernels.graph import adjacency, best_reachable, components, distance_matrix
from pagekin.links.measures import LinkSets, SimilarPairs
from pagekin.model.arrays import Bools, Floats, Int64s

DELTA_SHARE = 0.1  # default threshold as a share of the mean similarity (section 6.3.1)
NEAR_IDENTICAL = 0.95  # pages with a higher similarity are collapsed into one (section 5.1)
MAX_PAGES = 2000  # of a subgraph to cluster


@dataclass(frozen=True)
class Subgraph:
    """Pages of one connected subgraph, ascending, and their distances."""

    nodes: Int64s
    distance: NDArray[np.float64]
    total: int  # pages of the whole connected subgraph; `nodes` are the nearest of them


@dataclass(frozen=True)
class ThresholdGraph:
    """Graph G: edges between pages with similarity of at least `delta`. Near-identical pages are collapsed into one."""

    pages: int  # compared
    mean: float | None  # similarity of the pairs with any; None if delta was given
    delta: float
    pairs: SimilarPairs  # of all pages, above delta
    edges: SimilarPairs  # the pairs of representatives
    representative: Int64s  # the node that each node is collapsed into; itself for most
    component: Int64s  # for each representative, the smallest node of its connected subgraph

    def near_identical(self, node: int) -> list[int]:
        """The other nodes with the same representative."""
        group: list[int] = np.flatnonzero(self.representative == self.representative[node]).tolist()
        return [each for each in group if each != node]

    @property
    def _is_representative(self) -> Bools:
        return np.asarray(self.representative == np.arange(len(self.representative)))

    def collapsed(self) -> int:
        """The number of nodes with another node as representative."""
        return int((~self._is_representative).sum())

    def connected_nodes(self) -> Int64s:
        """The nodes with at least one edge."""
        return np.unique(np.concatenate([self.edges.first, self.edges.second]))

    def subgraph_sizes(self) -> Int64s:
        """The sizes of the connected subgraphs of two or more pages, largest first."""
        return np.sort(np.unique(self.component[self.connected_nodes()], return_counts=True)[1])[::-1]

    @cached_property
    def _adjacency(self) -> tuple[Int64s, Int64s, Floats]:
        return adjacency(len(self.representative), self.edges.first, self.edges.second, self.edges.value)

    def subgraph(self, node: int, limit: int = MAX_PAGES) -> Subgraph:
        """The connected subgraph of a page, or the `limit` pages of it with the best paths to the page."""
        node = int(self.representative[node])
        whole = np.flatnonzero((self.component == self.component[node]) & self._is_representative)
        nodes = whole if len(whole) <= limit else np.sort(best_reachable(*self._adjacency, node, limit))
        return Subgraph(nodes, distance_matrix(*self._adjacency, nodes), len(whole))


def build_threshold_graph(link_sets: LinkSets, nodes: int, delta: float | None = None) -> ThresholdGraph:
    """Build the graph of all pairs with similarity of at least `delta`, by default a tenth of the mean."""
    if delta is not None and not 0.0 <= delta <= 1.0:
        raise MisuseError(f"delta is {delta}; it must be from 0 to 1")
    mean = None
    if delta is None:
        mean = link_sets.mean_similarity()
        delta = DELTA_SHARE * mean
    pairs = link_sets.pairs(delta)
    identical = pairs.value > NEAR_IDENTICAL
    representative = components(nodes, pairs.first[identical], pairs.second[identical])
    kept = (representative[pairs.first] == pairs.first) & (representative[pairs.second] == pairs.second)
    edges = SimilarPairs(pairs.first[kept], pairs.second[kept], pairs.value[kept])
    component = components(nodes, edges.first, edges.second)
    return ThresholdGraph(len(link_sets.node), mean, delta, pairs, edges, representative, component)
