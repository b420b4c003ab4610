"""The OpenAPI 3.1 document of the API, derived from its endpoints: as JSON, and as a page that needs no network."""

from collections.abc import Sequence
from dataclasses import is_dataclass
from functools import cache
from http import HTTPStatus
from inspect import getdoc
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from pagekin import __version__
from pagekin.model.jsons import Schema, encode_json, json_schema, json_schemas
from pagekin.search.options import RelatedOptions
from pagekin.serving.api.endpoints import Endpoint, endpoints
from pagekin.serving.api.params import Param
from pagekin.serving.context import context_of
from pagekin.serving.middleware import MEDIA_TYPE, Problem
from pagekin.serving.rendering import environment
from pagekin.serving.settings import ServerSettings

_DESCRIPTION = "Finds related pages. Errors are problem+json (RFC 9457)."
_LICENSE = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
_ALWAYS = (401, 421, 503)  # missing token, wrong host name, busy server
_COMPUTED = (404, 414, 422, 429)
_BODY = (408, 413, 415)
_STRINGS: Schema = {key: {"type": "string"} for key in ("url", "title", "text", "html")}
_RESULT_FIELDS: Schema = {"id": {"type": ["string", "number"]}, "rank": {"type": "number"}, **_STRINGS}
_RESULT: Schema = {"type": "object", "properties": _RESULT_FIELDS}
_RESULT_LIST: Schema = {
    "description": "A list of results, or a response of Elasticsearch, OpenSearch, Solr, Meilisearch or Typesense.",
    "oneOf": [{"type": "array", "items": _RESULT}, {"type": "object"}],
}
_STRING = {"type": "string", "maxLength": 1000}
_MEDIAWIKI = (
    ("action", True, "Always query.", {"const": "query"}),
    ("generator", True, "Always search.", {"const": "search"}),
    ("gsrsearch", True, "morelike: and a title, or several titles separated by |.", _STRING),
    ("gsrlimit", False, "The number of pages, or max.", _STRING),
    ("format", True, "Always json.", {"const": "json"}),
)


def openapi(settings: ServerSettings, related_options: type[RelatedOptions] = RelatedOptions) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    results: list[type] = [Problem]
    for endpoint in endpoints(settings.limits, related_options):
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
        if endpoint.result is not None and is_dataclass(endpoint.result):
            results.append(endpoint.result)
    info = {"title": "pagekin", "version": __version__, "description": _DESCRIPTION, "license": _LICENSE}
    components: dict[str, Any] = {"schemas": json_schemas(*results)}
    document: Schema = {"openapi": "3.1.0", "info": info, "paths": paths, "components": components}
    if settings.token:
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    result, errors = endpoint.result, [*_ALWAYS]
    content: Schema = {"text/plain": {"schema": {"type": "string"}}}
    if result is not None:
        schema = json_schema(result) if is_dataclass(result) else {"type": "object"}
        content = {"application/json": {"schema": schema}}
        errors += _COMPUTED
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
    responses: Schema = {"200": {"description": "The answer.", "content": content}}
    problem = {MEDIA_TYPE: {"schema": json_schema(Problem)}}
    for status in sorted(errors):
        responses[str(status)] = {"description": f"{HTTPStatus(status).phrase}.", "content": problem}
    return {**operation, "responses": responses}


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    rows = [(each.name, each.required, each.help, each.schema()) for each in endpoint.params]
    if endpoint.path == "/w/api.php":
        rows = list(_MEDIAWIKI)
    parameters = [
        {"name": name, "in": "query", "required": required, "description": help, "schema": schema}
        for name, required, help, schema in rows
    ]
    if "{id}" in endpoint.path:
        facts = {"required": True, "description": "The id of a page, from /api/pages.", "schema": {"type": "string"}}
        parameters.append({"name": "id", "in": "path", **facts})
    return parameters


def _object(params: Sequence[Param]) -> Schema:
    """Return the schema of a JSON object with these parameters, exactly one of urls, html and text among them."""
    properties = {each.name: {**each.schema(), "description": each.help} for each in params}
    properties["urls"]["minItems"] = 1
    one_of = [{"required": [name]} for name in ("urls", "html", "text")]
    return {"type": "object", "properties": properties, "additionalProperties": False, "oneOf": one_of}


async def document(request: Request) -> Response:
    return Response(_encoded(context_of(request).settings), media_type="application/json")


async def page(request: Request) -> Response:
    return HTMLResponse(_rendered(context_of(request).settings))


# Computed once: they take longer than anything else that the event loop does.
@cache
def _encoded(settings: ServerSettings) -> bytes:
    return encode_json(openapi(settings))


@cache
def _rendered(settings: ServerSettings) -> str:
    return render_docs(openapi(settings))


def render_docs(document: dict[str, Any]) -> str:
    operations = [
        {
            **operation,
            "path": path,
            "method": method.upper(),
            "description": operation.get("description", ""),
            "parameters": [_row(each) for each in operation.get("parameters", ())],
            "body": _body_rows(operation.get("requestBody")),
        }
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    return environment().get_template("api.html").render(document=document, operations=operations)


def _body_rows(body: dict[str, Any] | None) -> list[dict[str, Any]]:
    if body is None:
        return []
    schema = body["content"]["application/json"]["schema"]
    if "properties" not in schema:
        return [{"name": "(body)", "type": "array or object", "default": "", "description": schema["description"]}]
    return [_row({"name": name, "schema": each, **each}) for name, each in schema["properties"].items()]


def _row(parameter: dict[str, Any]) -> dict[str, Any]:
    schema = parameter["schema"]
    default = encode_json(schema["default"]).decode() if "default" in schema else ""
    return {**parameter, "type": _describe_type(schema), "default": default}


def _describe_type(schema: dict[str, Any]) -> str:
    """Describe a schema in a few words.

    >>> _describe_type({"type": "integer", "minimum": 1, "maximum": 9})
    'integer, 1 to 9'
    >>> _describe_type({"type": "array", "items": {"type": "string"}})
    'list of string'
    """
    if "oneOf" in schema:
        return " or ".join(_describe_type(each) for each in schema["oneOf"])
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        return " or ".join(schema["enum"])
    if schema["type"] == "array":
        return f"list of {_describe_type(schema['items'])}"
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    return str(schema["type"]) + (f", {low:g} to {high:g}" if low is not None and high is not None else "")
