"""The schema as a file, and as a page for people that needs no network."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, Template
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from pagekin.serving.api.cache import as_json
from pagekin.serving.api.schema import openapi
from pagekin.serving.context import context_of

_TEMPLATES = Path(__file__).parent.parent / "templates"
_METHODS = ("get", "post")


async def schema(request: Request) -> Response:
    """GET /api/openapi.json."""
    settings = context_of(request).settings
    return Response(as_json(openapi(settings)), media_type="application/json")


async def page(request: Request) -> Response:
    """GET /api."""
    document = openapi(context_of(request).settings)
    return HTMLResponse(_template().render(document=document, operations=list(_operations(document))))


@cache
def _template() -> Template:
    return Environment(loader=FileSystemLoader(_TEMPLATES), autoescape=True).get_template("api.html")


def _operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    """What can be asked, a row for each method of each path."""
    return [
        {
            **operation,
            "path": path,
            "method": method.upper(),
            "parameters": [_row(each) for each in (*item.get("parameters", ()), *operation.get("parameters", ()))],
            "body": _fields(operation.get("requestBody")),
        }
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if method in _METHODS
    ]


def _fields(body: dict[str, Any] | None) -> list[dict[str, Any]]:
    if body is None:
        return []
    schema = body["content"]["application/json"]["schema"]
    if "properties" not in schema:
        return [{"name": "the list itself", "kind": "array or object", "about": schema["description"]}]
    properties = schema["properties"].items()
    return [_row({"name": name, "schema": each, "description": each["description"]}) for name, each in properties]


def _row(parameter: dict[str, Any]) -> dict[str, Any]:
    schema = parameter["schema"]
    return {
        "name": parameter["name"],
        "kind": _kind(schema),
        "about": parameter.get("description", ""),
        "default": "" if "default" not in schema else as_json(schema["default"]).decode(),
        "required": parameter.get("required", False),
    }


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a few words.

    >>> _kind({"type": "integer", "minimum": 1, "maximum": 9}), _kind({"type": "array", "items": {"type": "string"}})
    ('integer, 1 to 9', 'list of string')
    """
    if "oneOf" in schema:
        return " or ".join(_kind(each) for each in schema["oneOf"])
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        return " or ".join(schema["enum"])
    if schema["type"] == "array":
        return f"list of {_kind(schema['items'])}"
    low, high = schema.get("minimum"), schema.get("maximum")
    return str(schema["type"]) + (f", {low:g} to {high:g}" if low is not None and high is not None else "")
