"""The OpenAPI 3.1 document of the API, derived from its endpoints."""

from collections.abc import Sequence
from dataclasses import is_dataclass
from http import HTTPStatus
from inspect import getdoc
from typing import Any

from pagekin import __version__
from pagekin.model.jsons import Schema, json_schema, json_schemas
from pagekin.search.options import RelatedOptions
from pagekin.serving.api.endpoints import Endpoint, endpoints
from pagekin.serving.api.params import Param
from pagekin.serving.problems import MEDIA_TYPE, Problem
from pagekin.serving.settings import ServerSettings

_ALWAYS = (401, 421, 503)  # missing token, wrong host name, busy server
_COMPUTED = (404, 414, 422, 429)
_BODY = (408, 413, 415)
_RESULT_FIELDS = {"id": ["string", "number"], "rank": "number"} | dict.fromkeys(
    ("url", "title", "text", "html"), "string"
)
_RESULT: Schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in _RESULT_FIELDS.items()}}
_RESULT_LIST: Schema = {
    "description": "A list of results, or a response of Elasticsearch, OpenSearch, Solr, Meilisearch or Typesense.",
    "oneOf": [{"type": "array", "items": _RESULT}, {"type": "object"}],
}
_MEDIAWIKI = (
    ("action", True, "Always query.", {"const": "query"}),
    ("generator", True, "Always search.", {"const": "search"}),
    (
        "gsrsearch",
        True,
        "morelike: and a title, or several titles separated by |.",
        {"type": "string", "maxLength": 1000},
    ),
    ("gsrlimit", False, "The number of pages, or max.", {"type": "string", "maxLength": 1000}),
    ("format", True, "Always json.", {"const": "json"}),
)


def openapi(settings: ServerSettings, related_options: type[RelatedOptions] = RelatedOptions) -> dict[str, Any]:
    """Return the whole document, with the limits of a server."""
    paths: dict[str, dict[str, Any]] = {}
    results: list[type] = [Problem]
    for endpoint in endpoints(settings.limits, related_options):
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
        if endpoint.result is not None and is_dataclass(endpoint.result):
            results.append(endpoint.result)
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "pagekin",
            "version": __version__,
            "description": "Finds related pages. Errors are problem+json (RFC 9457).",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": json_schemas(*results)},
    }
    if settings.token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    result = endpoint.result
    content = (
        {"text/plain": {"schema": {"type": "string"}}}
        if result is None
        else {"application/json": {"schema": json_schema(result) if is_dataclass(result) else {"type": "object"}}}
    )
    errors = [*_ALWAYS, *(() if result is None else _COMPUTED)]
    summary, _, description = (getdoc(endpoint.handler) or "").partition("\n\n")
    operation: dict[str, Any] = {"operationId": endpoint.name, "summary": summary}
    if description:
        operation["description"] = description
    if parameters := _parameters(endpoint):
        operation["parameters"] = parameters
    if endpoint.body is not None:
        errors += _BODY
        schema = _object(endpoint.body) if endpoint.body else _RESULT_LIST
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return operation | {"responses": {"200": {"description": "The answer.", "content": content}, **_errors(errors)}}


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    rows = [(each.option.name, each.required, each.option.help, each.schema()) for each in endpoint.params]
    if endpoint.path == "/w/api.php":
        rows = list(_MEDIAWIKI)
    parameters = [
        {"name": name, "in": "query", "required": required, "description": help, "schema": schema}
        for name, required, help, schema in rows
    ]
    if "{id}" in endpoint.path:
        facts = {"name": "id", "in": "path", "required": True, "description": "The id of a page, from /api/pages."}
        parameters.append({**facts, "schema": {"type": "string"}})
    return parameters


def _object(params: Sequence[Param]) -> Schema:
    """Return the schema of a JSON object with these parameters, exactly one of urls, html and text among them."""
    properties = {each.option.name: {**each.schema(), "description": each.option.help} for each in params}
    properties["urls"]["minItems"] = 1
    one_of = [{"required": [name]} for name in ("urls", "html", "text")]
    return {"type": "object", "properties": properties, "additionalProperties": False, "oneOf": one_of}


def _errors(statuses: Sequence[int]) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": json_schema(Problem)}}
    return {str(each): {"description": f"{HTTPStatus(each).phrase}.", "content": content} for each in sorted(statuses)}
