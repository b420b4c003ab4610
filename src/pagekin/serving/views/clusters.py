"""The pages around a page, ordered by clustering their links, and the dendrogram of the nearest ones."""

from dataclasses import dataclass

import numpy as np

from pagekin.figures.charts import ticks
from pagekin.links.clusters import Clusters, Hierarchy
from pagekin.model.options import option
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.views.page_names import PageRef, refs
from pagekin.serving.views.text import clean_line, shorten_middle

_LISTED = 15
_TERMS = 5
_LEFT, _TREE, _WIDTH, _ROW, _TOP, _FOOT = 8.0, 236.0, 540.0, 26.0, 10.0, 34.0


@dataclass(frozen=True)
class ClusterRow:
    """A page in the ordering."""

    page: PageRef
    distance: float
    similarity: float  # by links
    moved: int | None  # positions up, compared with the order by similarity; None: not in that order


@dataclass(frozen=True)
class Leaf:
    """A page of the dendrogram."""

    page: PageRef
    terms: str
    x: float
    y: float
    label: str
    own: bool  # the page of the query


@dataclass(frozen=True)
class Merge:
    """Where two branches of the dendrogram meet."""

    path: str
    height: float
    pages: int


@dataclass(frozen=True)
class Dendrogram:
    """A horizontal dendrogram: leaves to the right, the root to the left."""

    width: float
    height: float
    foot: float
    leaves: list[Leaf]
    merges: list[Merge]
    ticks: list[tuple[float, str]]


@dataclass(frozen=True)
class ClusterView:
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
    """Order the pages around a page at an alpha."""
    ordered = clusters.order(alpha)[:_LISTED]
    nodes = [node for node, _ in ordered]
    pages = refs(indexed, [clusters.node, *nodes])
    similarity = dict(zip(clusters.subgraph.nodes.tolist(), clusters.similarities().tolist(), strict=True))
    before = {node: k for k, node in enumerate(clusters.order_by_similarity())}
    order = [
        ClusterRow(ref, distance, similarity[node], before[node] - k if node in before else None)
        for k, ((node, distance), ref) in enumerate(zip(ordered, pages[1:], strict=True))
    ]
    tree = None
    if order:
        leaves = np.searchsorted(clusters.subgraph.nodes, [clusters.node, *nodes]).tolist()
        terms = [", ".join(clean_line(term, 40) for term, _ in indexed.top_terms(ref.node, _TERMS)) for ref in pages]
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
    return Dendrogram(_WIDTH, foot + _FOOT, foot, sorted(leaves, key=lambda leaf: leaf.y), merges, axis)
