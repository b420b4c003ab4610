"""Clusters as JSON."""

from __future__ import annotations

from typing import Any

from pagekin.collection.clusters import describe_clusters
from pagekin.links.clusters import Clusters
from pagekin.links.settings import ClusterOptions
from pagekin.model.jsons import to_json
from pagekin.search.link_analysis import LinkAnalysis


def describe(
    analysis: LinkAnalysis, clusters: Clusters, page: str, alphas: tuple[float, ...], limit: int, parts: int | None
) -> dict[str, Any]:
    """The clusters around a page."""
    options = ClusterOptions(alpha=alphas, limit=limit, clusters=parts)
    return dict(to_json(describe_clusters(analysis, clusters, page, options)))
