"""Precision and recall of clusters against labelled categories: tables 6 and 7 of the paper."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pagekin.links.clusters import build_hierarchy
from pagekin.links.measures import ThresholdGraph
from pagekin.model.arrays import Int64s

MAX_PAGES = 5000  # of one evaluated subgraph
Labels = Mapping[int, set[str]]  # node -> its categories


@dataclass(frozen=True)
class CategoryQuality:
    """How well the cluster that was matched with a category matches it."""

    category: str
    pages: int
    precision: float  # the share of the cluster's labelled pages that belong to the category
    recall: float  # the share of the category's pages that are in the cluster


@dataclass(frozen=True)
class ClusterQuality:
    """How well the clusters of a core set of labelled pages match their categories."""

    core: int  # labelled pages
    retrieved: int  # of these, pages in the connected subgraph with most of them
    judged: int  # of these, pages that were clustered
    categories: list[CategoryQuality]

    @property
    def recall(self) -> float:
        """Table 6: the share of the core set that was retrieved."""
        return self.retrieved / self.core if self.core else 0.0

    @property
    def precision_mean(self) -> float:
        return float(np.mean([each.precision for each in self.categories])) if self.categories else 0.0

    @property
    def recall_mean(self) -> float:
        return float(np.mean([each.recall for each in self.categories])) if self.categories else 0.0


def evaluate_clusters(graph: ThresholdGraph, labels: Labels, alpha: float, limit: int = MAX_PAGES) -> ClusterQuality:
    """Cut the largest labelled subgraph into as many clusters as there are categories, and compare the two."""
    core = np.array(sorted(labels), np.int64)
    names = sorted(set().union(*labels.values()))
    subgraphs, counts = np.unique(graph.component[graph.representative[core]], return_counts=True)
    if not len(subgraphs) or counts.max() < 2:
        return ClusterQuality(len(core), 0, 0, _match(labels, names, {}))
    inside = graph.component[graph.representative] == subgraphs[np.argmax(counts)]
    subgraph = graph.subgraph(int(core[inside[core]][0]), limit)
    labelled = np.flatnonzero(np.isin(subgraph.nodes, graph.representative[core]))
    hierarchy = build_hierarchy(subgraph.distance, alpha).restrict_to(labelled.tolist())
    cut = hierarchy.cut(min(len(names), len(labelled)))
    cluster = {node: int(number) for node, number in zip(subgraph.nodes[labelled].tolist(), cut, strict=True)}
    # A collapsed page belongs to the cluster of its representative.
    represented = {int(node): int(graph.representative[node]) for node in core}
    clustered = {node: cluster[other] for node, other in represented.items() if other in cluster}
    return ClusterQuality(len(core), int(inside[core].sum()), len(clustered), _match(labels, names, clustered))


def _match(labels: Labels, names: list[str], clustered: Mapping[int, int]) -> list[CategoryQuality]:
    """Assign a different cluster to each category such that the number of correctly placed pages is largest."""
    column = {name: k for k, name in enumerate(names)}
    correct = np.zeros((len(names), len(names)), np.int64)
    for node, number in clustered.items():
        for name in labels[node]:
            correct[number, column[name]] += 1
    clustered_pages = np.bincount(list(clustered.values()), minlength=len(names))
    pages = [sum(name in each for each in labels.values()) for name in names]
    found = []
    for k, cluster in enumerate(assign(correct.T)):
        right, size = int(correct[cluster, k]), int(clustered_pages[cluster])
        found.append(CategoryQuality(names[k], pages[k], right / size if size else 0.0, right / pages[k]))
    return found


def assign(gain: Int64s) -> list[int]:
    """Assign a different column to each row such that the sum of gains is largest (the Hungarian method).

    >>> assign(np.array([[5, 4], [4, 0]]))
    [1, 0]
    """
    n = len(gain)
    cost = np.zeros((n + 1, n + 1), np.int64)
    cost[1:, 1:] = gain.max(initial=0) - gain
    row_potential, column_potential = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    row_of = np.zeros(n + 1, np.int64)
    for row in range(1, n + 1):
        row_of[0], column = row, 0
        least, previous = np.full(n + 1, np.iinfo(np.int64).max), np.zeros(n + 1, np.int64)
        used = np.zeros(n + 1, bool)
        while row_of[column]:
            used[column] = True
            slack = cost[row_of[column]] - row_potential[row_of[column]] - column_potential
            better = ~used & (slack < least)
            least[better], previous[better] = slack[better], column
            step = least[~used].min()
            column = int(np.flatnonzero(~used & (least == step))[0])
            row_potential[row_of[used]] += step
            column_potential[used] -= step
            least[~used] -= step
        while column:
            row_of[column], column = row_of[previous[column]], int(previous[column])
    columns = np.zeros(n + 1, np.int64)
    columns[row_of] = np.arange(n + 1)
    return (columns[1:] - 1).tolist()  # type: ignore[no-any-return]
