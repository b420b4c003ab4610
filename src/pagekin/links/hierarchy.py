"""Flexible clustering (SAHN) controlled by alpha, and the ordering of pages that it implies (section 5.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import MisuseError
from pagekin.kernels.graph import merge_flexibly
from pagekin.model.arrays import Floats, Int64s


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
        others: Int64s = order[order != leaf]
        return others

    def cut(self, clusters: int) -> Int64s:
        """Cut into this number of clusters; the cluster number of every leaf, from 0."""
        if not 1 <= clusters <= len(self):
            raise MisuseError(f"clusters is {clusters}; it must be from 1 to {len(self)}")
        return self._clusters_after(len(self) - clusters)

    def cut_at(self, height: float) -> Int64s:
        """Cut at this height; the cluster number of every leaf, from 0."""
        return self._clusters_after(int(np.searchsorted(self.heights, height, side="right")))

    def _clusters_after(self, merges: int) -> Int64s:
        """The clusters after the first `merges` merges, numbered by their first leaves."""
        cluster = np.arange(2 * len(self) - 1)
        for k in range(merges - 1, -1, -1):
            cluster[self.merges[k]] = cluster[len(self) + k]
        _, first, inverse = np.unique(cluster[: len(self)], return_index=True, return_inverse=True)
        number: Int64s = np.argsort(np.argsort(first))[inverse]
        return number

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


def build_hierarchy(
    distance: NDArray[np.float64], alpha: float, workspace: NDArray[np.float64] | None = None
) -> Hierarchy:
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
