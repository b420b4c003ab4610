"""Pages between topics: those whose own kin are far from each other (section 6.3.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pagekin.links.clusters import Clusters


@dataclass(frozen=True)
class Bridge:
    """A page, and the two pages of its list that are farthest from each other."""

    node: int
    distance: float
    one: int
    other: int


def bridge(clusters: Clusters, alpha: float, listed: int = 10) -> Bridge | None:
    """How far the first pages of a page's list are from each other; None if the list has fewer than two."""
    hierarchy = clusters.at(alpha)
    order = hierarchy.order(clusters.leaf)[:listed]
    if len(order) < 2:
        return None
    apart = np.array([hierarchy.distances(int(leaf))[order] for leaf in order])
    one, other = np.unravel_index(int(np.argmax(apart)), apart.shape)
    ends = clusters.subgraph.nodes[order[[one, other]]].tolist()
    return Bridge(clusters.node, float(apart[one, other]), *ends)
