"""Cross-topic pages: pages whose most similar pages are far from each other (section 6.3.4)."""

from dataclasses import dataclass

import numpy as np

from pagekin.links.clusters import Clusters


@dataclass(frozen=True)
class CrossTopicPage:
    """A page between two topics, and a page of each topic that is similar to it."""

    node: int
    one: int
    other: int
    distance: float  # estimated, between the one and the other
    strength: float  # the distance times the smaller of the page's similarities to the two


def find_cross_topic(clusters: Clusters, alpha: float, neighbours: int = 10) -> CrossTopicPage | None:
    """Find the strongest pair among the most similar pages of a page; None if it has fewer than two.

    The paper takes the first pages of the ordering, and distance alone. But where a topic has few pages, the ordering
    continues with remote pages, and the smallest topics seem to be the widest.
    """
    hierarchy, similarity, nodes = clusters.hierarchy(alpha), clusters.similarities(), clusters.subgraph.nodes
    leaves = np.searchsorted(nodes, clusters.order_by_similarity()[:neighbours])
    if len(leaves) < 2:
        return None
    distance = np.array([hierarchy.distances(int(leaf))[leaves] for leaf in leaves])
    strength = distance * np.minimum.outer(similarity[leaves], similarity[leaves])
    one, other = np.unravel_index(int(np.argmax(strength)), strength.shape)
    ends = int(nodes[leaves[one]]), int(nodes[leaves[other]])
    return CrossTopicPage(clusters.node, *ends, float(distance[one, other]), float(strength[one, other]))
