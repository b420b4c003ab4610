"""The surroundings of a page by its links, and pages between topics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pagekin.links.clusters import Clusters
    from pagekin.search.link_analysis import LinkAnalysis

_TERMS = 5  # of a page


def describe(
    analysis: LinkAnalysis, clusters: Clusters, page: str, alphas: tuple[float, ...], limit: int, parts: int | None
) -> dict[str, Any]:
    """All that is told of the surroundings of a page."""
    first = clusters.order(alphas[0])[:limit]
    alike = dict(zip(clusters.subgraph.nodes.tolist(), clusters.similarities().tolist(), strict=True))
    names = analysis.named([node for node, _ in first])
    graph = analysis.graph
    return {
        "query": {
            "page": page,
            **analysis.named([clusters.node])[0],
            "measure": analysis.measure,
            "alphas": list(alphas),
            "delta": graph.delta,
        },
        "subgraph": {"pages": len(clusters), "of": clusters.subgraph.total},
        "same": [each["url"] for each in analysis.named(graph.near_identical(clusters.node))],
        "related": [
            {**name, "distance": round(apart, 6), "similarity": round(alike[node], 6)}
            for name, (node, apart) in zip(names, first, strict=True)
        ],
        "tree": _tree(analysis, clusters, alphas[0], limit),
        "positions": _positions(analysis, clusters, alphas, limit) if len(alphas) > 1 else [],
        "clusters": _parts(analysis, clusters, alphas[0], parts) if parts else [],
    }


def _tree(analysis: LinkAnalysis, clusters: Clusters, alpha: float, limit: int) -> dict[str, Any]:
    """The page and its first kin, and how they come together; merge k makes cluster (number of leaves + k)."""
    hierarchy = clusters.hierarchy(alpha)
    leaves = [clusters.leaf, *hierarchy.order(clusters.leaf)[:limit].tolist()]
    smaller = hierarchy.restrict_to(leaves)
    merges = zip(smaller.merges.tolist(), smaller.heights.tolist(), strict=True)
    return {
        "leaves": [each["url"] for each in analysis.named(clusters.subgraph.nodes[leaves].tolist())],
        "merges": [[a, b, round(height, 6)] for (a, b), height in merges],
    }


def _positions(
    analysis: LinkAnalysis, clusters: Clusters, alphas: tuple[float, ...], limit: int
) -> list[dict[str, Any]]:
    table = clusters.positions(alphas, limit)
    names = analysis.named(list(table))
    return [
        {**name, "by_similarity": row[0], "by_alpha": row[1:]} for name, row in zip(names, table.values(), strict=True)
    ]


def _parts(analysis: LinkAnalysis, clusters: Clusters, alpha: float, parts: int) -> list[dict[str, Any]]:
    """Flat clusters; that of the page comes first, then the larger ones."""
    part = clusters.hierarchy(alpha).cut(min(parts, len(clusters)))
    members = [clusters.subgraph.nodes[part == number].tolist() for number in range(int(part.max()) + 1)]
    members.sort(key=lambda nodes: (clusters.node not in nodes, -len(nodes), nodes))
    return [{"pages": len(nodes), "members": analysis.named(nodes)} for nodes in members]


def describe_bridges(
    analysis: LinkAnalysis, alpha: float, limit: int, progress: Callable[[list[int]], Iterable[int]] = iter
) -> list[dict[str, Any]]:
    """The strongest bridges of a collection, with the terms of their ends."""
    found = analysis.cross_topic_pages(alpha, progress)[:limit]
    ends = [analysis.named([each.node, each.one, each.other]) for each in found]
    terms = [[analysis.top_terms(node, _TERMS) for node in (each.one, each.other)] for each in found]
    return [
        {**names[0], "strength": round(each.strength, 6), "distance": round(each.distance, 6)}
        | {"between": [{**name, "terms": words} for name, words in zip(names[1:], both, strict=True)]}
        for each, names, both in zip(found, ends, terms, strict=True)
    ]
