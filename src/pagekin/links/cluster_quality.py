"""Are clusters categories? Tables 6 and 7 of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pagekin.links.hierarchy import merged
from pagekin.links.threshold_graph import ThresholdGraph
from pagekin.model.arrays import Int64s

MOST = 5000  # pages that are judged together
Labels = Mapping[int, set[str]]  # the categories of a node


@dataclass(frozen=True)
class Category:
    """How well the cluster that serves a category best does so."""

    name: str
    pages: int
    clustered: int  # labelled pages in its cluster
    right: int

    @property
    def precision(self) -> float:
        """The share of the cluster that has the category."""
        return self.right / self.clustered if self.clustered else 0.0

    @property
    def recall(self) -> float:
        """The share of the category that is in the cluster."""
        return self.right / self.pages if self.pages else 0.0


@dataclass(frozen=True)
class ClusterQuality:
    """Of a core set: how many pages hang together, how many of those were judged, and how each category fares."""

    core: int
    retrieved: int
    judged: int
    categories: list[Category]

    @property
    def recall(self) -> float:
        """Table 6: the share of the core set in the connected subgraph that holds most of it."""
        return self.retrieved / self.core if self.core else 0.0

    @property
    def precision_mean(self) -> float:
        """The mean over categories."""
        return float(np.mean([each.precision for each in self.categories])) if self.categories else 0.0

    @property
    def recall_mean(self) -> float:
        """The mean over categories."""
        return float(np.mean([each.recall for each in self.categories])) if self.categories else 0.0


def judge(graph: ThresholdGraph, labels: Labels, alpha: float, most: int = MOST) -> ClusterQuality:
    """Cut the labelled pages that hang together into as many clusters as they have categories, and compare."""
    core = np.array(sorted(labels), np.int64)
    names = sorted(set().union(*labels.values()))
    parts, counts = np.unique(graph.component[graph.shown[core]], return_counts=True)
    if not len(parts) or counts.max() < 2:
        return ClusterQuality(len(core), 0, 0, [Category(name, _size(labels, name), 0, 0) for name in names])
    inside = graph.component[graph.shown] == parts[np.argmax(counts)]
    subgraph = graph.subgraph(int(core[inside[core]][0]), most)
    labelled = np.flatnonzero(np.isin(subgraph.nodes, graph.shown[core]))
    hierarchy = merged(subgraph.distance, alpha).only(labelled.tolist())
    part = hierarchy.cut(min(len(names), len(labelled)))
    # A page that another stands for is in the cluster of the one that stands for it.
    cluster = {node: int(number) for node, number in zip(subgraph.nodes[labelled].tolist(), part, strict=True)}
    placed = {int(node): cluster[int(graph.shown[node])] for node in core if int(graph.shown[node]) in cluster}
    categories = _matched(labels, names, placed)
    return ClusterQuality(len(core), int(inside[core].sum()), len(placed), categories)


def _matched(labels: Labels, names: list[str], placed: Mapping[int, int]) -> list[Category]:
    """Each category with a cluster of its own, so that most pages are where they belong."""
    column = {name: k for k, name in enumerate(names)}
    right = np.zeros((len(names), len(names)), np.int64)
    for node, number in placed.items():
        for name in labels[node]:
            right[number, column[name]] += 1
    sizes = np.bincount(list(placed.values()), minlength=len(names))
    cluster_of = assigned(right.T)
    return [
        Category(name, _size(labels, name), int(sizes[cluster]), int(right[cluster, k]))
        for k, (name, cluster) in enumerate(zip(names, cluster_of, strict=True))
    ]


def _size(labels: Labels, name: str) -> int:
    return sum(name in each for each in labels.values())


def assigned(gain: Int64s) -> list[int]:
    """For every row a column of its own, such that the gains are largest in sum (the Hungarian method).

    >>> assigned(np.array([[5, 4], [4, 0]]))
    [1, 0]
    """
    n = len(gain)
    cost = np.zeros((n + 1, n + 1), np.int64)
    cost[1:, 1:] = gain.max(initial=0) - gain
    over, under = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    row_of = np.zeros(n + 1, np.int64)
    for row in range(1, n + 1):
        row_of[0], at = row, 0
        least, way = np.full(n + 1, np.iinfo(np.int64).max), np.zeros(n + 1, np.int64)
        used = np.zeros(n + 1, bool)
        while row_of[at]:
            used[at] = True
            slack = cost[row_of[at]] - over[row_of[at]] - under
            better = ~used & (slack < least)
            least[better], way[better] = slack[better], at
            step = least[~used].min()
            at = int(np.flatnonzero(~used & (least == step))[0])
            over[row_of[used]] += step
            under[used] -= step
            least[~used] -= step
        while at:
            row_of[at], at = row_of[way[at]], int(way[at])
    columns = np.zeros(n + 1, np.int64)
    columns[row_of] = np.arange(n + 1)
    return (columns[1:] - 1).tolist()  # type: ignore[no-any-return]
