"""The surroundings of a page, ordered by clusters of links, and the tree of them as a drawing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pagekin.figures.charts import ticks
from pagekin.links.clusters import Clusters
from pagekin.links.hierarchy import Hierarchy
from pagekin.search.indexed_store import IndexedStore
from pagekin.serving.views.page_names import PageRef, ref, refs
from pagekin.serving.views.text import middle_cut, shown

_LISTED = 15
_TERMS = 5
_LEFT, _TREE, _WIDTH, _ROW, _TOP, _FOOT = 8.0, 236.0, 540.0, 26.0, 10.0, 34.0


@dataclass(frozen=True)
class ClusterRow:
    """A page in the order."""

    page: PageRef
    distance: float
    similarity: float  # by links; 0 if these have nothing in common
    moved: int | None  # places up, against the order by similarity alone; None: it is not in that


@dataclass(frozen=True)
class Leaf:
    """A page at the end of a branch."""

    page: PageRef
    terms: str
    x: float
    y: float
    label: str
    own: bool  # the page that was asked for


@dataclass(frozen=True)
class Fork:
    """Where two branches come together."""

    path: str
    height: float
    pages: int


@dataclass(frozen=True)
class Tree:
    """A dendrogram, lying: leaves to the right, the root to the left."""

    width: float
    height: float
    foot: float
    leaves: list[Leaf]
    forks: list[Fork]
    ticks: list[tuple[float, str]]


@dataclass(frozen=True)
class Between:
    """The page lies between these two."""

    one: PageRef
    other: PageRef
    distance: float
    strength: float


@dataclass(frozen=True)
class ClusterView:
    """The surroundings of a page at an alpha."""

    page: PageRef
    alpha: float
    pages: int
    of: int  # so many hang together
    stood_for: PageRef | None  # the page whose links are nearly the same, and that stands for it
    order: list[ClusterRow]
    tree: Tree | None
    between: Between | None


def around(indexed: IndexedStore, page: PageRef, clusters: Clusters, alpha: float) -> ClusterView:
    """Order the surroundings of a page as tightly as alpha says."""
    ordered = clusters.order(alpha)[:_LISTED]
    alike = dict(zip(clusters.subgraph.nodes.tolist(), clusters.similarities().tolist(), strict=True))
    before = {node: k for k, node in enumerate(clusters.order_by_similarity())}
    places = [
        ClusterRow(each, apart, alike[node], before[node] - k if node in before else None)
        for k, ((node, apart), each) in enumerate(zip(ordered, refs(indexed, [n for n, _ in ordered]), strict=True))
    ]
    return ClusterView(
        page,
        alpha,
        len(clusters),
        clusters.subgraph.total,
        ref(indexed, clusters.node) if clusters.node != page.node else None,
        places,
        _tree(indexed, clusters, alpha, [node for node, _ in ordered]) if places else None,
        _between(indexed, clusters, alpha),
    )


def _between(indexed: IndexedStore, clusters: Clusters, alpha: float) -> Between | None:
    found = clusters.cross_topic(alpha)
    if found is None or found.strength <= 0.0:
        return None
    return Between(ref(indexed, found.one), ref(indexed, found.other), found.distance, found.strength)


def _tree(indexed: IndexedStore, clusters: Clusters, alpha: float, nodes: list[int]) -> Tree:
    shown_nodes = [clusters.node, *nodes]
    some = np.searchsorted(clusters.subgraph.nodes, shown_nodes).tolist()
    smaller = clusters.hierarchy(alpha).restrict_to(some)
    return drawn(smaller, refs(indexed, shown_nodes), [_terms(indexed, node) for node in shown_nodes])


def _terms(indexed: IndexedStore, node: int) -> str:
    return ", ".join(shown(term, 40) for term, _ in indexed.top_terms(node, _TERMS))


def drawn(hierarchy: Hierarchy, pages: list[PageRef], terms: list[str]) -> Tree:
    """Lay out a hierarchy of pages; the first is the one that was asked for."""
    n = len(hierarchy)
    scale = ticks(0.0, float(hierarchy.heights.max(initial=0.0)) or 1.0)
    across = _TREE - _LEFT

    def x(height: float) -> float:
        return round(_TREE - across * height / scale[-1], 1)

    row = np.empty(n)
    row[hierarchy.leaves] = np.arange(n)
    ys = [_TOP + _ROW * (k + 0.5) for k in row.tolist()]
    heights, size, forks = [0.0] * n, [1] * n, []
    for (a, b), height in zip(hierarchy.merges.tolist(), hierarchy.heights.tolist(), strict=True):
        path = f"M{x(heights[a])} {ys[a]:.1f}H{x(height)}V{ys[b]:.1f}H{x(heights[b])}"
        ys.append((ys[a] + ys[b]) / 2)
        heights.append(height)
        size.append(size[a] + size[b])
        forks.append(Fork(path, height, size[-1]))
    leaves = [
        Leaf(page, terms[k], _TREE + 10, ys[k], middle_cut(page.title, 40), k == 0) for k, page in enumerate(pages)
    ]
    foot = _TOP + _ROW * n
    axis = [(x(tick), f"{tick:g}") for tick in scale]
    return Tree(_WIDTH, foot + _FOOT, foot, sorted(leaves, key=lambda leaf: leaf.y), forks, axis)
