"""/api/pages and /api/info: what is in the collection."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp

from pagekin.serving.api.handlers import Given, answered
from pagekin.serving.api.params import Param
from pagekin.serving.context import context_of
from pagekin.serving.generations import Generation
from pagekin.serving.problems import RequestError
from pagekin.serving.settings import RequestLimits
from pagekin.shapes.info import describe as describe_store
from pagekin.shapes.page import describe as describe_page
from pagekin.shapes.search import search


def search_params(bounds: RequestLimits) -> tuple[Param, ...]:
    """Of a search."""
    about = "A URL or words of a title, or the beginning of one."
    return (
        Param("query", "string", about, most=bounds.name, required=True),
        Param("limit", "integer", "At most so many pages.", 10, 1, bounds.limit),
    )


async def find(request: Request) -> ASGIApp:
    """GET /api/pages."""
    return await answered(request, search_params(context_of(request).settings.bounds), _found)


async def page(request: Request) -> ASGIApp:
    """GET /api/pages/{id}."""
    return await answered(request, (), _page)


async def info(request: Request) -> ASGIApp:
    """GET /api/info."""
    return await answered(request, (), _info)


def _found(generation: Generation, given: Given) -> dict[str, Any]:
    return search(generation.indexed, given["query"], given["limit"])


def _page(generation: Generation, given: Given) -> dict[str, Any]:
    name = given["id"].encode("utf-8", "replace").decode("utf-8")
    for row in generation.indexed.catalog.rows("SELECT first_row FROM nodes WHERE id = ? LIMIT 1", name):
        if row["first_row"] is not None:
            return describe_page(generation.indexed, row["first_row"])
        raise RequestError(404, "This page is known only from links to it.", kind="no-such-page")
    raise RequestError(404, f"No page has the id {name[:100]!r}; /api/pages finds ids.", kind="no-such-page")


def _info(generation: Generation, given: Given) -> dict[str, Any]:
    return {**describe_store(generation.indexed), "store": generation.indexed.root.name}
