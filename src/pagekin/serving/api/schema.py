"""The schema of the API (OpenAPI 3.1), kept by hand beside the handlers; tests hold them against each other."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from pagekin import __version__
from pagekin.serving.api import cluster, duplicates, pages, related
from pagekin.serving.api.params import Param
from pagekin.serving.api.shapes import SHAPES, TEXT, Schema, many, the
from pagekin.serving.problems import JSON as PROBLEM
from pagekin.serving.settings import RequestLimits, ServerSettings

_ALWAYS = (401, 421, 503)  # a token is missing, another host is called, the server is busy
_THREAD = (414, 422, 429)
_ID = {"name": "id", "in": "path", "required": True, "description": "As /api/pages gives it.", "schema": TEXT}


def openapi(settings: ServerSettings) -> dict[str, Any]:
    """The whole document, with the bounds of this server."""
    bounds = settings.bounds
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "pagekin",
            "version": __version__,
            "description": "Finds the pages that are kin to a page. Errors are problem+json (RFC 9457).",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {**_paths(bounds), **_service()},
        "components": {"schemas": SHAPES},
    }
    if settings.token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _paths(bounds: RequestLimits) -> dict[str, Any]:
    return {
        "/api/related": {
            "get": _operation(
                "related", "The pages that are kin to a page.", "Related", related.get_params(bounds), (404,)
            ),
            "post": _operation(
                "relatedTo", "The same for several pages, or for one that is not here.", "Related", errors=_POST
            )
            | {"requestBody": _body(_query(bounds))},
        },
        "/api/pages": {
            "get": _operation("findPages", "Pages by URL or title.", "Pages", pages.search_params(bounds)),
        },
        "/api/pages/{id}": {
            "parameters": [_ID],
            "get": _operation("page", "What is known of a page.", "Page", errors=(404,)),
        },
        "/api/cluster": {
            "get": _operation(
                "cluster", "The surroundings of a page by its links.", "Cluster", cluster.params(bounds), (404,)
            )
            | {"description": "The first question after a build takes longest; meanwhile the answer may be 503."},
        },
        "/api/duplicates": {
            "post": _operation(
                "duplicates",
                "A result list in, groups of near-duplicates out.",
                "Groups",
                duplicates.params(bounds),
                _POST,
            )
            | {"requestBody": _body(_RESULTS)},
        },
        "/api/info": {"get": _operation("info", "What the collection holds.", "Info")},
        "/w/api.php": {
            "get": _operation("mediaWiki", "Related pages as MediaWiki tells them.", "MediaWiki", errors=(404,))
            | {"parameters": [_wiki(name, value) for name, value in _WIKI.items()]},
        },
    }


_POST = (404, 408, 413, 415)
_RESULT: Schema = {
    "type": "object",
    "properties": {
        "id": {"type": ["string", "number"]},
        "url": TEXT,
        "title": TEXT,
        "text": TEXT,
        "html": TEXT,
        "rank": {"type": "number"},
    },
}
_RESULTS: Schema = {
    "description": "Results, or a response of Elasticsearch, OpenSearch, Solr, Meilisearch or Typesense.",
    "oneOf": [many(_RESULT), {"type": "object"}],
}
_WIKI = {"action": "query", "generator": "search", "gsrsearch": "", "gsrlimit": "", "format": "json"}


def _wiki(name: str, only: str) -> dict[str, Any]:
    schema = {"const": only} if only else {"type": "string", "maxLength": 1000}
    told = {"gsrsearch": "morelike: and a title, or several with | between them.", "gsrlimit": "How many, or max."}
    return {"name": name, "in": "query", "required": not told.get(name) or name == "gsrsearch"} | {
        "description": told.get(name, f"Always {only}."),
        "schema": schema,
    }


def _query(bounds: RequestLimits) -> Schema:
    """The body of a question: pages, or HTML, or a text."""
    properties = {param.name: {**param.schema(), "description": param.about} for param in related.post_params(bounds)}
    one_of = [{"required": [name]} for name in ("urls", "html", "text")]
    properties["urls"] = {**properties["urls"], "minItems": 1}
    return {"type": "object", "properties": properties, "additionalProperties": False, "oneOf": one_of}


def _service() -> dict[str, Any]:
    text = {"text/plain": {"schema": TEXT}}
    return {
        "/healthz": {"get": _operation("health", "Whether the server is well; needs no token.", "Health")},
        "/metrics": {
            "get": _operation("metrics", "What the server counts, for Prometheus.", "")
            | {"responses": {"200": {"description": "Counts.", "content": text}, **_errors(_ALWAYS)}}
        },
    }


def _operation(
    name: str, summary: str, shape: str, params: Sequence[Param] = (), errors: tuple[int, ...] = ()
) -> dict[str, Any]:
    told = {"description": "The answer.", "content": {"application/json": {"schema": the(shape)}}}
    operation: dict[str, Any] = {"operationId": name, "summary": summary}
    if params:
        operation["parameters"] = [_parameter(param) for param in params]
    return operation | {"responses": {"200": told, **_errors((*errors, *_THREAD, *_ALWAYS))}}


def _errors(statuses: Sequence[int]) -> dict[str, Any]:
    told = {PROBLEM: {"schema": the("Problem")}}
    return {str(each): {"description": f"{HTTPStatus(each).phrase}.", "content": told} for each in sorted(statuses)}


def _parameter(param: Param) -> dict[str, Any]:
    facts = {"name": param.name, "in": "query", "required": param.required, "description": param.about}
    return {**facts, "schema": param.schema()}


def _body(schema: Schema) -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": schema}}}
