"""/api/cluster: the surroundings of a page by its links."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp

from pagekin.links.measures import MEASURES
from pagekin.serving.api.handlers import Given, answered
from pagekin.serving.api.params import Param
from pagekin.serving.api.related import PAGE
from pagekin.serving.context import context_of
from pagekin.serving.generations import Generation
from pagekin.serving.settings import RequestLimits
from pagekin.shapes.cluster import describe

_LEAST_ALPHA = 0.001
_MOST_ALPHAS = 10


def params(bounds: RequestLimits) -> tuple[Param, ...]:
    """Of a GET."""
    tightly = "How tightly to cluster, from chains near 0 to tight groups at 1; several are compared."
    return (
        Param("url", "string", f"{PAGE}.", least=1, most=bounds.name, required=True),
        Param("alpha", "number", tightly, None, _LEAST_ALPHA, 1, many=_MOST_ALPHAS),
        Param("limit", "integer", "At most so many pages.", 10, 1, bounds.limit),
        Param("clusters", "integer", "Cut the pages that hang together into so many.", None, 1, bounds.limit),
        Param("measure", "string", "How links are compared.", "amsler", choices=tuple(MEASURES)),
    )


async def get(request: Request) -> ASGIApp:
    """GET."""
    return await answered(request, params(context_of(request).settings.bounds), _clusters)


def _clusters(generation: Generation, given: Given) -> dict[str, Any]:
    alphas = tuple(given["alpha"]) or (0.5,)
    with generation.surroundings(given["url"], given["measure"]) as (analysis, clusters):
        return describe(analysis, clusters, given["url"], alphas, given["limit"], given["clusters"])
