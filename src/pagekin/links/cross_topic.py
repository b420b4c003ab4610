"""Pages between topics: those whose own kin are far from each other (section 6.3.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pagekin.links.clusters import Clusters


@dataclass(frozen=True)
class CrossTopicPage:
    """A page and two pages that it is similar to, far from each other."""

    node: int
    one: int
    other: int
    distance: float  # estimated, of the two ends
    strength: float  # the distance times the smaller similarity: a bridge carries what its weaker end carries


def cross_topic_page(clusters: Clusters, alpha: float, listed: int = 10) -> CrossTopicPage | None:
    """The strongest bridge between the pages that a page is most similar to; None if there are fewer than two.

    The paper takes the first pages of the ordering, and distance alone. But where a topic has few pages the ordering
    goes on with whatever is left, far away: the smallest topics would seem to be the widest.
    """
    hierarchy, similarity, nodes = clusters.at(alpha), clusters.similarities(), clusters.subgraph.nodes
    leaves = np.searchsorted(nodes, clusters.by_similarity()[:listed])
    if len(leaves) < 2:
        return None
    distance = np.array([hierarchy.distances(int(leaf))[leaves] for leaf in leaves])
    strength = distance * np.minimum.outer(similarity[leaves], similarity[leaves])
    one, other = np.unravel_index(int(np.argmax(strength)), strength.shape)
    ends = int(nodes[leaves[one]]), int(nodes[leaves[other]])
    return CrossTopicPage(clusters.node, *ends, float(distance[one, other]), float(strength[one, other]))
