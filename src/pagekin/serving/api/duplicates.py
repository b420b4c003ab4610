"""/api/duplicates: a result list of any engine in, groups of near-duplicates out."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp

from pagekin.duplicates.result_formats import Fields, results_in
from pagekin.duplicates.result_list import group
from pagekin.duplicates.settings import LINKS, GroupSettings
from pagekin.serving.api.handlers import Given, body_of, posted
from pagekin.serving.api.params import Param, read_query
from pagekin.serving.context import context_of
from pagekin.serving.generations import Generation
from pagekin.serving.problems import RequestError
from pagekin.serving.settings import RequestLimits
from pagekin.shapes.groups import report

_LONGEST_NAME = 100


def params(bounds: RequestLimits) -> tuple[Param, ...]:
    """Of the query; the body is the list."""
    return (
        Param("threshold", "number", "How similar near-duplicates are.", 0.7, 0.01, 1),
        Param("link", "string", "complete: all of a group are similar to each other.", "single", choices=LINKS),
        Param("query", "string", "Compare by what stands around these words.", least=1, most=bounds.name),
        Param("text_field", "string", "Where a result has its text.", least=1, most=_LONGEST_NAME),
        Param("html_field", "string", "Where a result has HTML.", least=1, most=_LONGEST_NAME),
    )


async def post(request: Request) -> ASGIApp:
    """POST."""
    bounds = context_of(request).settings.bounds
    given = read_query(params(bounds), request.scope["query_string"], bounds.query)
    return await posted(request, {**given, "results": await body_of(request), "bounds": bounds}, _groups)


def _groups(generation: Generation, given: Given) -> dict[str, Any]:
    fields, bounds = Fields(), given["bounds"]
    if given["text_field"] or given["html_field"]:
        text, html = given["text_field"], given["html_field"]
        fields = Fields(text=(text,) if text else fields.text, html=(html,) if html else fields.html)
    results = results_in(given["results"], fields)
    if len(results) > bounds.results:
        raise RequestError(422, f"There are {len(results):,} results; there may be {bounds.results:,}.")
    for place, each in enumerate(results, 1):
        if len(each.text or each.html or "") > bounds.text:
            raise RequestError(422, f"The text of result {place} is too long; it may have {bounds.text:,} characters.")
    settings = GroupSettings(threshold=given["threshold"], link=given["link"])
    return report(group(results, settings, query=given["query"]))
