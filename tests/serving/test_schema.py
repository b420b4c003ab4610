"""The OpenAPI document is valid, and the server conforms to it for any request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from openapi_spec_validator import validate

from pagekin.serving.api.schema import openapi
from pagekin.serving.app import api_routes
from pagekin.serving.settings import RequestLimits, ServerSettings
from serving.processes import running

pytestmark = pytest.mark.slow

LOADED: Any = schemathesis.openapi.from_dict(openapi(ServerSettings()))
OPERATIONS = [each.ok() for each in LOADED.get_all_operations()]
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]


def named(operation: Any) -> str:
    return f"{operation.method} {operation.path}"


@pytest.fixture(scope="module")
def url(served_index: Path) -> Iterator[str]:
    with running(served_index) as server:
        yield server.url


def ask(operation: Any, url: str, mode: Any, **fixed: Any) -> None:
    # Not made smaller when it fails: each try is a request.
    phases = (Phase.explicit, Phase.generate)
    health = list(HealthCheck)

    @settings(max_examples=20, deadline=None, database=None, suppress_health_check=health, phases=phases)
    @given(st.data())
    def asked(data: st.DataObject) -> None:
        case = data.draw(operation.as_strategy(generation_mode=mode, **fixed))
        case.call_and_validate(base_url=url, checks=CHECKS)

    asked()


@pytest.mark.parametrize("operation", OPERATIONS, ids=named)
def test_nothing_that_fits_the_schema_breaks_the_server(operation: Any, url: str) -> None:
    ask(operation, url, schemathesis.GenerationMode.POSITIVE)


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.query or each.body], ids=named)
def test_nothing_that_breaks_the_schema_breaks_the_server(operation: Any, url: str) -> None:
    ask(operation, url, schemathesis.GenerationMode.NEGATIVE)


@pytest.mark.parametrize("operation", [OPERATIONS[0], OPERATIONS[4]], ids=named)
def test_no_request_for_an_existing_page_breaks_the_server(operation: Any, url: str) -> None:
    """A made-up URL is refused before anything is computed, so these use an existing page."""
    page = "http://treeroom.example/oak.html"
    many = operation.path == "/api/related"
    ask(operation, url, schemathesis.GenerationMode.POSITIVE, query={"url": [page] if many else page})


def test_the_schema_is_openapi() -> None:
    validate(openapi(ServerSettings()))
    validate(openapi(ServerSettings(token="t")))


def test_the_schema_has_every_path_of_the_api() -> None:
    untold = {"/api", "/api/openapi.json", "/embed.js"}
    assert {route.path for route in api_routes(RequestLimits())} - untold == set(openapi(ServerSettings())["paths"])  # type: ignore[attr-defined]
