"""The OpenAPI document is valid, and the server conforms to it for any request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pagekin.serving.api.schema import openapi
from pagekin.serving.app import api_routes
from pagekin.serving.settings import RequestLimits, ServerSettings
from serving.conftest import Serve
from serving.processes import running

pytestmark = pytest.mark.slow

DOCUMENT = openapi(ServerSettings())
OPERATIONS = [(method, path) for path, methods in DOCUMENT["paths"].items() for method in methods]
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def named(operation: tuple[str, str]) -> str:
    return " ".join(operation)


def is_variable(operation: tuple[str, str]) -> bool:
    """Whether its requests have parameters in the query or a body."""
    method, path = operation
    described = DOCUMENT["paths"][path][method]
    return "requestBody" in described or any(each["in"] == "query" for each in described.get("parameters", ()))


@pytest.fixture(scope="module")
def url(served_index: Path) -> Iterator[str]:
    with running(served_index) as server:
        yield server.url


def ask(operation: tuple[str, str], url: str, mode: str, **fixed: Any) -> None:
    import schemathesis  # takes seconds, and every worker collects this module

    method, path = operation
    described: Any = schemathesis.openapi.from_dict(DOCUMENT)[path][method]
    checks = [getattr(schemathesis.checks, each) for each in CHECKS]
    # Not made smaller when it fails: each try is a request.
    phases = (Phase.explicit, Phase.generate)
    health = list(HealthCheck)

    @settings(max_examples=20, deadline=None, database=None, suppress_health_check=health, phases=phases)
    @given(st.data())
    def asked(data: st.DataObject) -> None:
        case = data.draw(described.as_strategy(generation_mode=schemathesis.GenerationMode[mode], **fixed))
        case.call_and_validate(base_url=url, checks=checks)

    asked()


@pytest.mark.parametrize("operation", OPERATIONS, ids=named)
def test_nothing_that_fits_the_schema_breaks_the_server(operation: tuple[str, str], url: str) -> None:
    ask(operation, url, "POSITIVE")


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if is_variable(each)], ids=named)
def test_nothing_that_breaks_the_schema_breaks_the_server(operation: tuple[str, str], url: str) -> None:
    ask(operation, url, "NEGATIVE")


@pytest.mark.parametrize("operation", [("get", "/api/related"), ("get", "/api/cluster")], ids=named)
def test_no_request_for_an_existing_page_breaks_the_server(operation: tuple[str, str], url: str) -> None:
    """A made-up URL is refused before anything is computed, so these use an existing page."""
    page = "http://treeroom.example/oak.html"
    many = operation[1] == "/api/related"
    ask(operation, url, "POSITIVE", query={"url": [page] if many else page})


def test_the_schema_is_computed_once(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[ServerSettings] = []

    def count(settings: ServerSettings) -> Any:
        computed.append(settings)
        return openapi(settings)

    monkeypatch.setattr("pagekin.serving.api.schema.openapi", count)
    client = serve(ServerSettings(max_age=61))  # settings of no other test
    for path in ("/api", "/api/openapi.json"):
        assert client.get(path).text == client.get(path).text
    assert len(computed) == 2


def test_the_schema_is_openapi() -> None:
    from openapi_spec_validator import validate

    validate(DOCUMENT)
    validate(openapi(ServerSettings(token="t")))


def test_the_schema_has_every_path_of_the_api() -> None:
    untold = {"/api", "/api/openapi.json", "/embed.js"}
    assert {route.path for route in api_routes(RequestLimits())} - untold == set(DOCUMENT["paths"])  # type: ignore[attr-defined]
