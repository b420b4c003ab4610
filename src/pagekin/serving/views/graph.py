"""The neighbourhood of a page as a drawing: the page in the middle, similar pages around it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.links.clusters import Clusters, build_hierarchy
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.serving.views.page_names import PageRef, refs, refs_by_url
from pagekin.serving.views.text import shorten_middle

NEIGHBOURS = 14
WIDTH, HEIGHT = 820.0, 520.0
_RADII = 190.0, 232.0
_LABEL_DISTANCE = 24.0  # between labels, vertically
_MIN_SIMILARITY = 0.03  # of an edge
_LABEL_LENGTH = 26
_NEAREST = 3  # edges of each neighbour to its nearest other neighbours


@dataclass(frozen=True)
class GraphNode:
    """A page in the drawing."""

    page: PageRef
    x: float
    y: float
    radius: float
    similarity: float  # to the page in the middle
    label: str
    anchor: str  # of the label: start, end or, for the page in the middle, middle


@dataclass(frozen=True)
class Edge:
    """Two similar pages."""

    one: GraphNode
    other: GraphNode
    similarity: float
    width: float
    own: bool  # ends at the page in the middle


@dataclass(frozen=True)
class Graph:
    """A drawing of a neighbourhood; the first node is the page in the middle."""

    by: str
    nodes: list[GraphNode]
    edges: list[Edge]
    width: float = WIDTH
    height: float = HEIGHT


def graph_by_words(indexed: IndexedStore, page: PageRef) -> Graph:
    """Draw the pages that are similar by words, and their similarities to each other."""
    options = RelatedOptions(limit=NEIGHBOURS, min_similarity=_MIN_SIMILARITY, explain=False)
    pages = [page, *refs_by_url(indexed, [each.url for each in indexed.related(page.url, options)])]
    nodes = np.array([each.node for each in pages], np.int64)
    similarity = np.eye(len(nodes))
    measure = "jaccard" if indexed.index.strategy.similarity == "jaccard" else "cosine"  # both are symmetric
    for k, node in enumerate(nodes.tolist()):
        similarity[k] = indexed.text_similarities(node, nodes, measure)
    return draw_graph(pages, similarity, "text")


def graph_by_links(indexed: IndexedStore, page: PageRef, clusters: Clusters) -> Graph:
    """Draw the pages that are similar by links. The page is drawn in place of its representative."""
    nodes = clusters.order_by_similarity()[:NEIGHBOURS]
    leaves = np.searchsorted(clusters.subgraph.nodes, [clusters.node, *nodes])
    similarity = 1.0 - clusters.subgraph.distance[np.ix_(leaves, leaves)]
    return draw_graph([page, *refs(indexed, nodes)], similarity, "links")


def draw_graph(pages: list[PageRef], similarity: NDArray[np.float64], by: str) -> Graph:
    """Place pages around the first: more similar ones nearer, and pages that are similar to each other side by side."""
    others = len(pages) - 1
    distance = np.clip(1.0 - similarity[1:, 1:], 0.0, None)
    order = build_hierarchy(distance, 0.5).leaves.tolist() if others > 1 else list(range(others))
    lowest, highest = float(similarity[0, 1:].min(initial=1.0)), float(similarity[0, 1:].max(initial=0.0)) or 1.0
    middle = WIDTH / 2, HEIGHT / 2
    points: dict[int, tuple[float, float]] = {0: middle}
    for position, k in enumerate(order):
        angle = 2 * math.pi * (position + 0.5) / others - math.pi / 2
        reach = 1.0 - 0.3 * (float(similarity[0, k + 1]) - lowest) / max(highest - lowest, 0.05)
        points[k + 1] = middle[0] + _RADII[0] * reach * math.cos(angle), middle[1] + _RADII[1] * reach * math.sin(angle)
    _separate_labels(points, middle[0])
    nodes = [
        GraphNode(
            page,
            round(points[k][0], 1),
            round(points[k][1], 1),
            round(13.0 if not k else 5.0 + 6.0 * float(similarity[0, k]) / highest, 1),
            float(similarity[0, k]),
            shorten_middle(page.title, _LABEL_LENGTH),
            "middle" if not k else "start" if points[k][0] >= middle[0] else "end",
        )
        for k, page in enumerate(pages)
    ]
    return Graph(by, nodes, _edges(nodes, similarity))


def _separate_labels(points: dict[int, tuple[float, float]], middle: float) -> None:
    """Move the points of each side vertically until their labels do not overlap."""
    for right in (False, True):
        side = sorted((y, k) for k, (x, y) in points.items() if k and (x >= middle) == right)
        lowest = -math.inf
        for y, k in side:
            lowest = max(y, lowest + _LABEL_DISTANCE)
            points[k] = points[k][0], lowest
        excess = max(0.0, lowest - (HEIGHT - _LABEL_DISTANCE / 2))
        for _, k in side:
            points[k] = points[k][0], points[k][1] - excess


def _edges(nodes: list[GraphNode], similarity: NDArray[np.float64]) -> list[Edge]:
    largest = float(np.max(similarity - np.eye(len(nodes)), initial=0.0)) or 1.0
    among = similarity.copy()
    np.fill_diagonal(among, 0.0)
    among[0] = among[:, 0] = 0.0
    enough = np.sort(among, axis=1)[:, -_NEAREST:].min(axis=1, initial=1.0)  # all edges would be unreadable
    edges = []
    for a, one in enumerate(nodes):
        for b, other in enumerate(nodes[:a]):
            value = float(similarity[a, b])
            if value >= _MIN_SIMILARITY and (b == 0 or value >= min(enough[a], enough[b])):
                edges.append(Edge(one, other, value, round(0.6 + 3.4 * value / largest, 2), own=b == 0))
    return sorted(edges, key=lambda edge: edge.similarity)
