"""The neighbourhood of a page as a picture: the page in the middle, its kin around it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pagekin.links.clusters import Clusters
from pagekin.links.hierarchy import build_hierarchy
from pagekin.search.indexed_store import IndexedStore
from pagekin.search.options import RelatedOptions
from pagekin.serving.views.page_names import PageRef, refs, refs_by_url
from pagekin.serving.views.text import middle_cut

KIN = 14  # pages around the page
WIDTH, HEIGHT = 760.0, 520.0
_RADII = 190.0, 232.0
_APART = 24.0  # between names, one below the other
_FAINT = 0.03  # weaker edges are not drawn
_LETTERS = 26
_NEAREST = 3  # pages around the page whose edges to each of them are drawn


@dataclass(frozen=True)
class Spot:
    """A page in the picture."""

    page: PageRef
    x: float
    y: float
    radius: float
    similarity: float  # to the page in the middle
    label: str
    side: str  # where its name stands: start, end or, for the page itself, middle


@dataclass(frozen=True)
class Edge:
    """Two pages that are alike."""

    x1: float
    y1: float
    x2: float
    y2: float
    similarity: float
    width: float
    own: bool  # of the page in the middle


@dataclass(frozen=True)
class Graph:
    """A picture of a neighbourhood; the first spot is the page."""

    by: str
    spots: list[Spot]
    edges: list[Edge]
    width: float = WIDTH
    height: float = HEIGHT


def graph_by_words(indexed: IndexedStore, page: PageRef) -> Graph:
    """The pages that are kin by words, and how alike they are among themselves."""
    found = indexed.related(page.url, RelatedOptions(limit=KIN, min_similarity=_FAINT, explain=False))
    pages = [page, *refs_by_url(indexed, [each.url for each in found])]
    nodes = np.array([each.node for each in pages], np.int64)
    similar = np.eye(len(nodes))
    measure = "jaccard" if indexed.index.strategy.similarity == "jaccard" else "cosine"  # both are symmetric
    for k, node in enumerate(nodes.tolist()):
        similar[k] = indexed.text_similarities(node, nodes, measure)
    return laid_out(pages, similar, "words")


def graph_by_links(indexed: IndexedStore, page: PageRef, clusters: Clusters) -> Graph:
    """The same by links. A page that another stands for is drawn in its place."""
    nodes = clusters.order_by_similarity()[:KIN]
    leaves = np.searchsorted(clusters.subgraph.nodes, [clusters.node, *nodes])
    similar = 1.0 - clusters.subgraph.distance[np.ix_(leaves, leaves)]
    return laid_out([page, *refs(indexed, nodes)], similar, "links")


def laid_out(pages: list[PageRef], similar: NDArray[np.float64], by: str) -> Graph:
    """Kin stand around the page, the more similar the nearer, and those that are alike side by side."""
    others = len(pages) - 1
    around = similar[1:, 1:]
    order = (
        build_hierarchy(np.clip(1.0 - around, 0.0, None), 0.5).leaves.tolist() if others > 1 else list(range(others))
    )
    least, nearest = float(similar[0, 1:].min(initial=1.0)), float(similar[0, 1:].max(initial=0.0)) or 1.0
    middle = WIDTH / 2, HEIGHT / 2
    spot: dict[int, tuple[float, float]] = {0: middle}
    for place, k in enumerate(order):
        turn = 2 * math.pi * (place + 0.5) / others - math.pi / 2
        reach = 1.0 - 0.3 * (float(similar[0, k + 1]) - least) / max(nearest - least, 0.05)
        spot[k + 1] = middle[0] + _RADII[0] * reach * math.cos(turn), middle[1] + _RADII[1] * reach * math.sin(turn)
    _part(spot, middle[0])
    spots = [
        Spot(
            page,
            round(spot[k][0], 1),
            round(spot[k][1], 1),
            round(13.0 if not k else 5.0 + 6.0 * float(similar[0, k]) / nearest, 1),
            float(similar[0, k]),
            middle_cut(page.title, _LETTERS),
            "middle" if not k else "start" if spot[k][0] >= middle[0] else "end",
        )
        for k, page in enumerate(pages)
    ]
    return Graph(by, spots, _edges(spots, similar))


def _part(spot: dict[int, tuple[float, float]], middle: float) -> None:
    """Move spots of one side up and down until their names have room."""
    for right in (False, True):
        side = sorted((y, k) for k, (x, y) in spot.items() if k and (x >= middle) == right)
        lowest = -math.inf
        for y, k in side:
            lowest = max(y, lowest + _APART)
            spot[k] = spot[k][0], lowest
        over = max(0.0, lowest - (HEIGHT - _APART / 2))
        for _, k in side:
            spot[k] = spot[k][0], spot[k][1] - over


def _edges(spots: list[Spot], similar: NDArray[np.float64]) -> list[Edge]:
    strongest = float(np.max(similar - np.eye(len(spots)), initial=0.0)) or 1.0
    among = similar.copy()
    np.fill_diagonal(among, 0.0)
    among[0] = among[:, 0] = 0.0
    enough = np.sort(among, axis=1)[:, -_NEAREST:].min(axis=1, initial=1.0)  # all edges would be a thicket
    edges = []
    for a, one in enumerate(spots):
        for b, other in enumerate(spots[:a]):
            value = float(similar[a, b])
            if value >= _FAINT and (b == 0 or value >= min(enough[a], enough[b])):
                width = round(0.6 + 3.4 * value / strongest, 2)
                edges.append(Edge(one.x, one.y, other.x, other.y, value, width, own=b == 0))
    return sorted(edges, key=lambda edge: edge.similarity)
