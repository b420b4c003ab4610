"""An option is described once, at its dataclass field; HTTP, OpenAPI and the documentation page follow."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from pagekin.model.options import option
from pagekin.search.options import RelatedOptions
from pagekin.serving.api.params import check_values, params_of, read_query
from pagekin.serving.api.schema import openapi, render_docs
from pagekin.serving.middleware import RequestError
from pagekin.serving.settings import RequestLimits, ServerSettings


@dataclass(frozen=True)
class ExtendedOptions(RelatedOptions):
    """The options of the package and one more."""

    freshness: float = option(0.25, "Prefer pages captured recently.", minimum=0, maximum=3)


def test_a_new_field_is_a_parameter_in_queries_and_bodies() -> None:
    params = params_of(ExtendedOptions, RequestLimits())
    assert read_query(params, b"freshness=2.5&limit=3", 100)["freshness"] == 2.5
    assert check_values(params, {"freshness": 1})["freshness"] == 1.0
    assert read_query(params, b"", 100)["freshness"] == 0.25
    with pytest.raises(RequestError, match="freshness must be from 0 to 3"):
        read_query(params, b"freshness=4", 100)


def test_a_new_field_is_in_the_openapi_document() -> None:
    before, after = openapi(ServerSettings()), openapi(ServerSettings(), ExtendedOptions)
    schema = {"type": "number", "minimum": 0, "maximum": 3, "default": 0.25}
    help = "Prefer pages captured recently."
    added = {"name": "freshness", "in": "query", "required": False, "description": help, "schema": schema}
    old, new = (each["paths"]["/api/related"]["get"]["parameters"] for each in (before, after))
    assert new == [*old, added]
    body = after["paths"]["/api/related"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["freshness"] == {**schema, "description": help}


def test_a_new_field_is_on_the_documentation_page() -> None:
    assert "freshness" not in render_docs(openapi(ServerSettings()))
    page = render_docs(openapi(ServerSettings(), ExtendedOptions))
    assert page.count("<code>freshness</code>") == 2  # of GET and of POST
    assert "number, 0 to 3" in page and "Prefer pages captured recently." in page


def test_defaults_and_limits_of_the_server_replace_those_of_the_options() -> None:
    params = {param.name: param for param in params_of(RelatedOptions, RequestLimits(limit=7), explain=False)}
    assert params["limit"].schema() == {"type": "integer", "minimum": 1, "maximum": 7, "default": 10}
    assert params["explain"].schema()["default"] is False
    # Neither files nor regular expressions, which could run for hours.
    assert not {"weights", "include", "exclude"} & params.keys()
    assert {"similarity", "links", "pin", "never", "group_duplicates"} < params.keys()
