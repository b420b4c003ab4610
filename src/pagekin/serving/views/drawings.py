"""Drawings of the pages around a page: its neighbourhood, and the dendrogram of the pages clustered by their links."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pagekin.figures.charts import ticks
from pagekin.links.clusters import Clusters, Hierarchy, build_hierarchy
from pagekin.model.options import option
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.serving.views.names import PageRef, clean_line, refs, shorten_middle, shorten_to_width

_LISTED = 15  # pages in the ordering and in the dendrogram
_TERMS = 5
_LEFT, _TREE, _TREE_WIDTH, _ROW, _TOP, _FOOT = 8.0, 236.0, 540.0, 26.0, 10.0, 34.0
NEIGHBOURS = 14
WIDTH, HEIGHT = 820.0, 520.0
_RADII = 190.0, 232.0
_LABEL_DISTANCE = 24.0  # between labels, vertically
_MIN_SIMILARITY = 0.03  # of an edge
_FONT = 13.0  # size of labels
_GAP = 6.0  # between a circle and its label
COLUMN_WIDTH, _COLUMN_ROW, _TRUNK = 340.0, 30.0, 16.0  # of the drawing for a narrow window
_BRANCHES = 22.0, 66.0  # lengths of the branches of the most and the least similar page
_NEAREST = 3  # edges of each neighbour to its nearest other neighbours


class ClusterRow(NamedTuple):
    """A page in the ordering."""

    page: PageRef
    distance: float
    similarity: float  # by links
    moved: int | None  # positions up, compared with the order by similarity; None: not in that order


class Leaf(NamedTuple):
    """A page of the dendrogram."""

    page: PageRef
    terms: str
    x: float
    y: float
    label: str
    own: bool  # the page of the query


class Merge(NamedTuple):
    """Where two branches of the dendrogram meet."""

    path: str
    height: float
    pages: int


class Dendrogram(NamedTuple):
    """A horizontal dendrogram: leaves to the right, the root to the left."""

    width: float
    height: float
    foot: float
    leaves: list[Leaf]
    merges: list[Merge]
    ticks: list[tuple[float, str]]


class ClusterView(NamedTuple):
    """The pages around a page at an alpha."""

    pages: int
    component_pages: int  # pages connected to the page, directly or not
    representative: PageRef | None  # a page with nearly the same links that is clustered in place of this one
    order: list[ClusterRow]
    tree: Dendrogram | None
    between: tuple[PageRef, PageRef, float] | None  # the page is a bridge between two pages, and how strong it is


@dataclass(frozen=True)
class ClusterForm:
    """The form above the clusters."""

    alpha: float = option(0.5, "How tightly to cluster.", minimum=0.01, maximum=1)


def cluster_view(indexed: IndexedStore, page: PageRef, clusters: Clusters, alpha: float) -> ClusterView:
    ordered = clusters.order(alpha)[:_LISTED]
    nodes = [clusters.node, *(node for node, _ in ordered)]
    pages = refs(indexed, nodes)
    similarity = dict(zip(clusters.subgraph.nodes.tolist(), clusters.similarities().tolist(), strict=True))
    before = {node: k for k, node in enumerate(clusters.order_by_similarity())}
    order = [
        ClusterRow(ref, distance, similarity[node], before[node] - k if node in before else None)
        for k, ((node, distance), ref) in enumerate(zip(ordered, pages[1:], strict=True))
    ]
    tree = None
    if order:
        leaves = np.searchsorted(clusters.subgraph.nodes, nodes).tolist()
        terms = [", ".join(clean_line(term, 40) for term, _ in indexed.top_terms(node, _TERMS)) for node in nodes]
        tree = draw_dendrogram(clusters.hierarchy(alpha).restrict_to(leaves), pages, terms)
    bridge, between = clusters.cross_topic(alpha), None
    if bridge is not None and bridge.strength > 0.0:
        one, other = refs(indexed, [bridge.one, bridge.other])
        between = one, other, bridge.strength
    representative = pages[0] if clusters.node != page.node else None
    return ClusterView(len(clusters), clusters.subgraph.total, representative, order, tree, between)


def draw_dendrogram(hierarchy: Hierarchy, pages: list[PageRef], terms: list[str]) -> Dendrogram:
    """Lay out a hierarchy of pages; the first is the page of the query."""
    n = len(hierarchy)
    scale = ticks(0.0, float(hierarchy.heights.max(initial=0.0)) or 1.0)

    def x(height: float) -> float:
        return round(_TREE - (_TREE - _LEFT) * height / scale[-1], 1)

    row = np.empty(n)
    row[hierarchy.leaves] = np.arange(n)
    ys = [_TOP + _ROW * (k + 0.5) for k in row.tolist()]
    heights, size, merges = [0.0] * n, [1] * n, []
    for (a, b), height in zip(hierarchy.merges.tolist(), hierarchy.heights.tolist(), strict=True):
        path = f"M{x(heights[a])} {ys[a]:.1f}H{x(height)}V{ys[b]:.1f}H{x(heights[b])}"
        ys.append((ys[a] + ys[b]) / 2)
        heights.append(height)
        size.append(size[a] + size[b])
        merges.append(Merge(path, height, size[-1]))
    leaves = [
        Leaf(page, terms[k], _TREE + 10, ys[k], shorten_middle(page.title, 40), k == 0) for k, page in enumerate(pages)
    ]
    foot = _TOP + _ROW * n
    axis = [(x(tick), f"{tick:g}") for tick in scale]
    return Dendrogram(_TREE_WIDTH, foot + _FOOT, foot, sorted(leaves, key=lambda leaf: leaf.y), merges, axis)


class GraphNode(NamedTuple):
    """A page in the drawing of a neighbourhood."""

    page: PageRef
    x: float
    y: float
    radius: float
    similarity: float  # to the page in the middle
    label: str
    anchor: str  # of the label: start, end or, for the page in the middle, middle

    @property
    def label_x(self) -> float:
        return round(self.x + (self.radius + _GAP) * (-1 if self.anchor == "end" else 1), 1)


class Edge(NamedTuple):
    """Two similar pages."""

    one: GraphNode
    other: GraphNode
    similarity: float
    width: float
    own: bool  # ends at the page in the middle


class Graph(NamedTuple):
    """A drawing of a neighbourhood; the first node is the page in the middle.

    For a narrow window, the pages stand in a column instead, the most similar first, on branches from the page.
    """

    by: str
    nodes: list[GraphNode]
    edges: list[Edge]
    column: list[GraphNode]
    width: float = WIDTH
    height: float = HEIGHT
    column_width: float = COLUMN_WIDTH

    @property
    def column_height(self) -> float:
        return _COLUMN_ROW * len(self.column)


def graph_by_words(indexed: IndexedStore, page: PageRef) -> Graph:
    options = RelatedOptions(limit=NEIGHBOURS, min_similarity=_MIN_SIMILARITY, explain=False)
    pages = [page, *refs(indexed, (each.url for each in indexed.related(page.url, options)), "url")]
    nodes = np.array([each.node for each in pages], np.int64)
    measure = "jaccard" if indexed.index.strategy.similarity == "jaccard" else "cosine"  # both are symmetric
    similarity = np.array([indexed.text_similarities(node, nodes, measure) for node in nodes.tolist()], np.float64)
    return draw_graph(pages, similarity, "text")


def graph_by_links(indexed: IndexedStore, page: PageRef, clusters: Clusters) -> Graph:
    """Draw the pages that are similar by links. The page is drawn in place of its representative."""
    nodes = clusters.order_by_similarity()[:NEIGHBOURS]
    leaves = np.searchsorted(clusters.subgraph.nodes, [clusters.node, *nodes])
    similarity = 1.0 - clusters.subgraph.distance[np.ix_(leaves, leaves)]
    return draw_graph([page, *refs(indexed, nodes)], similarity, "links")


def draw_graph(pages: list[PageRef], similarity: NDArray[np.float64], by: str) -> Graph:
    """Place pages around the first: more similar ones nearer, and pages that are similar to each other side by side."""
    own, others = similarity[0].tolist(), len(pages) - 1
    distance = np.clip(1.0 - similarity[1:, 1:], 0.0, None)
    order = build_hierarchy(distance, 0.5).leaves.tolist() if others > 1 else list(range(others))
    lowest, highest = min([1.0, *own[1:]]), max([0.0, *own[1:]]) or 1.0
    middle = WIDTH / 2, HEIGHT / 2
    points: dict[int, tuple[float, float]] = {0: middle}
    for position, k in enumerate(order):
        angle = 2 * math.pi * (position + 0.5) / others - math.pi / 2
        reach = 1.0 - 0.3 * (own[k + 1] - lowest) / max(highest - lowest, 0.05)
        points[k + 1] = middle[0] + _RADII[0] * reach * math.cos(angle), middle[1] + _RADII[1] * reach * math.sin(angle)
    _separate_labels(points, middle[0])
    nodes = []
    for k, page in enumerate(pages):
        x, y = points[k]
        radius = 5.0 + 6.0 * own[k] / highest if k else 13.0
        anchor = "middle" if not k else "start" if x >= middle[0] else "end"
        nodes.append(_node(page, x, y, radius, own[k], anchor, WIDTH))
    column = _column(pages, own, lowest, highest)
    return Graph(by, nodes, _edges(nodes, similarity), column)


def _column(pages: list[PageRef], own: list[float], lowest: float, highest: float) -> list[GraphNode]:
    nodes = []
    for row, k in enumerate(sorted(range(len(pages)), key=lambda k: (k > 0, -own[k], k))):
        far = (highest - own[k]) / max(highest - lowest, 0.05)
        x = _TRUNK + (_BRANCHES[0] + (_BRANCHES[1] - _BRANCHES[0]) * far if k else 0.0)
        radius = 5.0 + 4.0 * own[k] / highest if k else 9.0
        nodes.append(_node(pages[k], x, _COLUMN_ROW * (row + 0.5), radius, own[k], "start", COLUMN_WIDTH))
    return nodes


def _node(page: PageRef, x: float, y: float, radius: float, similarity: float, anchor: str, width: float) -> GraphNode:
    """Return a node whose label ends inside of a drawing of this width."""
    room = (x if anchor == "end" else width - x) - radius - _GAP
    label = shorten_to_width(page.title, room / _FONT)
    return GraphNode(page, round(x, 1), round(y, 1), round(radius, 1), similarity, label, anchor)


def _separate_labels(points: dict[int, tuple[float, float]], middle: float) -> None:
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
            if value >= max(_MIN_SIMILARITY, min(enough[a], enough[b])):  # enough[0] is 0
                edges.append(Edge(one, other, value, round(0.6 + 3.4 * value / largest, 2), own=b == 0))
    return sorted(edges, key=lambda edge: edge.similarity)
