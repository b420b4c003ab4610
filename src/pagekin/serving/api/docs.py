"""The OpenAPI document as JSON, and as a page for people that needs no network."""

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from pagekin.serving.api.schema import openapi
from pagekin.serving.cache import encode_json
from pagekin.serving.context import context_of
from pagekin.serving.rendering import environment


async def document(request: Request) -> Response:
    """Handle GET /api/openapi.json."""
    return Response(encode_json(openapi(context_of(request).settings)), media_type="application/json")


async def page(request: Request) -> Response:
    """Handle GET /api."""
    return HTMLResponse(render_docs(openapi(context_of(request).settings)))


def render_docs(document: dict[str, Any]) -> str:
    """Return an OpenAPI document as HTML."""
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
