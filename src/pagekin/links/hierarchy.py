"""Pages merged step by step, as tightly as alpha says; and the order in which they come to a page (section 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pagekin.errors import MisuseError
from pagekin.kernels.flexible_clustering import merge_flexibly
from pagekin.model.arrays import Floats, Int64s


def check_alpha(alpha: float) -> float:
    """Refuse an alpha that formula 5 does not allow."""
    if not 0.0 < alpha <= 1.0:
        raise MisuseError(f"alpha is {alpha}; it must be above 0 and at most 1")
    return alpha


@dataclass(frozen=True)
class Hierarchy:
    """n leaves and their n - 1 merges. Merge k makes cluster n + k of two clusters; leaves are clusters 0 to n - 1."""

    alpha: float
    merges: Int64s  # two clusters a row
    heights: Floats  # the combination distances, which never fall

    def __len__(self) -> int:
        return len(self.heights) + 1

    @cached_property
    def leaves(self) -> Int64s:
        """All leaves, such that every cluster lies side by side."""
        return self._layout[0]

    @cached_property
    def _layout(self) -> tuple[Int64s, Int64s, Int64s]:
        """(leaves, where each cluster begins among them, its size)."""
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
    def first_merge(self) -> Floats:
        """The height at which each leaf is merged for the first time; 0 for one that is alone."""
        first = np.zeros(2 * len(self) - 1)
        first[self.merges] = self.heights[:, None]
        return first[: len(self)]

    @cached_property
    def parent(self) -> Int64s:
        """The cluster that each cluster is merged into; of the last, itself."""
        parent = np.arange(2 * len(self) - 1)
        parent[self.merges] = np.arange(len(self), 2 * len(self) - 1)[:, None]
        return parent

    def together(self, leaf: int) -> Floats:
        """The height at which each leaf comes together with this one; 0 for itself."""
        leaves, begin, size = self._layout
        n, heights = len(self), np.zeros(len(self))
        inside = slice(begin[leaf], begin[leaf] + 1)
        for cluster in self._above(leaf):
            outside = slice(begin[cluster], begin[cluster] + size[cluster])
            for new in (slice(outside.start, inside.start), slice(inside.stop, outside.stop)):
                heights[leaves[new]] = self.heights[cluster - n]
            inside = outside
        return heights

    def _above(self, leaf: int) -> list[int]:
        parents, found, cluster = self.parent.tolist(), [], leaf
        while parents[cluster] != cluster:
            cluster = parents[cluster]
            found.append(cluster)
        return found

    def distances(self, leaf: int) -> Floats:
        """The estimated distance |d_ip - d_ip,cp| + |d_cp - d_ip,cp| of this leaf to each; 0 to itself."""
        joint = self.together(leaf)
        apart: Floats = np.abs(self.first_merge[leaf] - joint) + np.abs(self.first_merge - joint)
        apart[leaf] = 0.0
        return apart

    def order(self, leaf: int) -> Int64s:
        """The other leaves by their estimated distance to this one; of equals the first."""
        order = np.argsort(self.distances(leaf), kind="stable")
        others: Int64s = order[order != leaf]
        return others

    def cut(self, clusters: int) -> Int64s:
        """A number from 0 for every leaf, the same for those of one cluster when there are so many clusters."""
        if not 1 <= clusters <= len(self):
            raise MisuseError(f"clusters is {clusters}; there can be 1 to {len(self)}")
        return self._parts(len(self) - clusters)

    def cut_at(self, height: float) -> Int64s:
        """The same for the clusters whose merges happen at this height or below."""
        return self._parts(int(np.searchsorted(self.heights, height, side="right")))

    def _parts(self, merges: int) -> Int64s:
        """The clusters after so many merges, numbered by their first leaf."""
        part = np.arange(2 * len(self) - 1)
        for k in range(merges - 1, -1, -1):
            part[self.merges[k]] = part[len(self) + k]
        first = np.unique(part[: len(self)], return_index=True, return_inverse=True)
        number: Int64s = np.argsort(np.argsort(first[1]))[first[2]]
        return number

    def only(self, some: Sequence[int]) -> Hierarchy:
        """What is left of the hierarchy when only these leaves are looked at; they are numbered as they are given."""
        n = len(self)
        merges: list[tuple[int, int]] = []
        heights: list[float] = []
        inside = np.full(2 * n - 1, -1)  # the cluster of the smaller hierarchy that each cluster holds
        inside[np.asarray(some, np.int64)] = np.arange(len(some))
        for k, (a, b) in enumerate(self.merges.tolist()):
            inside[n + k] = max(inside[a], inside[b])
            if inside[a] >= 0 and inside[b] >= 0:
                inside[n + k] = len(some) + len(merges)
                merges.append((int(inside[a]), int(inside[b])))
                heights.append(self.heights[k])
        return Hierarchy(self.alpha, np.array(merges, np.int64).reshape(-1, 2), np.array(heights, np.float64))

    def linkage(self) -> NDArray[np.float64]:
        """The merges as scipy has them: two clusters, height, size."""
        size = self._layout[2][len(self) :]
        return np.column_stack([np.sort(self.merges, axis=1), self.heights, size])


def merged(distance: NDArray[np.float64], alpha: float, scorer: NDArray[np.float64] | None = None) -> Hierarchy:
    """The hierarchy of a symmetric matrix of distances, made on a desk of the same size if there is one."""
    scorer = np.empty_like(distance) if scorer is None else scorer
    slots, heights = merge_flexibly(distance, check_alpha(alpha), scorer)
    return Hierarchy(alpha, _as_clusters(slots, len(distance)), heights)


def _as_clusters(slots: Int64s, n: int) -> Int64s:
    """Merges of slots, in which the first lives on, as merges of clusters."""
    cluster, merges = list(range(n)), []
    for k, (a, b) in enumerate(slots.tolist()):
        merges.append((cluster[a], cluster[b]))
        cluster[a] = n + k
    return np.array(merges, np.int64).reshape(-1, 2)
